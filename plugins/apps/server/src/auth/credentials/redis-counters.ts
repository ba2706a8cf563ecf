import { createRequire } from 'node:module';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import type { Redis } from '../../processes/types';
import type { Count, Counters } from './rate-limit';

type Limiters = typeof import('rate-limiter-flexible');

/** Counts of Redis begin with it, and then have the digest that the database has. */
const PREFIX = 'apps';

/**
 * Counts in Redis, until their time is over; in the database while Redis is away. Those of one place do not count in the other, so that
 * each time that Redis goes away or comes back begins them again.
 * @param database counts there
 */
export function createRedisCounters(redis: Redis, database: Counters, now: () => number): Counters {
  // Only a host with Redis needs it. Each count has its own limit and end: the limiter's are those of none.
  const { RateLimiterRedis } = createRequire(__filename)('rate-limiter-flexible') as Limiters;
  const limiter = new RateLimiterRedis({
    storeClient: redis.client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: PREFIX,
    points: Number.MAX_SAFE_INTEGER,
    duration: 1,
  });
  const secondsUntil = (endsAt: number) => Math.max(1, Math.ceil((endsAt - now()) / 1000));

  async function takeBack(id: string): Promise<void> {
    const { consumedPoints } = await limiter.reward(id, 1);
    // It was over meanwhile.
    if (consumedPoints < 0) await limiter.delete(id);
  }

  async function add(id: string, endsAt: number, limit: number): ReturnType<Counters['add']> {
    const { consumedPoints } = await limiter.consume(id, 1, { customDuration: secondsUntil(endsAt) });
    if (consumedPoints > limit) {
      await takeBack(id);
      return 'full';
    }
    return consumedPoints === 1 ? 'begun' : 'added';
  }

  const countOf = (found: RateLimiterRes): Count => ({
    count: found.consumedPoints,
    endsAt: now() + found.msBeforeNext,
  });

  async function read(ids: readonly string[]): Promise<Map<string, Count>> {
    const found = await Promise.all(ids.map(async (id) => [id, await limiter.get(id)] as const));
    return new Map(found.flatMap(([id, one]) => (one ? [[id, countOf(one)]] : [])));
  }

  return {
    add: (id, endsAt, limit = Number.POSITIVE_INFINITY) =>
      redis.use(
        () => add(id, endsAt, limit),
        () => database.add(id, endsAt, limit),
      ),
    takeBack: (ids) =>
      redis.use(
        async () => void (await Promise.all(ids.map(takeBack))),
        () => database.takeBack(ids),
      ),
    read: (ids) =>
      redis.use(
        () => read(ids),
        () => database.read(ids),
      ),
  };
}
