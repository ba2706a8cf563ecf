import { useEffect, useState } from 'react';

/** Milliseconds after the last change. */
const WAIT = 400;

/** The value once it has not changed for a moment, so that not every key sends a request; undefined until then. */
export function useDebouncedValue<T>(value: T): T | undefined {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState({ key, value });
  // biome-ignore lint/correctness/useExhaustiveDependencies: values are compared by their content
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ key, value }), WAIT);
    return () => clearTimeout(timer);
  }, [key]);
  return settled.key === key ? settled.value : undefined;
}
