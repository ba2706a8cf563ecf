import { useEffect, useState } from 'react';

/** Milliseconds between two requests of a list that is shown. */
const INTERVAL = 2_000;

/** The `pollingInterval` of a query whose answer changes by itself: 0, for none, while the page cannot be seen. */
export function usePolling(isWanted = true): number {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const note = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', note);
    return () => document.removeEventListener('visibilitychange', note);
  }, []);
  return isWanted && isVisible ? INTERVAL : 0;
}
