import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isAppsError } from '../../common/errors';
import { availableClients, createTestDatabase, type TestDatabase } from '../../database/testing/databases';
import { createRedis } from '../../processes/redis';
import { hasRedis, type RedisServer, redisServer } from '../../processes/testing/redis-server';
import type { Redis } from '../../processes/types';
import { countersIn, countersInMemory } from '../testing/counters';
import { createKeyring } from './keyring';
import { type Counters, createRateLimit, createRedisCounters, type LimitKey, type RateLimit } from './rate-limit';

describe.each(await availableClients())('failed logins, counted on %s,', (client) => {
  let database: TestDatabase;
  let counters: Counters;
  let time = 0;
  let round = 0;
  let limit: RateLimit;
  const now = () => time;

  beforeAll(async () => {
    database = await createTestDatabase(client);
    counters = await countersIn(database.knex, now);
  }, 30_000);
  afterAll(() => database.destroy());
  beforeEach(() => {
    time = 1000;
    round += 1;
    limit = process({ account: 2, address: 3, window: 60_000 });
  });

  /** The limit as a server process has it. */
  const process = (limits: object): RateLimit =>
    createRateLimit({ counters, known: counters, keyring: createKeyring(`key ${round}`), now, ...limits });
  const account = (value: string): LimitKey => ({ scope: 'account', value });
  const address = (value: string): LimitKey => ({ scope: 'address', value });
  const pair = (value: string): LimitKey => ({ scope: 'pair', value });

  /** Seconds to wait, or null if the attempt was let through and its password was wrong. */
  const guess = async (keys: LimitKey[], by = limit): Promise<string | null> => {
    const wait = await take(keys, by);
    if (wait === null) await by.fail(keys);
    return wait;
  };
  /** The same of an attempt whose password is not checked yet. */
  const take = async (keys: LimitKey[], by = limit): Promise<string | null> => {
    try {
      await by.take(keys);
      return null;
    } catch (error) {
      if (isAppsError(error, 'RateLimitError')) return error.headers['Retry-After'] ?? '';
      throw error;
    }
  };
  const guessAll = async (all: LimitKey[][]): Promise<(string | null)[]> => {
    const waits: (string | null)[] = [];
    for (const keys of all) waits.push(await guess(keys));
    return waits;
  };

  test.each<[string, object, LimitKey[][], (string | null)[]]>([
    [
      'are limited for an account, from any address',
      { account: 2 },
      ['1', '2', '3', '4'].map((from) => [account('alice'), address(from)]),
      [null, null, '300', '300'],
    ],
    [
      'are limited for an address, for any account',
      { address: 3 },
      ['a', 'b', 'c', 'd'].map((name) => [account(name), address('1')]),
      [null, null, null, '300'],
    ],
    [
      'are limited for an account from one address',
      { pair: 2 },
      ['a', 'a', 'a', 'b'].map((value) => [pair(value)]),
      [null, null, '300', null],
    ],
    [
      'keep an account and an address of the same text apart',
      { account: 2, address: 2 },
      [[account('x')], [account('x')], [address('x')]],
      [null, null, null],
    ],
    [
      'count nothing when refused',
      { account: 2, address: 1 },
      [[address('1')], [account('d'), address('1')], [account('d')], [account('d')], [account('d')]],
      [null, '300', null, null, '300'],
    ],
  ])('%s', async (_name, limits, all, waits) => {
    limit = process(limits);
    expect(await guessAll(all)).toEqual(waits);
  });

  test('are counted once by all processes, simultaneous ones too', async () => {
    limit = process({ pair: 5 });
    const other = process({ pair: 5 });
    const waits = await Promise.all(Array.from({ length: 20 }, (_, n) => take([pair('a')], n % 2 ? other : limit)));
    expect(waits.filter((wait) => wait === null)).toHaveLength(5);
    expect(new Set(waits)).toEqual(new Set([null, '1']));
    for (let n = 0; n < 4; n += 1) await limit.fail([pair('a')]);
    expect(await take([pair('a')], other)).toBe('1');
    await other.fail([pair('a')]);
    expect([await take([pair('a')]), await take([pair('a')], other)]).toEqual(['300', '300']);
  });

  test('are forgotten after the window', async () => {
    await guess([account('a')]);
    time += 30_000;
    await guess([account('a')]);
    expect(await guess([account('a')])).toBe('30');
    time += 30_000;
    expect(await guessAll([[account('a')], [account('a')], [account('a')]])).toEqual([null, null, '60']);
  });

  test('do not include successes', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(await take([account('a'), address('1')])).toBeNull();
      await limit.refund([account('a'), address('1')]);
    }
  });

  test('trust an address for an account for thirty days', async () => {
    await limit.trust('a');
    await limit.trust('a');
    expect([...(await process({}).trusted(['a', 'b']))]).toEqual(['a']);
    time += 31 * 24 * 60 * 60_000;
    expect([...(await limit.trusted(['a', 'b']))]).toEqual([]);
  });
});

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
