/*
 * An answer needs some tens of iterations of the event loop. Work in many pieces, each of which blocks the loop for some
 * milliseconds, would delay every one of these iterations: so a pause of half its length follows each longer piece, and
 * only one such work continues after each pause.
 */

/** Milliseconds for which work may block the event loop before a pause. */
export const SLICE = 10;

/** End of the current pause, by `performance.now()`. */
let pauseEnd = 0;
const waiting: (() => void)[] = [];
let isScheduled = false;

/** Begins a pause after work that has blocked the event loop for `time` milliseconds. */
export function recordWork(time: number): void {
  if (time > SLICE) pauseEnd = Math.max(pauseEnd, performance.now() + time / 2);
}

/** Resolves when longer work may continue; at once if there is no pause. */
export async function untilLoopIsFree(): Promise<void> {
  if (waiting.length === 0 && performance.now() >= pauseEnd) return;
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

/**
 * Without a pause the next work continues in the next iteration of the event loop: a timer, which takes a millisecond, would
 * keep a queue from ever becoming empty under load.
 */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  const time = pauseEnd - performance.now();
  if (time > 0) setTimeout(release, time);
  else setImmediate(release);
}

function release(): void {
  isScheduled = false;
  if (performance.now() >= pauseEnd) waiting.shift()?.();
  if (waiting.length > 0) schedule();
}

/** Runs a piece of work after the current pause, and begins a pause after it. */
export async function paced<T>(work: () => T): Promise<T> {
  await untilLoopIsFree();
  const begin = performance.now();
  try {
    return work();
  } finally {
    recordWork(performance.now() - begin);
  }
}
