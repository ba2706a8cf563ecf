const { create } = Object;

let number = 0;
let values = create(null) as Record<number, { value: unknown }>;
let made = 0;

/** The number of the session that the context serves. */
export const sessionNumber = (): number => number;

/** Begins another session: what the last one has left in the prelude is no longer used, nor kept. */
export function nextSession(): void {
  number += 1;
  values = create(null) as typeof values;
}

/** A value of the prelude that each session has for itself, made by `make` when the session first uses it. */
export function eachSession<Value>(make: () => Value): () => Value {
  const index = made;
  made += 1;
  return () => {
    let kept = values[index] as { value: Value } | undefined;
    if (!kept) {
      kept = { value: make() };
      values[index] = kept;
    }
    return kept.value;
  };
}

/** Makes a value at the first call, and returns the same one afterwards. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
