import type { Remembered } from '../../building/readiness';
import type { Row, Statement } from '../../database/database';
import { stateSelect } from '../../tables/state';
import { MAX_LOOKUPS } from '../limits';
import { kindOf, type PlainCondition } from '../operators';
import { concat, type Fragment, fragment, joined } from '../sql/fragment';
import { intersection, type KeyRange } from '../sql/ranges';
import { type IndexAccess, numberOf, type QueryTarget } from '../sql/target';

/** A select of `record`s that include all matches, and their number (up to the target's `maxSorted`). */
export interface AccessPath {
  select: Fragment;
  count: number;
  /** The one index that finds the matches. */
  index?: string;
}

/** Conditions that are counted for one search. */
const MAX_COUNTS = 8;

/** Data that the SQL of a search depends on. */
export interface Estimate {
  /** The narrowest access path to the matches, or null when there is none (a negation, an open disjunction). */
  path: AccessPath | null;
  /** Whether the index has strings longer than a key. */
  long: boolean;
}

/** Runs a statement (SearchSql): a short one at once, any other where it can be ended. */
export type Run = (make: (step: string) => Statement & { short: boolean }) => Promise<Row[]>;

/** The generation of a search is no longer the app's: another one must be chosen. */
export class Outdated extends Error {}

/**
 * Counts the matches of each condition in one statement; null: nothing to count.
 * @param index the field index that is checked for long strings
 * @param remembered the expected state of the app; Outdated when it differs
 */
export async function estimate(
  run: Run,
  target: QueryTarget,
  condition: PlainCondition | null,
  { index, remembered }: { index?: string | undefined; remembered?: Remembered | undefined } = {},
): Promise<Estimate> {
  const counted = [...((condition && candidates(target, condition)) ?? [])].slice(0, MAX_COUNTS);
  const asked: Fragment[] = [];
  if (index !== undefined)
    asked.push(
      fragment(`(select 1 from ${target.tables.bodies} where ix = ? limit 1) as body`, numberOf(target, index)),
    );
  if (remembered) asked.push(fragment(`(${stateSelect}) as state`, remembered.scope));
  if (asked.length + counted.length === 0) return { path: null, long: false };
  const short = counted.length * target.maxSorted <= MAX_LOOKUPS;
  const [row] = await run((step) => {
    const counts = counted.map(([, access], at) => concat(countOf({ ...target, step }, access), ` as n${at}`));
    const { sql, values } = joined([...counts, ...asked], ', ');
    return { sql: `select ${sql}`, values, short };
  });
  if (remembered && row?.state !== remembered.text) throw new Outdated();
  const paths = new Map(
    counted.map(([node, { records }], at): [PlainCondition, AccessPath] => [
      node,
      { select: records, count: Number(row?.[`n${at}`]), index: 'index' in node ? node.index : undefined },
    ]),
  );
  return { path: condition && narrowest(condition, paths), long: (row?.body ?? null) !== null };
}

/** The number of records that a condition finds, up to `maxSorted`; counts a bounded number of entries. */
function countOf({ maxSorted, step }: QueryTarget, { records, repeated }: IndexAccess): Fragment {
  const where = step && ` where ${step}1 = 1`;
  if (!repeated) return concat('(select count(*) from (', records, ` limit ${maxSorted}) d${where})`);
  const maxEntries = 2 * maxSorted;
  const count = `case when count(*) = ${maxEntries} then ${maxSorted} else count(distinct d.record) end`;
  return concat(`(select ${count} from (`, repeated, ` limit ${maxEntries}) d${where})`);
}

/** Whether every condition is a range of the sort index, which then finds the matches alone, without an estimate. */
export function isRange(condition: PlainCondition, index: string): boolean {
  if (condition.kind === 'and') return condition.children.every((child) => isRange(child, index));
  return sortRange(condition, index) !== undefined;
}

/** Index accesses by their conditions, any of which may find the matches; null without one. */
function candidates(target: QueryTarget, node: PlainCondition): [PlainCondition, IndexAccess][] | null {
  const branch = branchOf(node);
  if (branch) {
    const all = branch.children.map((child) => candidates(target, child));
    const found = all.filter((way) => way !== null);
    return found.length === 0 || (branch.kind === 'or' && found.length < all.length) ? null : found.flat();
  }
  const access = 'children' in node || node.kind === 'not' ? undefined : kindOf(node).access?.(target, node);
  return access ? [[node, access]] : null;
}

function narrowest(node: PlainCondition, paths: ReadonlyMap<PlainCondition, AccessPath>): AccessPath | null {
  const branch = branchOf(node);
  if (!branch) return paths.get(node) ?? null;
  const all = branch.children.map((child) => narrowest(child, paths));
  const found = all.filter((path) => path !== null);
  if (found.length === 0 || (branch.kind === 'or' && found.length < all.length)) return null;
  if (branch.kind === 'and') return found.reduce((best, path) => (path.count < best.count ? path : best));
  const selects = found.map(({ select }) => select);
  return { select: joined(selects, ' union '), count: found.reduce((sum, { count }) => sum + count, 0) };
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
