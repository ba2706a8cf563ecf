/**
 * Values that are usually there and sometimes have to be read. Each promise of a request costs, as Node.js tracks it for
 * AsyncLocalStorage; what is known is therefore given at once (docs/decisions/fewer-promises.md).
 */

/** A value, or a promise of it; `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** `isPromise(x) ? await x : x` makes no promise where `x` is there; `await x` makes two. */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> => value instanceof Promise;

/**
 * Calls `next` with the values: at once if all of them are there, else when the last promise is fulfilled.
 * @returns what `next` gives, at once in the first case; a promise that is rejected when one of the values is
 */
export function whenAll<const Values extends readonly unknown[], Result>(
  values: Values,
  next: (values: { -readonly [At in keyof Values]: Awaited<Values[At]> }) => Awaitable<Result>,
): Awaitable<Result> {
  type Settled = { -readonly [At in keyof Values]: Awaited<Values[At]> };
  return values.some(isPromise) ? Promise.all(values).then((all) => next(all as Settled)) : next(values as Settled);
}

/** A value that was read, and when its read began, by `performance.now()`. */
interface Kept<Value> {
  value: Value;
  checkedAt: number;
}

/** How long (ms) what was read is used, from the start of the read. */
export interface KeptAge {
  /** From this age on it is read again while it is still used, so that under load no request waits for the read. */
  renewAfter: number;
  /** From this age on requests wait for the read. */
  max: number;
}

/**
 * The function with its results kept for some time from the start of the read, by its arguments.
 * @param age a number: the maximum, without reads in advance
 * @param keep whether a result may be kept; without it all are
 */
export function keptFor<Key extends string[], Value>(
  age: number | KeptAge,
  read: (...key: Key) => Promise<Value>,
  keep: (value: Value) => boolean = () => true,
) {
  const { renewAfter, max } = typeof age === 'number' ? { renewAfter: age, max: age } : age;
  const known = new Map<string, Kept<Value>>();
  const renewing = new Set<string>();
  const nameOf = (key: Key) => key.join('\n');

  const renew = async (key: Key): Promise<Value> => {
    const checkedAt = performance.now();
    const value = await read(...key);
    const name = nameOf(key);
    if (!keep(value)) known.delete(name);
    else if (checkedAt > (known.get(name)?.checkedAt ?? 0)) known.set(name, { value, checkedAt });
    return value;
  };

  const renewInAdvance = (key: Key): void => {
    const name = nameOf(key);
    if (renewing.has(name)) return;
    renewing.add(name);
    // A failure is reported to those who wait for the next read.
    void renew(key)
      .catch(() => undefined)
      .finally(() => renewing.delete(name));
  };

  return {
    /** The value, at once while it is kept. */
    get(...key: Key): Awaitable<Value> {
      const kept = known.get(nameOf(key));
      const age = kept ? performance.now() - kept.checkedAt : max;
      if (!kept || age >= max) return renew(key);
      if (age >= renewAfter) renewInAdvance(key);
      return kept.value;
    },
    /** Keeps a value that was just written. */
    set(value: Value, ...key: Key): void {
      known.set(nameOf(key), { value, checkedAt: performance.now() });
    },
  };
}

/** What was read; null where there is nothing or where the read fails. */
export async function orNull<T>(read: () => Awaitable<T | null | undefined>): Promise<T | null> {
  try {
    return (await read()) ?? null;
  } catch {
    return null;
  }
}
