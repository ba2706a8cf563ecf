/*
 * An answer needs some tens of iterations of the event loop. Work in many pieces, each of which blocks the loop for some
 * milliseconds, would delay every one of these iterations: so a pause of half its length follows each longer piece, and
 * only one such work continues after each pause. The request that has used least of the thread continues first: a page with
 * little work does not wait behind a hundred forms with much.
 */

/** Milliseconds for which work may block the event loop before a pause. */
export const SLICE = 10;

/** Milliseconds that a request may use of the event loop before its work waits for a pause of others. */
const FREE = 1;

/** Milliseconds that work waits longer than that of others, for each one that its request has used. */
const HANDICAP = 50;

/** Milliseconds that a request has used of the event loop by this work. */
interface Use {
  time: number;
}

interface Waiter {
  use: Use;
  /** The time by which it is ordered. */
  due: number;
  resume(): void;
}

let currentRequest: () => object | undefined = () => undefined;
const uses = new WeakMap<object, Use>();

/** @param current gives the request for which the code runs, the same object each time; undefined where it runs for none */
export function paceByRequest(current: () => object | undefined): void {
  currentRequest = current;
}

/** What the request has used; work for no request waits as if it had used a slice. */
function currentUse(): Use {
  const request = currentRequest();
  if (!request) return { time: SLICE };
  let use = uses.get(request);
  if (!use) {
    use = { time: 0 };
    uses.set(request, use);
  }
  return use;
}

/** End of the current pause, by `performance.now()`. */
let pauseEnd = 0;
const waiting = new Set<Waiter>();
let isScheduled = false;

/** Milliseconds of short work in this iteration of the event loop, and the one that may use it: it has waited. */
let spent = 0;
let holder: Use | null = null;
let isCounting = false;

function countIteration(): void {
  if (isCounting) return;
  isCounting = true;
  setImmediate(() => {
    isCounting = false;
    spent = 0;
    holder = null;
  });
}

/** Begins a pause after work that has blocked the event loop for `time` milliseconds, and counts it as its request's. */
export function recordWork(time: number): void {
  currentUse().time += time;
  beginPause(time);
}

function beginPause(time: number): void {
  if (time > SLICE) pauseEnd = Math.max(pauseEnd, performance.now() + time / 2);
}

/** Resolves when longer work may continue; at once if there is no pause, or the request has used next to nothing yet. */
export const untilLoopIsFree = (): Promise<void> => turnOf(currentUse());

/** As `untilLoopIsFree`, for work of another request than the one for which the code runs. */
export const untilLoopIsFreeFor = (time: number): Promise<void> => turnOf({ time });

async function turnOf(use: Use): Promise<void> {
  if (use.time < FREE) return;
  const isFree = waiting.size === 0 && performance.now() >= pauseEnd;
  if (spent <= SLICE && (isFree || holder === use)) return;
  await new Promise<void>((resume) => {
    waiting.add({ use, due: performance.now() + HANDICAP * use.time, resume });
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
  if (performance.now() >= pauseEnd) resumeFirst();
  if (waiting.size > 0) schedule();
}

function resumeFirst(): void {
  let first: Waiter | undefined;
  for (const waiter of waiting) if (!first || waiter.due < first.due) first = waiter;
  if (!first) return;
  waiting.delete(first);
  holder = first.use;
  countIteration();
  first.resume();
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

/**
 * Runs a short piece of work. It waits before it, where others have used this iteration of the event loop or wait themselves, and
 * after it, where all pieces of this iteration have taken a slice: for loops of many pieces, in one request or in several, that
 * may wait for something else in between.
 */
export async function shortWork<T>(work: () => T): Promise<T> {
  const use = currentUse();
  await turnOf(use);
  const begin = performance.now();
  const result = work();
  countShortWork(use, performance.now() - begin);
  await turnOf(use);
  return result;
}

function countShortWork(use: Use, time: number): void {
  countIteration();
  use.time += time;
  spent += time;
  beginPause(spent);
}

/**
 * As `shortWork`, for work that follows at once and cannot be measured.
 * @param time the milliseconds that it takes about
 */
export async function expectWork(time: number): Promise<void> {
  const use = currentUse();
  await turnOf({ time: use.time + time });
  countShortWork(use, time);
}
