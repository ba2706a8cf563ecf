import { describe, expect, it, vi } from 'vitest';
import type { UnitOfWork } from '../records/types';
import { RenderingCache } from './embed-cache';
import { liveTopics, noting, topics } from './embed-live';

const key = { site: 's', app: 'a' };

describe('noting', () => {
  const unit = {
    get: vi.fn(async () => null),
    page: vi.fn(async () => []),
    search: vi.fn(async () => ({ records: [] })),
    count: vi.fn(async () => 0),
    update: vi.fn(),
  };

  it.each([
    ['get', ['r'], [topics.record(key, 'r'), topics.bulk(key)]],
    ['page', [{}], [topics.any(key)]],
    ['search', [new Map(), {}], [topics.any(key)]],
    ['count', [new Map()], [topics.any(key)]],
    ['update', [new Map(), 'r', {}], []],
  ] as const)('%s', async (method, rest, expected) => {
    const reads = new Set<string>();
    const noted = noting(unit as unknown as UnitOfWork, reads) as unknown as Record<
      string,
      (...args: unknown[]) => unknown
    >;
    await noted[method]?.(key, ...rest);
    expect([...reads]).toEqual(expected);
    expect(unit[method]).toHaveBeenLastCalledWith(key, ...rest);
  });
});

describe('liveTopics', () => {
  const records = (count: number) => new Set(Array.from({ length: count }, (_, n) => topics.record(key, String(n))));
  it('are what was read', () => expect(liveTopics(records(40))).toEqual([...records(40)]));
  it('are the apps of very many', () => expect(liveTopics(records(41))).toEqual([topics.any(key)]));
});

describe('RenderingCache', () => {
  it('keeps for so many seconds', () => {
    vi.useFakeTimers();
    const cache = new RenderingCache();
    cache.put('k', 'html', 2);
    vi.advanceTimersByTime(1_999);
    expect(cache.get('k')).toBe('html');
    vi.advanceTimersByTime(2);
    expect(cache.get('k')).toBeUndefined();
    vi.useRealTimers();
  });

  it('forgets the oldest when there is no more room', () => {
    const cache = new RenderingCache();
    const html = 'x'.repeat(6_000_000);
    for (const name of ['one', 'two', 'three']) cache.put(name, html, 60);
    expect(['one', 'two', 'three'].map((name) => cache.get(name) === html)).toEqual([false, true, true]);
    cache.put('two', 'small', 60);
    cache.put('four', html, 60);
    expect(['two', 'three', 'four'].map((name) => cache.get(name)?.length)).toEqual([5, 6_000_000, 6_000_000]);
  });
});
