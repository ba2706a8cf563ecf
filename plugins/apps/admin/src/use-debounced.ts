import { useCallback, useEffect, useRef, useState } from 'react';

/** Milliseconds after the last change before an answer is asked for. */
const REQUEST_WAIT = 600;

/**
 * The answer to a request that changes while the administrator works. It is asked for a moment after the last change, one
 * request at a time; the latest answer stays until the next one is there.
 */
export function useDebouncedRequest<Request, Answer>(request: Request, send: (request: Request) => Promise<Answer>) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isLoading, setLoading] = useState(false);
  const latest = useRef({ request, send });
  latest.current = { request, send };
  const state = useRef({ isBusy: false, isStale: false });
  const refresh = useCallback(async () => {
    const now = state.current;
    now.isStale = true;
    if (now.isBusy) return;
    now.isBusy = true;
    setLoading(true);
    while (now.isStale) {
      now.isStale = false;
      try {
        setAnswer(await latest.current.send(latest.current.request));
        setError(null);
      } catch (failure) {
        setError(failure);
      }
    }
    now.isBusy = false;
    setLoading(false);
  }, []);
  const key = JSON.stringify(request);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the request is compared by its content
  useEffect(() => {
    const timer = setTimeout(refresh, REQUEST_WAIT);
    return () => clearTimeout(timer);
  }, [key, refresh]);
  return { answer, error, isLoading, refresh };
}

/** Milliseconds after the last change. */
const VALUE_WAIT = 400;

/** The value once it has not changed for a moment, so that not every key sends a request; undefined until then. */
export function useDebouncedValue<T>(value: T): T | undefined {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState({ key, value });
  // biome-ignore lint/correctness/useExhaustiveDependencies: values are compared by their content
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ key, value }), VALUE_WAIT);
    return () => clearTimeout(timer);
  }, [key]);
  return settled.key === key ? settled.value : undefined;
}
