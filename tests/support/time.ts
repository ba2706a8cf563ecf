import { setTimeout as pause } from 'node:timers/promises';

const tick = 10;
/** A longer gap between two ticks is a pause of the machine or of this process, and counts as this. */
const longestGap = 50;

/**
 * A clock of milliseconds that stands still while the machine gives this process no processor: a limit that is measured
 * with it does not fail because everything paused for a second.
 */
function startClock(): { read(): number; stop(): void } {
  let [last, elapsed] = [performance.now(), 0];
  const read = () => {
    const now = performance.now();
    elapsed += Math.min(now - last, longestGap);
    last = now;
    return elapsed;
  };
  const timer = setInterval(read, tick);
  return { read, stop: () => clearInterval(timer) };
}

/** The result of a work, and the milliseconds that it took, without pauses of the machine. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; time: number }> {
  const clock = startClock();
  try {
    const result = await work();
    return { result, time: clock.read() };
  } finally {
    clock.stop();
  }
}

/**
 * Asks until the answer is as wanted, and gives the last answer. The last request is sent when `limit` milliseconds are
 * over, without pauses of the machine, so that slow requests do not shorten the limit.
 */
export async function within<T>(limit: number, ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  const clock = startClock();
  try {
    for (;;) {
      const last = clock.read() >= limit;
      const answer = await ask();
      if (last || wanted(answer)) return answer;
      await pause(50);
    }
  } finally {
    clock.stop();
  }
}

/**
 * Waits for events that must not happen, where there is no condition to wait for: on a slow machine the test may miss an
 * event, but never fails.
 */
export const timeForMore = (): Promise<void> => pause(300);
