import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Readings that requests share, so that a server under load asks its database once where it would have asked for every
 * request. Nothing is remembered: a reading begins after everybody who shares it has asked, so that each of them sees
 * what was committed before. See docs/decisions/shared-reads.md.
 */

/** Milliseconds to wait for a reading before the next one begins beside it: it may hang on a connection that is lost. */
const patience = 50;

/** The end of this turn of the event loop: requests that have come together have then all asked. */
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}

/** Waits for the work to end, in whatever way, but not for long. */
function patiently(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout;
  const enough = new Promise((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  return Promise.race([settled(work), enough]).finally(() => clearTimeout(timer));
}

/**
 * Lets those who ask for the same share a reading: of all who ask while one is at work, the next one is shared.
 * @param apart whether the caller must read by itself, because it is inside a transaction
 */
export function shareReads<Value>(
  read: (key: string) => Promise<Value>,
  apart: () => boolean,
): (key: string) => Promise<Value> {
  // Whoever asks first must not lend the others their request or transaction.
  const outside = AsyncLocalStorage.snapshot();
  const waiting = new Map<string, Promise<Value>>();
  const working = new Map<string, Promise<Value>>();

  const begin = (key: string): Promise<Value> => {
    waiting.delete(key);
    const work = read(key).finally(() => {
      if (working.get(key) === work) working.delete(key);
    });
    working.set(key, work);
    return work;
  };

  return (key) => {
    if (apart()) return read(key);
    const known = waiting.get(key);
    if (known) return known;
    const before = working.get(key);
    const next = outside(() => (before ? patiently(before) : turn()).then(() => begin(key)));
    waiting.set(key, next);
    return next;
  };
}

/**
 * Reads together what is asked in one turn of the event loop, each key once.
 * @param load what there is for the keys
 * @returns the reading of one key; undefined when there is nothing
 */
export function batchReads<Value>(
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const outside = AsyncLocalStorage.snapshot();
  let keys = new Set<string>();
  let next: Promise<ReadonlyMap<string, Value>> | undefined;

  const begin = (): Promise<ReadonlyMap<string, Value>> => {
    const asked = [...keys];
    keys = new Set();
    next = undefined;
    return load(asked);
  };

  return async (key) => {
    keys.add(key);
    next ??= outside(() => turn().then(begin));
    return (await next).get(key);
  };
}
