import { AppsError } from '../../common/errors';
import { recordWork, untilLoopIsFree } from '../../common/time/pace';

/** Documents, components and files that a result may have, each counted as often as it occurs. */
const MAX_ENTRIES = 2_500;

/** Entries that are sanitised at once; the server then serves others. */
const PIECE = 50;

/** Entries in a value: objects with an id, and those inside of them, but not those in JSON. Counting stops above `max`. */
function entriesIn(value: unknown, max: number): number {
  const waiting = [value];
  let count = 0;
  while (waiting.length > 0 && count <= max) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const isEntry = !Array.isArray(next) && Object.hasOwn(next, 'id');
    if (isEntry) count += 1;
    if (isEntry || Array.isArray(next)) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return count;
}

/**
 * Sanitises what a query has found, piece by piece if it is a long list. PayloadTooLargeError, before that, for a result that
 * is too large: a document that several others populate occurs once for each of them, and levels multiply.
 * @param show sanitises one value, or a list of them in the same order
 */
export async function inPieces<T>(found: unknown, show: (value: unknown) => Promise<T>): Promise<T> {
  if (!Array.isArray(found)) {
    if (entriesIn(found, MAX_ENTRIES) > MAX_ENTRIES) throw tooLarge();
    return show(found);
  }
  const pieces: unknown[][] = [[]];
  let [all, inPiece] = [0, 0];
  for (const one of found) {
    const count = entriesIn(one, MAX_ENTRIES);
    all += count;
    inPiece += count;
    if (all > MAX_ENTRIES) throw tooLarge();
    pieces.at(-1)?.push(one);
    if (inPiece < PIECE) continue;
    pieces.push([]);
    inPiece = 0;
  }
  const shown: unknown[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await untilLoopIsFree();
    const begin = performance.now();
    shown.push(...((await show(piece)) as unknown[]));
    if (pieces.length > 1) recordWork(performance.now() - begin);
  }
  return shown as T;
}

const tooLarge = () =>
  new AppsError(
    'PayloadTooLargeError',
    `The result has more than ${MAX_ENTRIES} entries with what it populates: ask for fewer, or populate less.`,
  );
