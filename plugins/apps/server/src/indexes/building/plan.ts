import { randomBytes } from 'node:crypto';
import type { Sql } from '../database/database';
import type { Dialect } from '../dialects';
import { type StoredLayout, storedLayout } from '../tables/layout';
import { covers, type Generation, isCurrent, lockState, planned, type State, saveState } from '../tables/state';
import type { IndexDeclarations } from '../types';

/** Milliseconds without a heartbeat after which another builder takes over. */
export const builderTimeout = 6_000;

/** `add`: the wanted indexes and the existing ones of the app; `replace`: the wanted ones alone. */
export type BuildMode = 'add' | 'replace';

export interface Plan {
  /** The generation that the caller must build, marked as its own; null when another process builds. */
  own: Generation | null;
  /** Whether `own` resumes the work of a builder that is gone; otherwise its tables must be created. */
  resumed: boolean;
  /** Id of the generation that another process builds. */
  other: string;
  /** Generations whose tables are no longer needed. */
  dropped: string[];
}

/** Decides, in the transaction, which generation of the app is built, and by which process. */
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
  const other = unready.find((generation) => generation.at >= now - builderTimeout);
  if (other) return { own: null, resumed: false, other: other.id, dropped: [] };
  const left = unready.find((generation) => canResume(generation, wanted, mode));
  const ready = state.filter((generation) => generation.phase === 'ready');
  const builder = randomBytes(8).toString('hex');
  const indexes = mode === 'add' ? merged(ready, wanted) : storedLayout(wanted);
  const own = { ...(left ?? planned(randomBytes(8).toString('hex'), indexes)), builder };
  own.at = now;
  await saveState(sql, scope, [...ready, own]);
  const dropped = unready.filter((generation) => generation !== left).map((generation) => generation.id);
  return { own, resumed: left !== undefined, other: '', dropped };
}

function canResume(left: Generation, wanted: IndexDeclarations, mode: BuildMode): boolean {
  if (left.phase !== 'building' || !isCurrent(left)) return false;
  return mode === 'add' ? covers(left, wanted) : JSON.stringify(left.indexes) === JSON.stringify(storedLayout(wanted));
}

/** Keeps the indexes of processes with older declarations: otherwise each would rebuild what the other drops. */
function merged(live: State, wanted: IndexDeclarations): StoredLayout {
  return storedLayout(new Map([...live.flatMap((generation) => generation.indexes), ...wanted]));
}
