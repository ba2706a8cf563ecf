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

/**
 * Does `work` with each entry of a list, in order, in slices of `SLICE` milliseconds with a pause after each: an entry itself is
 * not divided. Gives the results of each slice.
 */
export async function* slices<T, R>(list: readonly T[], work: (entry: T) => R): AsyncGenerator<R[], void> {
  for (let at = 0; at < list.length; )
    yield await paced(() => {
      const end = performance.now() + SLICE;
      const done: R[] = [];
      do {
        done.push(work(list[at] as T));
        at += 1;
      } while (at < list.length && performance.now() < end);
      return done;
    });
}

/** Milliseconds of all `shortWork` in this iteration of the event loop. */
let spent = 0;

/**
 * Runs a short piece of work at once, and resolves after a pause where all pieces of this iteration of the event loop have taken a
 * slice: for loops of many pieces, in one request or in several, that may wait for something else in between.
 */
export async function shortWork<T>(work: () => T): Promise<T> {
  if (spent === 0) setImmediate(() => (spent = 0));
  const begin = performance.now();
  const result = work();
  spent += performance.now() - begin;
  if (spent > SLICE) {
    recordWork(spent);
    await untilLoopIsFree();
  }
  return result;
}

/**
 * The entries of a list, with a pause after each slice of the work that is done with them: of a parser that gives many at once, or
 * of a text in memory, the next entry comes before other requests do.
 */
export async function* inSlices<T>(list: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T, void> {
  let begin = performance.now();
  for await (const entry of list) {
    yield entry;
    const time = performance.now() - begin;
    if (time < SLICE) continue;
    // What the reader has waited for meanwhile, such as a database, is no work.
    recordWork(Math.min(time, 2 * SLICE));
    await untilLoopIsFree();
    begin = performance.now();
  }
}
