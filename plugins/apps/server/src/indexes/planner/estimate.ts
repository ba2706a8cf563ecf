import { isAppsError } from '../../common/errors';
import { type Dialect, isFailure, type Row, type ScanGuard, type Sql, type Statement } from '../../database';
import type { Remembered } from '../building/readiness';
import { encodeTerm, missingKey } from '../keys';
import { MAX_LOOKUPS } from '../query/limits';
import { kindOf, type PlainCondition } from '../query/operators';
import {
  concat,
  type Fragment,
  fragment,
  type IndexAccess,
  intersection,
  joined,
  type KeyRange,
  numberOf,
  type QueryTarget,
  termsByTerm,
} from '../query/sql';
import type { Place } from '../rows';
import {
  CREATOR_INDEX,
  type Generation,
  type LaidOutIndex,
  layoutOf,
  sortedTable,
  stateSelect,
  tablesOf,
} from '../tables';
import type { SearchSql } from './planner';
import type { Order, Selection } from './select';

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

export type CreatorCondition = PlainCondition & { kind: 'compare' };

/** The condition on the creator of a search for one's own records, which every match meets; undefined for other searches. */
export function creatorCondition(condition: PlainCondition): CreatorCondition | undefined {
  const all = condition.kind === 'and' ? condition.children : [condition];
  return all.find((one): one is CreatorCondition => one.kind === 'compare' && one.index === CREATOR_INDEX);
}

/** The access path with the fewest records, of those that were counted. */
function narrowest(node: PlainCondition, paths: ReadonlyMap<PlainCondition, AccessPath>): AccessPath | null {
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

/** What was counted for a query. */
interface Counts {
  /** Matches of each condition, up to the cap: a number that has reached it stands for any larger one. */
  numbers: readonly number[];
  cap: number;
}

/** The statement of a search. */
export interface SearchPlan {
  estimate: Estimate;
  /** What the plan verifies of the app, where it was made for a remembered generation. */
  remembered: Remembered | undefined;
  make: (guard: ScanGuard) => Statement & { short: boolean };
  /** Whether it may find fewer matches than there are (`boundedWalk` of planner.ts). */
  isWalk: boolean;
}

/** Milliseconds for which counts, and the plans that they have chosen, are used again. */
export const MAX_AGE = 2_000;
/** Plans that are kept of one query: those of its pages and orders. */
const MAX_PLANS = 8;

/** What is known of a query in one generation of indexes, for a moment: it chooses plans, and never changes their result. */
export class CountCache {
  counts: Counts | undefined;
  readonly plans = new Map<string, SearchPlan>();
  /** Pages that a bounded walk has not found. */
  readonly exhausted = new Set<string>();
  private readonly end = performance.now() + MAX_AGE;

  /**
   * @param tables names the generation
   * @param longs sort indexes, and whether they had strings longer than a key: all queries of the generation share them
   */
  constructor(
    private readonly tables: string,
    readonly longs: Map<string, boolean>,
  ) {}

  isCurrent(tables: string): boolean {
    return this.tables === tables && performance.now() < this.end;
  }

  keep(page: string, plan: SearchPlan): void {
    const [oldest] = this.plans.keys();
    if (this.plans.size >= MAX_PLANS && oldest !== undefined) this.plans.delete(oldest);
    this.plans.set(page, plan);
  }
}

/** Conditions that are counted for one search. */
const MAX_CONDITIONS = 8;

/** Matches up to which all conditions are counted first: where one has fewer, the others need no more counting. */
export const firstCount = ({ maxSorted }: QueryTarget): number => Math.min(500, maxSorted);

/** Data that the SQL of a search depends on. */
export interface Estimate {
  /** The narrowest access path to the matches, or null when there is none (a negation, an open disjunction). */
  path: AccessPath | null;
  /** Whether the index has strings longer than a key. */
  long: boolean;
  /** What has not been read again, because it was known: the statement of the search itself must find that this condition holds. */
  assumes: Fragment | undefined;
}

/** Runs a statement (SearchSql): a short one at once, any other where it can be ended. */
export type RunQuery = (make: SearchPlan['make']) => Promise<Row[]>;

/** The generation of a search is no longer the app's, or the counts were out of date: it must begin again. */
export class StalePlan extends Error {}

interface EstimateOptions {
  /** The field index that is checked for long strings. */
  index?: string | undefined;
  /** The expected state of the app; StalePlan when it differs. */
  remembered?: Remembered | undefined;
  cache: CountCache;
  /** Number up to which matches are counted; by default the target's `maxSorted`. */
  maxCount?: number;
}

const uncounted: Counts = { numbers: [], cap: 0 };

/**
 * Counts the matches of each condition, unless they were counted a moment ago; null: nothing to count. See
 * docs/decisions/search-plans.md.
 */
export async function estimate(
  run: RunQuery,
  target: QueryTarget,
  condition: PlainCondition | null,
  { index, remembered, cache, maxCount = target.maxSorted }: EstimateOptions,
): Promise<Estimate> {
  const counted = [...((condition && candidates(target, condition)) ?? [])].slice(0, MAX_CONDITIONS);
  const accesses = counted.map(([, access]) => access);
  const choose = ({ numbers }: Counts) => condition && narrowest(condition, pathsOf(counted, numbers));
  /** Whether the count of a path is exact, or so large that no more has to be known. */
  const isEnough = (counts: Counts) => {
    const path = choose(counts);
    return !path || path.count < counts.cap || counts.cap >= maxCount;
  };
  const known = condition ? cache.counts : uncounted;
  const isCounted = known !== undefined && isEnough(known);
  const isLong = index === undefined ? false : cache.longs.get(index);
  if (isCounted && isLong !== undefined)
    return { path: choose(known), long: isLong, assumes: assumption(target, isLong ? undefined : index, remembered) };
  const asked: Fragment[] = [];
  if (index !== undefined) asked.push(fragment(`${longSql(target, index)} as body`));
  if (remembered) asked.push(holds(isRemembered(remembered)));
  // A walk, or another page, has counted too little for this one.
  let cap = known && !isCounted ? target.maxSorted : firstCount(target);
  const first = await countAll(run, target, isCounted ? [] : accesses, asked, cap);
  if (remembered && Number(first.row?.holds) !== 1) throw new StalePlan();
  const long = index !== undefined && hasLong(target, index, first.row?.body);
  let counts: Counts = isCounted ? known : { numbers: first.numbers, cap };
  if (!isEnough(counts)) {
    cap = target.maxSorted;
    counts = { numbers: (await countAll(run, target, accesses, [], cap)).numbers, cap };
  }
  if (condition) cache.counts = counts;
  if (index !== undefined) cache.longs.set(index, long);
  return { path: choose(counts), long, assumes: undefined };
}

/** Counts the records of each access up to `cap`; the row has what else was asked. */
async function countAll(
  run: RunQuery,
  target: QueryTarget,
  accesses: readonly IndexAccess[],
  asked: readonly Fragment[],
  cap: number,
): Promise<{ row: Row | undefined; numbers: number[] }> {
  if (accesses.length + asked.length === 0) return { row: undefined, numbers: [] };
  const [row] = await run((guard) => {
    const counts = accesses.map((access, at) => concat(countOf({ ...target, guard }, access, cap), ` as n${at}`));
    const { sql, values } = joined([...counts, ...asked], ', ');
    return { sql: `select ${sql}`, values, short: accesses.length * cap <= MAX_LOOKUPS };
  });
  return { row, numbers: accesses.map((_, at) => Number(row?.[`n${at}`])) };
}

/** The number of records that a condition finds, up to `cap`; counts a bounded number of entries. */
function countOf({ guard }: QueryTarget, { records, repeated }: IndexAccess, cap: number): Fragment {
  const where = guard && ` where ${guard}1 = 1`;
  if (!repeated) return concat('(select count(*) from (', records, ` limit ${cap}) d${where})`);
  const maxEntries = 2 * cap;
  const count = `case when count(*) = ${maxEntries} then ${cap} else count(distinct d.record) end`;
  return concat(`(select ${count} from (`, repeated, ` limit ${maxEntries}) d${where})`);
}

function pathsOf(
  counted: readonly [PlainCondition, IndexAccess][],
  numbers: readonly number[],
): Map<PlainCondition, AccessPath> {
  return new Map(
    counted.map(([node, access], at) => [
      node,
      { select: access.records, count: numbers[at] as number, source: { node, access } },
    ]),
  );
}

/**
 * The number of the index if it has a long string, else another number or NULL: one entry of the index on `ix`. For `ix = ?`
 * PostgreSQL may plan to read the whole table.
 */
const longSql = (target: QueryTarget, index: string): string =>
  `(select min(ix) from ${target.tables.bodies} where ix >= ${numberOf(target, index)})`;

const hasLong = (target: QueryTarget, index: string, body: unknown): boolean =>
  body !== null && Number(body) === numberOf(target, index);

/** The condition that the app's state is still the remembered one, and that the index has no long strings. */
function assumption(
  target: QueryTarget,
  index: string | undefined,
  remembered: Remembered | undefined,
): Fragment | undefined {
  const parts: Fragment[] = [];
  if (remembered) parts.push(isRemembered(remembered));
  if (index !== undefined)
    parts.push(fragment(`coalesce(${longSql(target, index)}, -1) <> ${numberOf(target, index)}`));
  return parts.length ? joined(parts, ' and ') : undefined;
}

/** The condition that what is remembered of the app still holds. */
function isRemembered({ scope, text, whole }: Remembered): Fragment {
  const state = fragment(`(${stateSelect}) = ?`, scope, text);
  return whole ? joined([state, whole], ' and ') : state;
}

/** Whether a condition holds, as the column `holds`. */
export const holds = (condition: Fragment): Fragment => concat('case when ', condition, ' then 1 else 0 end as holds');

/** Index entries that a test of one record reads at most; infinite where it must read a text. */
function lookups(condition: PlainCondition): number {
  if ('children' in condition) return condition.children.reduce((sum, child) => sum + lookups(child), 0);
  return condition.kind === 'not' ? lookups(condition.child) : kindOf(condition).lookups(condition);
}

/** Index entries that the sort key of one record reads at most. */
function orderLookups(order: Order): number {
  if (order.kind === 'creation') return 0;
  if (order.kind === 'field') return order.long ? Number.POSITIVE_INFINITY : 1;
  return order.words.some(({ prefix }) => prefix) ? Number.POSITIVE_INFINITY : order.words.length;
}

/** Whether a short statement can test and sort `count` records. */
export function isShortTest(count: number, condition: PlainCondition, order: Order): boolean {
  return count * (1 + lookups(condition) + orderLookups(order)) <= MAX_LOOKUPS;
}

/** Whether every row of a walk in the wanted order matches, and the offset is not too large. */
export function isShortWalk({ condition, order, limit, offset }: Selection): boolean {
  if (limit + offset > MAX_LOOKUPS) return false;
  if (condition.kind === 'constant') return order.kind !== 'field' || !order.long;
  switch (order.kind) {
    case 'creation':
      return false;
    case 'field':
      return !order.long && isRange(condition, order.index) && sortRange(condition, order.index)?.exact === true;
    case 'relevance':
      return condition.kind === 'word' && condition.index === order.index;
  }
}

/** Whether a short statement can read the rows of the page and of its offset. */
export function isShortPage({ limit, offset }: { limit: number; offset: number }): boolean {
  return limit + offset <= MAX_LOOKUPS;
}

/** Those that are counted fast come first: the time is that of one search. */
const order = { field: 0, keyword: 1, text: 2 } as const;

/**
 * The entries of each index of a generation: records that have a value, for a field index; else pairs of a record and one of
 * its keywords or words. Null where counting would take too long.
 */
export async function countEntries(sql: SearchSql, target: QueryTarget): Promise<Map<string, number | null>> {
  const sizes = new Map<string, number | null>();
  const indexes = [...target.layout.values()].sort((a, b) => order[a.type] - order[b.type]);
  for (const index of indexes) sizes.set(index.name, await sizeOf(sql, target, index));
  return sizes;
}

async function sizeOf(sql: SearchSql, target: QueryTarget, { type, number }: LaidOutIndex): Promise<number | null> {
  const [from, condition, values] =
    type === 'field'
      ? [target.tables.fields, `k${number} < ?`, [missingKey]]
      : [termsByTerm(target), 'ix = ?', [number]];
  try {
    const [row] = await sql.long((guard) => ({
      sql: `select count(*) as n from ${from} where ${guard}${sql.visible('record')}${condition}`,
      values,
    }));
    return Number(row?.n);
  } catch (error) {
    // A newer generation has replaced this one meanwhile.
    if (isAppsError(error, 'ServiceUnavailableError') || isFailure(error, 'missing-table')) return null;
    throw error;
  }
}

/** The records of a place in a generation that has its index. @param isNewest see Indexes.countPlace */
export async function countTerm(
  sql: Sql,
  dialect: Dialect,
  { id, indexes }: Generation,
  { index, value }: Place,
  isNewest: boolean,
): Promise<number> {
  const number = layoutOf(indexes).get(index)?.number;
  const { terms } = tablesOf(id);
  const ending = isNewest ? dialect.newest : '';
  const table = dialect.sortedTerms ? sortedTable(terms) : terms;
  const from = `select record from ${table} where ${sql.visible('record')}ix = ? and term = ?${ending}`;
  const [row] = await sql.rows(`select count(*) as n from (${from}) t`, [number, encodeTerm(value)]);
  return Number(row?.n);
}
