import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Sql } from '../../database';
import { type Indexes, type Place, placeValues, type RecordWrite } from '../../indexes';
import type { Commits } from './commits';
import { type Changes, CollisionError, type Position } from './log';

/** Records of a place that are counted in a moment: their number is not remembered. */
const FEW = 200;
const MAX_PLACES = 1_000;

/** What is known of the number of committed records of a place, while no other process has committed anything of its app. */
interface Bound {
  place: Place;
  least: number;
  most: number;
  /** The commits of other processes to the app, as they were before it was counted. */
  counts: string;
}

/** How many records of a place a transaction adds and removes; null where it has more records than are named. */
type PlaceDelta = { added: number; removed: number } | null;

/**
 * Bounds of the numbers of records in places with many of them, so that a block with ten thousand records need not be counted
 * for each new one. This process's own changes move them, whether they are committed or rolled back: they are never too narrow.
 */
export class PlaceBounds {
  private readonly known = new LRUCache<string, Bound>({ max: MAX_PLACES });
  /** The keys of each app. */
  private readonly byScope = new Map<string, Set<string>>();

  get(scope: string, place: Place): Bound | undefined {
    return this.known.get(keyOf(scope, place));
  }

  /** @param count before the transaction in which it was counted has changed anything */
  learn(scope: string, place: Place, count: number, counts: string | undefined): void {
    this.forget(scope, place);
    if (count < FEW || counts === undefined) return;
    const key = keyOf(scope, place);
    this.known.set(key, { place, least: count, most: count, counts });
    if (!this.byScope.has(scope)) this.byScope.set(scope, new Set());
    this.byScope.get(scope)?.add(key);
  }

  /** Takes account of changes that are about to be committed. */
  apply(changes: Changes): void {
    for (const [scope, writes] of changes) {
      for (const key of this.byScope.get(scope) ?? []) {
        const bound = this.known.get(key);
        const delta = bound && deltaOf(bound.place, writes);
        if (bound && delta) {
          bound.most += delta.added;
          bound.least -= delta.removed;
        } else this.drop(scope, key);
      }
    }
  }

  /** Its number is counted again. */
  forget(scope: string, place: Place): void {
    this.drop(scope, keyOf(scope, place));
  }

  private drop(scope: string, key: string): void {
    this.known.delete(key);
    const keys = this.byScope.get(scope);
    keys?.delete(key);
    if (keys?.size === 0) this.byScope.delete(scope);
  }
}

const keyOf = (scope: string, { index, value }: Place): string => JSON.stringify([scope, index, value]);

/** What writes change of the number of records in a place. */
function deltaOf({ index, value }: Place, writes: readonly RecordWrite[] | null): PlaceDelta {
  if (writes === null) return null;
  const has = (record: RecordWrite['after']) => record !== null && placeValues(index, record).includes(value);
  let [added, removed] = [0, 0];
  for (const { before, after } of writes) {
    const [was, is] = [has(before), has(after)];
    if (is && !was) added += 1;
    if (was && !is) removed += 1;
  }
  return { added, removed };
}

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

/** The transaction of which claims are checked. */
interface Claiming {
  /** What it has written. */
  changes: Changes;
  /** Whether it may have read before it had the locks. */
  isOpened: boolean;
  /** When it had the locks: what is committed later may be missing in what it counts. */
  position: Position;
}

/**
 * Checks claims when all is written: a CollisionError where one does not hold, so that the work runs again and meets what others have
 * committed.
 */
export async function checkClaims(
  sql: Sql,
  { indexes, commits }: CheckTools,
  claims: readonly ScopeClaim[],
  { changes, isOpened, position }: Claiming,
): Promise<void> {
  if (claims.length === 0) return;
  const { bounds, counts, log } = commits;
  const scopes = [...new Set(claims.map(({ scope }) => scope))];
  // Before anything is counted, and no newer than that: what is committed later changes them.
  const others = await (isOpened ? counts.look(scopes, sql) : counts.seen(scopes, sql));
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
    // A deletion that is committed beside it, without the lock of the block, may be missing in it.
    if (delta && log.isQuiet(position, scope))
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
