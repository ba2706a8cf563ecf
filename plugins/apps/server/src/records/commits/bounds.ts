import { LRUCache } from 'lru-cache';
import { type Place, placeValues, type RecordWrite } from '../../indexes';
import type { Changes } from './log';

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
export type PlaceDelta = { added: number; removed: number } | null;

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
export function deltaOf({ index, value }: Place, writes: readonly RecordWrite[] | null): PlaceDelta {
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
