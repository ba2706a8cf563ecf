import { makeDateSettable } from '../../shared/settable-date';
import type { Clock } from '../index';

let stopped: number | null = null;

/** The time at which the clock stands still, in milliseconds since 1970; null: it runs. */
export const stoppedAt = (): number | null => stopped;

/** Puts the clock into this process. Before Strapi is loaded: some of its modules keep `Date.now`. */
export function installClock(): void {
  makeDateSettable(globalThis, stoppedAt);
}

/** @param changed called after each change: tokens and sessions carry the time of their making */
export function createClock(changed: () => void): Clock {
  return {
    set(time) {
      const at = new Date(time).getTime();
      if (Number.isNaN(at)) throw new Error(`app.clock.set: ${JSON.stringify(time)} is not a time`);
      stopped = at;
      changed();
    },
    reset() {
      if (stopped === null) return;
      stopped = null;
      changed();
    },
  };
}
