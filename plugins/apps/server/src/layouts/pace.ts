/*
 * An answer needs some tens of turns of the event loop. Work of many pieces, of which each keeps the loop for some
 * milliseconds, would make every one of these turns late: so each longer piece is followed by a pause of half its length,
 * and only one such work goes on after each pause.
 */

/** Milliseconds for which work may keep the event loop before others have a pause. */
export const SLICE = 10;

/** `performance.now()` until which others have the event loop. */
let pauseEnd = 0;
const waiting: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;

/** After work that has kept the event loop for so many milliseconds. */
export function keptLoop(time: number): void {
  if (time > SLICE) pauseEnd = Math.max(pauseEnd, performance.now() + time / 2);
}

/** Resolves when longer work may go on; at once where nothing has kept the loop for long. */
export async function nextPiece(): Promise<void> {
  if (waiting.length === 0 && performance.now() >= pauseEnd) return;
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (timer) return;
  timer = setTimeout(release, Math.max(1, pauseEnd - performance.now()));
}

function release(): void {
  timer = undefined;
  if (performance.now() >= pauseEnd) waiting.shift()?.();
  if (waiting.length > 0) schedule();
}

/** Does a piece of work when it may go on, and pauses after it. */
export async function paced<T>(work: () => T): Promise<T> {
  await nextPiece();
  const begin = performance.now();
  try {
    return work();
  } finally {
    keptLoop(performance.now() - begin);
  }
}
