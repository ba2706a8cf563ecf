import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { batchReads, shareReads } from './batch';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const never = () => false;

/** A reading that ends when it is told to. */
function gated<Value>(read: () => Value) {
  const begun: (() => void)[] = [];
  const work = () => {
    const seen = read();
    return new Promise<Value>((resolve) => begun.push(() => resolve(seen)));
  };
  return { work, begun };
}

describe('shareReads', () => {
  it('reads once for all who ask in one turn', async () => {
    const reads: string[] = [];
    const read = shareReads(async (key) => {
      reads.push(key);
      return key.toUpperCase();
    }, never);
    expect(await Promise.all(['a', 'b', 'a'].map(read))).toEqual(['A', 'B', 'A']);
    expect(reads).toEqual(['a', 'b']);
    await read('a');
    expect(reads).toHaveLength(3);
  });

  it('never answers with a reading that began before the question', async () => {
    let value = 0;
    const { work, begun } = gated(() => value);
    const read = shareReads(work, never);
    const first = read('a');
    await turn();
    value = 1;
    const later = [read('a'), read('a')];
    begun[0]?.();
    expect(await first).toBe(0);
    await turn();
    expect(begun).toHaveLength(2);
    begun[1]?.();
    expect(await Promise.all(later)).toEqual([1, 1]);
  });

  it('does not wait for a reading that hangs', async () => {
    const { work, begun } = gated(() => 'seen');
    const read = shareReads(work, never);
    read('a');
    await turn();
    const second = read('a');
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.();
    expect(await second).toBe('seen');
  });

  it('fails for those who share the failure, and for nobody after', async () => {
    let fails = true;
    const read = shareReads(async () => {
      if (fails) throw new Error('no');
      return 'yes';
    }, never);
    const results = await Promise.allSettled([read('a'), read('a')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await read('a')).toBe('yes');
  });

  it('reads by itself where the caller must', async () => {
    let reads = 0;
    let apart = true;
    const read = shareReads(
      async () => ++reads,
      () => apart,
    );
    await Promise.all([read('a'), read('a')]);
    expect(reads).toBe(2);
    apart = false;
    await Promise.all([read('a'), read('a')]);
    expect(reads).toBe(3);
  });
});

describe('batchReads', () => {
  it('reads at once what is asked in one turn, each key once', async () => {
    const loads: string[][] = [];
    const read = batchReads(async (keys) => {
      loads.push([...keys]);
      return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
    });
    expect(await Promise.all(['a', 'none', 'b', 'a'].map(read))).toEqual(['A', undefined, 'B', 'A']);
    expect(await read('a')).toBe('A');
    expect(loads).toEqual([['a', 'none', 'b'], ['a']]);
  });

  it('fails for the batch, and not for the next', async () => {
    let fails = true;
    const read = batchReads(async (keys) => {
      if (fails) throw new Error('no');
      return new Map(keys.map((key) => [key, key]));
    });
    const results = await Promise.allSettled(['a', 'b'].map(read));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await read('a')).toBe('a');
  });
});

it.each([
  ['shareReads', (read: () => Promise<unknown>) => shareReads(read, never)],
  ['batchReads', (read: () => Promise<unknown>) => batchReads(async () => new Map([['a', await read()]]))],
])('%s does not read in the context of whoever asks first', async (_name, make) => {
  const context = new AsyncLocalStorage<string>();
  const read = make(async () => context.getStore() ?? 'outside');
  expect(await context.run('first', async () => [await read('a'), context.getStore()])).toEqual(['outside', 'first']);
});
