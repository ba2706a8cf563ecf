/** Objects that note what is read of them, with the ones that they stand for. */
const originals = new WeakMap<object, object>();

/** Notes the object behind `observed`, and returns `observed`. */
export function noteOriginal<T extends object>(observed: T, original: T): T {
  originals.set(observed, original);
  return observed;
}

/** The object itself: reading it notes nothing. */
export function originalOf<T extends object>(given: T): T {
  const original = originals.get(given) as T | undefined;
  return original ? originalOf(original) : given;
}
