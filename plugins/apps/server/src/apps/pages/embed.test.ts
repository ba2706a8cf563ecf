import { describe, expect, test, vi } from 'vitest';
import { liveTopics, readsInto, topics } from '../live-topics';
import { RenderingCache } from './embed-cache';

const key = { site: 's', app: 'a' };

test.each([
  ['a record', 'r', [topics.record(key, 'r'), topics.bulk(key)]],
  ['any records', undefined, [topics.any(key)]],
])('the topics of a read of %s', (_what, id, expected) => {
  const reads = new Set<string>();
  readsInto(reads).onRead?.(key, id);
  expect([...reads]).toEqual(expected);
});

describe('liveTopics', () => {
  const records = (count: number) => new Set(Array.from({ length: count }, (_, n) => topics.record(key, String(n))));
  test('are the topics of the reads', () => expect(liveTopics(records(40))).toEqual([...records(40)]));
  test('are any records of the apps above 40 reads', () => expect(liveTopics(records(41))).toEqual([topics.any(key)]));
});

describe('RenderingCache', () => {
  test('expires entries after their time', () => {
    vi.useFakeTimers();
    const cache = new RenderingCache();
    cache.put('k', { html: 'html', title: 't' }, 2);
    vi.advanceTimersByTime(1_999);
    expect(cache.get('k')).toEqual({ html: 'html', title: 't' });
    vi.advanceTimersByTime(2);
    expect(cache.get('k')).toBeUndefined();
    vi.useRealTimers();
  });

  test('evicts the oldest entry when it is full', () => {
    const cache = new RenderingCache();
    const html = 'x'.repeat(6_000_000);
    for (const name of ['one', 'two', 'three']) cache.put(name, { html, title: '' }, 60);
    expect(['one', 'two', 'three'].map((name) => cache.get(name)?.html === html)).toEqual([false, true, true]);
    cache.put('two', { html: 'small', title: '' }, 60);
    cache.put('four', { html, title: '' }, 60);
    expect(['two', 'three', 'four'].map((name) => cache.get(name)?.html.length)).toEqual([5, 6_000_000, 6_000_000]);
  });
});
