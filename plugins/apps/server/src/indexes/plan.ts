import { randomBytes } from 'node:crypto';
import type { Sql } from './database';
import type { Dialect } from './dialects';
import { type StoredLayout, storedLayout } from './layout';
import { covers, type Generation, isCurrent, lockState, planned, type State, saveState } from './state';
import type { IndexDeclarations } from './types';

/** A builder that gave no sign of life for so long (ms) is gone; another one takes over. */
export const silence = 6_000;

/** `add`: the wanted indexes and those that the app has already; `replace`: the wanted ones alone. */
export type BuildMode = 'add' | 'replace';

export interface Plan {
  /** The generation that the caller is to build, marked as its own; null when another process is at it. */
  own: Generation | null;
  /** Whether `own` is to be gone on with where a builder that is gone has stopped; else its tables are to be made. */
  resumed: boolean;
  /** Id of the generation that another process builds. */
  other: string;
  /** Generations whose tables nobody needs any more. */
  dropped: string[];
}

/** Decides, in the transaction, what is to be built for the app and by whom. */
export async function planBuild(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  wanted: IndexDeclarations,
  mode: BuildMode,
): Promise<Plan> {
  const state = await lockState(sql, dialect, scope, 'update');
  const now = Date.now();
  const unready = state.filter((generation) => generation.phase !== 'ready');
  const other = unready.find((generation) => generation.at >= now - silence);
  if (other) return { own: null, resumed: false, other: other.id, dropped: [] };
  const left = unready.find((generation) => canGoOn(generation, wanted, mode));
  const ready = state.filter((generation) => generation.phase === 'ready');
  const builder = randomBytes(8).toString('hex');
  const indexes = mode === 'add' ? merged(ready, wanted) : storedLayout(wanted);
  const own = { ...(left ?? planned(randomBytes(8).toString('hex'), indexes)), builder };
  own.at = now;
  await saveState(sql, scope, [...ready, own]);
  const dropped = unready.filter((generation) => generation !== left).map((generation) => generation.id);
  return { own, resumed: left !== undefined, other: '', dropped };
}

function canGoOn(left: Generation, wanted: IndexDeclarations, mode: BuildMode): boolean {
  if (left.phase !== 'building' || !isCurrent(left)) return false;
  return mode === 'add' ? covers(left, wanted) : JSON.stringify(left.indexes) === JSON.stringify(storedLayout(wanted));
}

/** Processes that still know older declarations keep what they need: else they would build in turns. */
function merged(live: State, wanted: IndexDeclarations): StoredLayout {
  return storedLayout(new Map([...live.flatMap((generation) => generation.indexes), ...wanted]));
}
