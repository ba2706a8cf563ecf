import { kindOf, type PlainCondition } from '../query/operators';
import type { IndexAccess, QueryTarget } from '../query/sql';
import { type Fragment, intersection, joined, type KeyRange } from '../query/sql';
import { CREATOR_INDEX } from '../tables/layout';

/** A select of `record`s that include all matches, and their number (up to the target's `maxSorted`). */
export interface AccessPath {
  select: Fragment;
  count: number;
  /** The one condition whose matches it finds, and how; null for a union of several. */
  source: { node: PlainCondition; access: IndexAccess } | null;
}

/** Whether a path reads the entries of this index alone. */
export function readsIndex(path: AccessPath | null, index: string): boolean {
  const node = path?.source?.node;
  return node !== undefined && 'index' in node && node.index === index;
}

/** Whether every condition is a range of the sort index, which then finds the matches alone, without an estimate. */
export function isRange(condition: PlainCondition, index: string): boolean {
  if (condition.kind === 'and') return condition.children.every((child) => isRange(child, index));
  return sortRange(condition, index) !== undefined;
}

/** Index accesses by their conditions, any of which may find the matches; null without one. */
export function candidates(target: QueryTarget, node: PlainCondition): [PlainCondition, IndexAccess][] | null {
  const branch = branchOf(node);
  if (branch) {
    const all = branch.children.map((child) => candidates(target, child));
    const found = all.filter((way) => way !== null);
    return found.length === 0 || (branch.kind === 'or' && found.length < all.length) ? null : found.flat();
  }
  const access = 'children' in node || node.kind === 'not' ? undefined : kindOf(node).access?.(target, node);
  return access ? [[node, access]] : null;
}

export type CreatorCondition = PlainCondition & { kind: 'compare' };

/** The condition on the creator of a search for one's own records, which every match meets; undefined for other searches. */
export function creatorCondition(condition: PlainCondition): CreatorCondition | undefined {
  const all = condition.kind === 'and' ? condition.children : [condition];
  return all.find((one): one is CreatorCondition => one.kind === 'compare' && one.index === CREATOR_INDEX);
}

/** The access path with the fewest records, of those that were counted. */
export function narrowest(node: PlainCondition, paths: ReadonlyMap<PlainCondition, AccessPath>): AccessPath | null {
  const branch = branchOf(node);
  if (!branch) return paths.get(node) ?? null;
  const all = branch.children.map((child) => narrowest(child, paths));
  const found = all.filter((path) => path !== null);
  if (found.length === 0 || (branch.kind === 'or' && found.length < all.length)) return null;
  if (branch.kind === 'and') return found.reduce((best, path) => (path.count < best.count ? path : best));
  const selects = found.map(({ select }) => select);
  return { select: joined(selects, ' union '), count: found.reduce((sum, { count }) => sum + count, 0), source: null };
}

/** A conjunction or disjunction whose children find its records. */
export function branchOf(
  node: PlainCondition,
): { kind: 'and' | 'or'; children: readonly PlainCondition[] } | undefined {
  if ('children' in node) return node;
  const children = node.kind === 'not' ? undefined : kindOf(node).implied?.(node);
  return children && { kind: 'and', children };
}

/**
 * The range of the sort index that contains all matches; undefined when the condition does not bound it. A superset for
 * long strings, whose keys are cut.
 */
export function sortRange(condition: PlainCondition, index: string): KeyRange | undefined {
  if (condition.kind === 'or' || condition.kind === 'not') return undefined;
  if (condition.kind !== 'and')
    return 'index' in condition && condition.index === index ? kindOf(condition).range?.(condition) : undefined;
  const ranges = condition.children.flatMap((node) => sortRange(node, index) ?? []);
  return ranges.length ? ranges.reduce(intersection) : undefined;
}
