import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { coalesceReads, dataLoader } from './coalesce';

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));
const never = () => false;

/** A read that ends when the test resolves test. */
function gated<Value>(read: () => Value) {
  const begun: (() => void)[] = [];
  const work = () => {
    const seen = read();
    return new Promise<Value>((resolve) => begun.push(() => resolve(seen)));
  };
  return { work, begun };
}

describe('coalesceReads', () => {
  test('one read serves all calls of one iteration of the event loop', async () => {
    const reads: string[] = [];
    const read = coalesceReads(async (key) => {
      reads.push(key);
      return key.toUpperCase();
    }, never);
    expect(await Promise.all(['a', 'b', 'a'].map(read))).toEqual(['A', 'B', 'A']);
    expect(reads).toEqual(['a', 'b']);
    await read('a');
    expect(reads).toHaveLength(3);
  });

  test('a read that began before the call is not shared', async () => {
    let value = 0;
    const { work, begun } = gated(() => value);
    const read = coalesceReads(work, never);
    const first = read('a');
    await nextIteration();
    value = 1;
    const later = [read('a'), read('a')];
    begun[0]?.();
    expect(await first).toBe(0);
    await nextIteration();
    expect(begun).toHaveLength(2);
    begun[1]?.();
    expect(await Promise.all(later)).toEqual([1, 1]);
  });

  test('a read that hangs does not delay the next one', async () => {
    const { work, begun } = gated(() => 'seen');
    const read = coalesceReads(work, never);
    read('a');
    await nextIteration();
    const second = read('a');
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.();
    expect(await second).toBe('seen');
  });

  test('a failed read rejects the calls that share it, and no later ones', async () => {
    let fails = true;
    const read = coalesceReads(async () => {
      if (fails) throw new Error('no');
      return 'yes';
    }, never);
    const results = await Promise.allSettled([read('a'), read('a')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await read('a')).toBe('yes');
  });

  test('a caller inside a transaction reads by itself', async () => {
    let reads = 0;
    let bypass = true;
    const read = coalesceReads(
      async () => ++reads,
      () => bypass,
    );
    await Promise.all([read('a'), read('a')]);
    expect(reads).toBe(2);
    bypass = false;
    await Promise.all([read('a'), read('a')]);
    expect(reads).toBe(3);
  });
});

describe('dataLoader', () => {
  test('one batch loads the keys of one iteration of the event loop, each key once', async () => {
    const loads: string[][] = [];
    const read = dataLoader(async (keys) => {
      loads.push([...keys]);
      return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
    });
    expect(await Promise.all(['a', 'none', 'b', 'a'].map(read))).toEqual(['A', undefined, 'B', 'A']);
    expect(await read('a')).toBe('A');
    expect(loads).toEqual([['a', 'none', 'b'], ['a']]);
  });

  test('a failed load rejects its batch, and not the next one', async () => {
    let fails = true;
    const read = dataLoader(async (keys) => {
      if (fails) throw new Error('no');
      return new Map(keys.map((key) => [key, key]));
    });
    const results = await Promise.allSettled(['a', 'b'].map(read));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await read('a')).toBe('a');
  });
});

test.each([
  ['coalesceReads', (read: () => Promise<unknown>) => coalesceReads(read, never)],
  ['dataLoader', (read: () => Promise<unknown>) => dataLoader(async () => new Map([['a', await read()]]))],
])('%s does not read in the context of its first caller', async (_name, make) => {
  const context = new AsyncLocalStorage<string>();
  const read = make(async () => context.getStore() ?? 'outside');
  expect(await context.run('first', async () => [await read('a'), context.getStore()])).toEqual(['outside', 'first']);
});
