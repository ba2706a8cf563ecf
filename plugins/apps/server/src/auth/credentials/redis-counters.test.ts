import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRedis } from '../../processes/redis';
import { hasRedis, type RedisServer, redisServer } from '../../processes/testing/redis-server';
import type { Redis } from '../../processes/types';
import { countersInMemory } from '../testing/counters';
import type { Counters } from './rate-limit';
import { createRedisCounters } from './redis-counters';

const logger = { info() {}, warn() {}, error() {} };

describe.skipIf(!hasRedis)('counts in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let database: Counters;
  let counters: Counters;
  let id: string;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
    redis = createRedis({ url: server.url, root: process.cwd(), logger });
    await vi.waitFor(() => expect(redis.isReady()).toBe(true));
  });
  afterAll(async () => {
    redis.destroy();
    await server.stop();
  });
  beforeEach(() => {
    database = countersInMemory(Date.now);
    counters = createRedisCounters(redis, database, Date.now);
    id = randomUUID();
  });

  const inAMinute = () => Date.now() + 60_000;
  const countOf = async (from = counters) => (await from.read([id])).get(id)?.count;

  test('begin once, and end at their limit, also when they come at once', async () => {
    const added = await Promise.all(Array.from({ length: 20 }, () => counters.add(id, inAMinute(), 10)));
    const times = (what: string) => added.filter((one) => one === what).length;
    expect([times('begun'), times('added'), times('full')]).toEqual([1, 9, 10]);
    expect(await countOf()).toBe(10);
    expect(await countOf(database)).toBeUndefined();
  });

  test('are taken back, and are then no longer full', async () => {
    await counters.add(id, inAMinute(), 1);
    expect(await counters.add(id, inAMinute(), 1)).toBe('full');
    await counters.takeBack([id]);
    expect(await counters.add(id, inAMinute(), 1)).toBe('begun');
  });

  test('are over at their end, by which no later one moves', async () => {
    const endsAt = Date.now() + 1_500;
    await counters.add(id, endsAt);
    await counters.add(id, inAMinute());
    const count = (await counters.read([id])).get(id);
    expect(count?.count).toBe(2);
    // Redis counts whole seconds.
    expect(count?.endsAt).toBeGreaterThan(endsAt - 100);
    expect(count?.endsAt).toBeLessThan(endsAt + 1_500);
    await expect.poll(() => countOf(), { timeout: 5_000 }).toBeUndefined();
    expect(await counters.add(id, inAMinute())).toBe('begun');
  });

  test('that were over before they are taken back leave nothing', async () => {
    await counters.takeBack([id]);
    expect(await countOf()).toBeUndefined();
  });

  test('are in the database while Redis is away, within the same limits', async () => {
    await counters.add(id, inAMinute(), 2);
    await server.stop();
    const added = [];
    for (let n = 0; n < 4; n += 1) added.push(await counters.add(id, inAMinute(), 2));
    expect(added).toEqual(['begun', 'added', 'full', 'full']);
    expect([await countOf(), await countOf(database)]).toEqual([2, 2]);
    await server.start();
    await expect.poll(redis.isReady, { timeout: 10_000 }).toBe(true);
    expect(await counters.add(id, inAMinute(), 2)).toBe('begun');
  }, 30_000);
});
