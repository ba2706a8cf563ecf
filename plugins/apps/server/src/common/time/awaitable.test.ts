import { expect, test, vi } from 'vitest';
import { keptFor, orNull, whenAll } from './awaitable';

const sum = ([one, other]: [number, number]) => one + other;

test('values that are there give a result at once, promises give a promise', async () => {
  expect(whenAll([1, 2], sum)).toBe(3);
  const later = whenAll([1, Promise.resolve(2)], sum);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(3);
  await expect(whenAll([1, Promise.reject(new Error('lost'))], sum)).rejects.toThrow('lost');
});

test('a result is given at once while it is kept, and read again afterwards', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let reads = 0;
    const { get } = keptFor(1000, async (one: string, other: string) => `${one}${other}${++reads}`);
    vi.advanceTimersByTime(10);
    expect(await get('a', 'b')).toBe('ab1');
    expect(get('a', 'b')).toBe('ab1');
    expect(await get('ab', '')).toBe('ab2');
    vi.advanceTimersByTime(1000);
    expect(await get('a', 'b')).toBe('ab3');
  } finally {
    vi.useRealTimers();
  }
});

test('a result is read again before it is too old, by one read, and given at once meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let reads = 0;
    let finish: (() => void)[] = [];
    const { get } = keptFor({ renewAfter: 1000, max: 2000 }, async () => {
      reads += 1;
      const read = reads;
      if (read === 2)
        await new Promise<void>((resolve, reject) => (finish = [resolve, () => reject(new Error('lost'))]));
      return read;
    });
    vi.advanceTimersByTime(10);
    expect(await get()).toBe(1);
    vi.advanceTimersByTime(1500);
    expect([get(), get(), reads]).toEqual([1, 1, 2]);
    finish[1]?.();
    await new Promise(setImmediate);
    expect([get(), reads]).toEqual([1, 3]);
    await new Promise(setImmediate);
    expect(get()).toBe(3);
    vi.advanceTimersByTime(2000);
    expect(get()).toBeInstanceOf(Promise);
  } finally {
    vi.useRealTimers();
  }
});

test('what may not be kept, or is older than what was written, is not kept', async () => {
  let stored: string | null = null;
  const { get, set } = keptFor(
    1000,
    async () => {
      const read = stored;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return read;
    },
    (value) => value !== null,
  );
  expect(await get()).toBe(null);
  stored = 'old';
  const before = get();
  set('new');
  expect(await before).toBe('old');
  expect(get()).toBe('new');
});

test('a failure counts as nothing', async () => {
  expect(await orNull(() => 'found')).toBe('found');
  expect(await orNull(() => undefined)).toBe(null);
  expect(await orNull(() => Promise.reject(new Error('lost')))).toBe(null);
  expect(
    await orNull(() => {
      throw new Error('lost');
    }),
  ).toBe(null);
});
