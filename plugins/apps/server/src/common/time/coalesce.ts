import { AsyncLocalStorage } from 'node:async_hooks';
import { within } from './pace';

/**
 * Requests share reads, so that a server under load reads from its database once instead of once a request. Nothing is
 * cached: a shared read begins after all calls that share it, so that each of them sees what was committed before. See
 * docs/decisions/shared-reads.md.
 */

/** Milliseconds to wait for a read before the next one begins in parallel: the first may hang on a lost connection. */
const MAX_WAIT = 50;

/** Resolves after this iteration of the event loop: requests that arrived together have then all called. */
const endOfIteration = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** Waits until the work succeeds or fails, or until MAX_WAIT. */
export function settledOrTimeout(work: Promise<unknown>): Promise<unknown> {
  return within(
    work.catch(() => undefined),
    MAX_WAIT,
  );
}

/**
 * Coalesces reads of one key (single flight): calls during a running read share the next one.
 * @param bypass whether the caller must read by itself, because it is inside a transaction
 */
export function coalesceReads<Value>(
  read: (key: string) => Promise<Value>,
  bypass: () => boolean,
): (key: string) => Promise<Value> {
  // A shared read must not run in the request or transaction of its first caller.
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
    if (bypass()) return read(key);
    const known = waiting.get(key);
    if (known) return known;
    const before = working.get(key);
    const next = outside(() => (before ? settledOrTimeout(before) : endOfIteration()).then(() => begin(key)));
    waiting.set(key, next);
    return next;
  };
}

/**
 * A data loader: reads the keys of one iteration of the event loop in one batch, each key once.
 * @param load reads the values of keys
 * @returns reads one key; undefined when it has no value
 */
export function dataLoader<Value>(
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
    next ??= outside(() => endOfIteration().then(begin));
    return (await next).get(key);
  };
}
