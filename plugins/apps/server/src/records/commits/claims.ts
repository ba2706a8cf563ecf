import { createHash } from 'node:crypto';
import type { Sql } from '../../database';
import type { Indexes, Place } from '../../indexes';
import { deltaOf } from './bounds';
import { CollisionError, type Commits } from './commits';
import type { Changes } from './log';

/**
 * What must hold of the number of records in a place when a unit of work is committed, whatever other units commit meanwhile
 * (docs/decisions/places.md): there are at most `max`; or, of a waiting list, none waits while fewer than `max` are taken.
 */
export type Claim =
  | { readonly kind: 'most'; readonly block: string; readonly place: Place; readonly max: number }
  | {
      readonly kind: 'settled';
      readonly block: string;
      readonly taken: Place;
      readonly waiting: Place;
      readonly max: number;
    };

/** A claim of a unit, with its app. */
type ScopeClaim = Claim & { scope: string };

/** The name by which units of work that count records of one block are locked: an app's key, and a digest of the block. */
const lockNameOf = (scope: string, block: string): string =>
  `${scope}/${createHash('sha256').update(block).digest('hex').slice(0, 24)}`;

/** The claims of a unit of work, each once. */
export class Claims {
  private list: ScopeClaim[] = [];
  private readonly known = new Set<string>();

  add(scope: string, claim: Claim): void {
    const made = { ...claim, scope };
    const name = JSON.stringify(made);
    if (this.known.has(name)) return;
    this.known.add(name);
    this.list.push(made);
  }

  /** Saves the state; returns a function that restores it. */
  mark(): () => void {
    const kept = [...this.list];
    return () => {
      this.list = kept;
      this.known.clear();
      for (const claim of kept) this.known.add(JSON.stringify(claim));
    };
  }

  all(): readonly ScopeClaim[] {
    return this.list;
  }
}

/**
 * Locks the blocks of claims until the transaction ends: units that claim something of one block are committed one after the other,
 * and those of other blocks do not wait. Before anything is written, and in one order, so that none waits in a circle.
 */
export async function lockClaims(sql: Sql, indexes: Indexes, claims: readonly ScopeClaim[]): Promise<void> {
  const names = new Set(claims.map(({ scope, block }) => lockNameOf(scope, block)));
  for (const name of [...names].sort()) await indexes.lockName(sql, name);
}

interface CheckTools {
  indexes: Indexes;
  commits: Pick<Commits, 'bounds' | 'counts' | 'log'>;
}

/**
 * Checks claims when all is written: a CollisionError where one does not hold, so that the work runs again and meets what others have
 * committed.
 * @param changes what the transaction has written
 * @param isOpened whether the transaction may have read before it had the locks
 */
export async function checkClaims(
  sql: Sql,
  { indexes, commits }: CheckTools,
  claims: readonly ScopeClaim[],
  { changes, isOpened }: { changes: Changes; isOpened: boolean },
): Promise<void> {
  if (claims.length === 0) return;
  const { bounds, counts, log } = commits;
  // Before anything is counted: what is committed later changes them.
  const others = await counts.look([...new Set(claims.map(({ scope }) => scope))], sql);
  /** The records of a place, or as many as there may be where that is enough. */
  const mostOf = async (scope: string, place: Place, enough: number): Promise<number> => {
    const delta = deltaOf(place, changes.get(scope) ?? []);
    const bound = bounds.get(scope, place);
    if (bound && delta && bound.counts === others.get(scope) && bound.most + delta.added <= enough)
      return bound.most + delta.added;
    const count = await indexes.countPlace(sql, scope, place, isOpened);
    // Dropped since the work has counted: its next attempt has them built.
    if (count === null) {
      bounds.forget(scope, place);
      throw new CollisionError();
    }
    // Another transaction that is being committed may be missing in it.
    if (delta && !log.isCommitting(scope))
      bounds.learn(scope, place, count - delta.added + delta.removed, others.get(scope));
    return count;
  };
  const checked = new Set<string>();
  for (const claim of claims) {
    const name = JSON.stringify(claim);
    if (checked.has(name)) continue;
    checked.add(name);
    const { scope, max } = claim;
    const holds =
      claim.kind === 'most'
        ? (await mostOf(scope, claim.place, max)) <= max
        : (await mostOf(scope, claim.waiting, 0)) === 0 || (await mostOf(scope, claim.taken, 0)) >= max;
    if (!holds) throw new CollisionError();
  }
}
