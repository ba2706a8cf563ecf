import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HostDatabase } from '../database';
import { createRedis, loadClient } from './redis';
import { createSignals } from './signals';
import { hasRedis, type RedisServer, redisServer } from './testing/redis-server';
import type { Redis } from './types';

test('without the package, the start says what to install', () => {
  expect(() => loadClient(['/nowhere/package.json'])).toThrow(
    "'redis.url' needs the package 'redis', which is not installed: npm install redis",
  );
});

describe.skipIf(!hasRedis)('a Redis that goes away and comes back', () => {
  let server: RedisServer;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => server.stop());

  function connected() {
    const lines: string[] = [];
    const logger = {
      info: (line: string) => void lines.push(line),
      warn: (line: string) => void lines.push(line),
      error: (line: string) => void lines.push(line),
    };
    const redis = createRedis({ url: server.url, root: process.cwd(), logger });
    ends.push(redis.destroy);
    return { redis, lines, logger };
  }

  const where = (redis: Redis) =>
    redis.use(
      async () => {
        await redis.client.publish('any', '');
        return 'redis';
      },
      async () => 'database',
    );
  const soon = { timeout: 15_000, interval: 100 };
  const away = expect.stringContaining('Redis is away');

  test('is used again, and both are said once', async () => {
    const { redis, lines } = connected();
    await expect.poll(() => where(redis), soon).toBe('redis');
    await server.stop();
    await expect.poll(() => where(redis), soon).toBe('database');
    await new Promise((done) => setTimeout(done, 2_500));
    expect(lines).toEqual([away]);
    await server.start();
    await expect.poll(() => where(redis), soon).toBe('redis');
    expect(lines).toEqual([away, '[apps] Redis is there']);
  }, 40_000);

  test('may come after the process has started', async () => {
    await server.stop();
    const { redis, lines } = connected();
    await expect.poll(() => lines, soon).toEqual([away]);
    expect(await where(redis)).toBe('database');
    await server.start();
    await expect.poll(() => where(redis), soon).toBe('redis');
    expect(lines).toEqual([away, '[apps] Redis is there']);
  }, 40_000);

  test('that does not answer is not waited for', async () => {
    const { redis, lines } = connected();
    await expect.poll(() => where(redis), soon).toBe('redis');
    server.sleep();
    try {
      expect(await where(redis)).toBe('database');
      expect(redis.isReady()).toBe(false);
      expect(lines).toEqual([expect.stringContaining('looked for each second: it does not answer')]);
    } finally {
      server.wake();
    }
    await expect.poll(() => where(redis), soon).toBe('redis');
  }, 40_000);

  test('one that refuses a command is left alone for a while', async () => {
    const { redis, lines } = connected();
    await expect.poll(() => where(redis), soon).toBe('redis');
    const refuse = vi.fn(() => Promise.reject(new Error('OOM command not allowed')));
    expect(await redis.use(refuse, async () => 'database')).toBe('database');
    expect(await redis.use(refuse, async () => 'database')).toBe('database');
    expect(refuse).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([expect.stringContaining('OOM command not allowed')]);
  });

  test('carries signals again, and none of them is its sender’s', async () => {
    const database = {} as HostDatabase;
    const processes = ['one', 'two'].map((origin) => {
      const { redis, logger } = connected();
      const heard = vi.fn();
      const signals = createSignals({ database, logger, origin, redis });
      signals.on('changes', heard);
      signals.listen();
      ends.push(signals.destroy);
      return { signals, heard };
    });
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]];
    const sent = async () => {
      const before = two.heard.mock.calls.length;
      one.signals.send('changes');
      await new Promise((done) => setTimeout(done, 300));
      return two.heard.mock.calls.length > before;
    };
    await expect.poll(sent, soon).toBe(true);
    const own = one.heard.mock.calls.length;
    expect(await sent()).toBe(true);
    expect(one.heard).toHaveBeenCalledTimes(own);
    await server.stop();
    expect(await sent()).toBe(false);
    await server.start();
    await expect.poll(sent, soon).toBe(true);
    expect(one.signals.isReliable()).toBe(false);
  }, 40_000);
});
