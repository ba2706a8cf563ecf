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

/**
 * The function with its results kept for `maxAge` milliseconds from the start of the read, by its arguments.
 * @param keep whether a result may be kept; without it all are
 */
export function keptFor<Key extends string[], Value>(
  maxAge: number,
  read: (...key: Key) => Promise<Value>,
  keep: (value: Value) => boolean = () => true,
) {
  const known = new Map<string, Kept<Value>>();
  const nameOf = (key: Key) => key.join('\n');

  const renew = async (key: Key): Promise<Value> => {
    const checkedAt = performance.now();
    const value = await read(...key);
    const name = nameOf(key);
    if (!keep(value)) known.delete(name);
    else if (checkedAt > (known.get(name)?.checkedAt ?? 0)) known.set(name, { value, checkedAt });
    return value;
  };

  return {
    /** The value, at once while it is kept. */
    get(...key: Key): Awaitable<Value> {
      const kept = known.get(nameOf(key));
      return kept && performance.now() - kept.checkedAt < maxAge ? kept.value : renew(key);
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
