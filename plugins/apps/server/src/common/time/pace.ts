import { OwnValue } from '../request-objects';
import { FairQueue } from './mutex';

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

interface Use {
  /** Milliseconds that a request has used of the event loop by this work. */
  time: number;
  /** Its work that must not wait. */
  urgent: number;
}

const newUse = (): Use => ({ time: 0, urgent: 0 });

let currentRequest: () => object | undefined = () => undefined;
let isInTransaction: () => boolean = () => false;
const uses = new OwnValue<object, Use>('use of the event loop');

/**
 * @param current gives the request for which the code runs, the same object each time; undefined where it runs for none
 * @param inTransaction whether the code runs in a transaction: work does not wait in one, because others wait for its connection
 */
export function paceByRequest(current: () => object | undefined, inTransaction: () => boolean): void {
  currentRequest = current;
  isInTransaction = inTransaction;
}

/** Of work for no request: it waits as if it had used a slice. */
const background: Use = { time: SLICE, urgent: 0 };

function currentUse(): Use {
  const request = currentRequest();
  if (!request) return background;
  return uses.getOrMake(request, newUse);
}

/** Runs work in which the request does not wait: it holds a connection, for which others would wait too. */
export async function withoutPauses<T>(work: () => Promise<T>): Promise<T> {
  const use = currentUse();
  use.urgent += 1;
  try {
    return await work();
  } finally {
    use.urgent -= 1;
  }
}

/** Milliseconds that the request for which the code runs has used of the event loop. */
export const requestTime = (): number => currentUse().time;

/** End of the current pause, by `performance.now()`. */
let pauseEnd = 0;
const waiting = new FairQueue<Use>();
let isScheduled = false;

/** Milliseconds of counted work in this iteration of the event loop. */
let spent = 0;
/** The request that may use this iteration, because it has waited, and since when it does. */
let holder: Use | null = null;
let heldSince = 0;
let isCounting = false;

function count(use: Use, time: number): void {
  if (use !== background) use.time += time;
  spent += time;
  countIteration();
}

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
  count(currentUse(), time);
  beginPause(time);
}

function beginPause(time: number): void {
  if (time > SLICE) pauseEnd = Math.max(pauseEnd, performance.now() + time / 2);
}

/**
 * Milliseconds for which this iteration has blocked the event loop. What lies between two pieces of work is not counted, and may be
 * longer than they: of a request that has waited, all counts since it continues.
 */
const blocked = (now: number): number => (holder === null ? spent : Math.max(spent, now - heldSince));

/** Resolves when longer work may continue; at once if there is no pause, or the request has used next to nothing yet. */
export async function untilLoopIsFree(): Promise<void> {
  await turnOf(currentUse());
}

/** As `untilLoopIsFree`, for work of another request than the one for which the code runs. */
export async function untilLoopIsFreeFor(time: number): Promise<void> {
  await turnOf({ time, urgent: 0 });
}

/** Undefined where there is nothing to wait for: a promise for each of a hundred thousand pieces would cost more than they. */
function turnOf(use: Use): Promise<void> | undefined {
  if (use.time < FREE || use.urgent > 0) return undefined;
  const now = performance.now();
  const time = blocked(now);
  const isFree = waiting.size === 0 && now >= pauseEnd;
  if ((time <= SLICE && (isFree || holder === use)) || isInTransaction()) return undefined;
  beginPause(time);
  schedule();
  return waiting.wait(use, use.time);
}

/**
 * Without a pause the next work continues in the next iteration of the event loop: a timer, which takes a millisecond, would
 * keep a queue from ever becoming empty under load. After a pause it does too: Node.js runs timers that expire while others run
 * one after the other, and takes no connection between them.
 */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  const time = pauseEnd - performance.now();
  if (time > 0) setTimeout(() => setImmediate(release), time);
  else setImmediate(release);
}

function release(): void {
  isScheduled = false;
  if (performance.now() >= pauseEnd)
    waiting.resumeFirst((use) => {
      holder = use;
      heldSince = performance.now();
      countIteration();
    });
  if (waiting.size > 0) schedule();
}

/** Runs a piece of work after the current pause, and begins a pause after it. */
export async function paced<T>(work: () => T): Promise<T> {
  // Without `await` where it need not wait: others would find the loop free too, and all would work in one iteration.
  const before = turnOf(currentUse());
  if (before) await before;
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
  const before = turnOf(use);
  if (before) await before;
  const begin = performance.now();
  const result = work();
  // Its caller awaits it; while this waits, its failure must not count as unhandled.
  if (result instanceof Promise) result.catch(() => undefined);
  count(use, performance.now() - begin);
  beginPause(spent);
  const after = turnOf(use);
  if (after) await after;
  return result;
}

/**
 * As `shortWork`, for work that follows at once and cannot be measured.
 * @param time the milliseconds that it takes about
 */
export async function expectWork(time: number): Promise<void> {
  const use = currentUse();
  const before = turnOf({ ...use, time: use.time + time });
  if (before) await before;
  count(use, time);
  beginPause(spent);
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

/** Characters that are encoded at once. */
const MAX_PIECE = 64 * 1024;

/**
 * The texts of entries, and what stands before and after them, as bytes in pieces. They are made in slices of time, and encoded in
 * them too: a text that is put together from others costs its length only when it is read.
 */
export async function* encoded<T>(
  batches: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  textOf: (entry: T) => string,
  { head = '', ending = () => '' }: { head?: string; ending?: () => string } = {},
): AsyncGenerator<Buffer, void> {
  let text = head;
  const take = () => {
    const bytes = Buffer.from(text);
    text = '';
    return bytes;
  };
  const add = (entry: T) => {
    text += textOf(entry);
    return text.length >= MAX_PIECE ? take() : null;
  };
  for await (const batch of batches)
    for await (const pieces of slices(batch, add)) for (const piece of pieces) if (piece) yield piece;
  text += ending();
  if (text !== '') yield take();
}

/**
 * Waits up to `time` milliseconds for `work`, which continues afterwards. Rejects when the work rejects before.
 * @param keepsAlive whether the timer keeps the process running
 */
export async function within<T>(
  work: T | Promise<T>,
  time: number,
  keepsAlive = true,
): Promise<{ value: Awaited<T> } | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, Math.max(1, time), 'late');
    if (!keepsAlive) timer.unref();
  });
  try {
    return await Promise.race([Promise.resolve(work).then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
