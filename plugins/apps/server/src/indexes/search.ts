import { LRUCache } from 'lru-cache';
import type { Items } from '../../../shared/json';
import { AppsError, isAppsError } from '../common/errors';
import type { Row, Sql, Statement } from './database';
import type { Dialect } from './dialects';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits, unknownIndex } from './query';
import { MAX_LOOKUPS } from './query/limits';
import { matches } from './query/matches';
import { concat, type Fragment, type QueryTarget } from './query/sql';
import { isRange } from './query/statement/access-path';
import { boundedWalk, mayWalk } from './query/statement/bounded-walk';
import {
  type Estimate,
  type EstimateOptions,
  estimate,
  firstCount,
  isShortPage,
  MAX_AGE,
  Outdated,
  type Run,
} from './query/statement/estimate';
import { indexesOf, lower } from './query/statement/lower';
import { countSql, orderBy, type Selection, selection } from './query/statement/select';
import { BLOCK_INDEX, CREATOR_INDEX, FILES_INDEX, layoutOf, tablesOf, UNCONFIRMED_INDEX } from './tables/layout';
import type { Place, UnconfirmedAs } from './tables/places';
import type { IndexedRecord } from './tables/rows';
import type { Generation } from './tables/state';
import type { IndexDeclarations, IndexType, SearchAfter } from './types';

/** Runs the statements of a search. */
export interface SearchSql extends Pick<Sql, 'rows' | 'visible'> {
  /** Whether a statement whose plan bounds the rows that it reads may read many more, all of pending batches. */
  isLoaded(): boolean;
  /** Rows of a statement that may read any number of rows (LongReads). */
  long(statement: (step: string) => Statement): Promise<Row[]>;
}

/** The records table, which belongs to records/: its rows are passed through unchanged. */
export interface RecordsTable {
  name: string;
  /** The selected columns of up to `limit` found records `r`. */
  columns(limit: number): string;
}

const all: Condition = { kind: 'constant', value: true };

/** The statement of a search: `make` makes it with a condition to evaluate for each row, or with ''. */
interface Plan {
  found: Estimate;
  make: (step: string) => Statement & { short: boolean };
  /** Whether it may find fewer matches than there are (bounded-walk.ts). */
  isWalk: boolean;
}

/** A plan, and what it was made for besides the search. */
interface KeptPlan extends Plan {
  tables: string;
  state: string | undefined;
  /** When (performance.now()) a bounded walk is tried again, after one that found too few matches. */
  nextWalk: number;
}

/** The last plan of each search; it is used again while the counts that chose it are kept. */
export type Plans = WeakMap<CheckedSearch, KeptPlan>;

/**
 * Rows of the records table in the wanted order, from the tables of a generation that holds the needed indexes. Outdated
 * when the remembered state that named the generation is no longer the app's.
 */
export async function searchGeneration(
  sql: SearchSql,
  target: QueryTarget,
  table: RecordsTable,
  search: CheckedSearch,
  options: EstimateOptions & { plans: Plans },
): Promise<Row[]> {
  const [tables, state] = [target.tables.fields, options.remembered?.text];
  const run = runOn(sql);
  const planned = async (nextWalk: number): Promise<Plan> => {
    const plan = await planOf(run, target, table, search, options, performance.now() >= nextWalk);
    options.plans.set(search, { ...plan, tables, state, nextWalk });
    return plan;
  };
  const kept = options.plans.get(search);
  const isCurrent = kept?.tables === tables && kept.state === state && kept.found.isKept();
  let plan = isCurrent ? kept : await planned(kept?.nextWalk ?? 0);
  let rows = await run(plan.make);
  if (plan.isWalk && rows.length < search.limit) {
    plan = await planned(performance.now() + MAX_AGE);
    rows = await run(plan.make);
  }
  await prove(sql, plan.found, rows[0]);
  return rows;
}

/** @param walks whether a bounded walk may be tried */
async function planOf(
  run: Run,
  target: QueryTarget,
  table: RecordsTable,
  search: CheckedSearch,
  options: EstimateOptions,
  walks: boolean,
): Promise<Plan> {
  const condition = search.condition ?? all;
  const plain = lower(condition);
  const { sortIndex } = search;
  const byField = sortIndex !== undefined && target.layout.get(sortIndex)?.type === 'field';
  const wantedWith = (found?: Estimate): Selection => {
    const order = orderBy(target, condition, sortIndex, found?.long ?? false);
    return { ...search, condition: plain, path: found?.path ?? null, order };
  };
  const tries = walks && mayWalk(target, wantedWith());
  const counted = byField && isRange(plain, sortIndex) ? null : plain;
  const index = byField ? sortIndex : undefined;
  const found = await estimate(run, target, counted, {
    ...options,
    index,
    ...(tries && { maxCount: firstCount(target) }),
  });
  if (tries && found.long) return planOf(run, target, table, search, options, false);
  const isWalk = tries && !(found.path && found.path.count < firstCount(target));
  const make: Plan['make'] = (step) => {
    const select = isWalk ? boundedWalk : selection;
    const selected = select({ ...target, step }, wantedWith(found));
    const columns = selected.order.replace(/\b(s\d|record)\b/g, 'x.$1');
    const head = concat(`select ${table.columns(search.limit)}`, proofColumn(found), ' from (');
    const tail = `) x cross join ${table.name} r where r.id = x.record order by ${columns}`;
    return { ...concat(head, selected.select, tail), short: selected.short };
  };
  const first = make('');
  return { found, make: (step) => (step === '' ? first : make(step)), isWalk };
}

/** A column that tells whether what the search has taken for granted holds. */
const proofColumn = ({ unproven }: Estimate): Fragment | string =>
  unproven ? concat(', case when ', unproven, ' then 1 else 0 end as proven') : '';

/** Outdated when it does not hold. @param row of the search's statement; without one, it is asked for */
async function prove(sql: SearchSql, { unproven, forget }: Estimate, row: Row | undefined): Promise<void> {
  if (!unproven) return;
  const [found] = row
    ? [row]
    : await sql.rows(`select case when ${unproven.sql} then 1 else 0 end as proven`, unproven.values);
  if (Number(found?.proven) === 1) return;
  forget();
  throw new Outdated();
}

export async function countGeneration(
  sql: SearchSql,
  target: QueryTarget,
  condition: Condition,
  options: EstimateOptions,
): Promise<number> {
  const plain = lower(condition);
  const found = await estimate(runOn(sql), target, plain, options);
  const [row] = await runOn(sql)((step) => {
    const { select, short } = countSql({ ...target, step }, plain, found.path, proofColumn(found));
    return { ...select, short };
  });
  await prove(sql, found, row);
  return Number(row?.n);
}

/** Records of an app in order of creation, or in reverse. */
export function pageOfAll(sql: SearchSql, table: RecordsTable, scope: string, search: CheckedSearch): Promise<Row[]> {
  const { limit, offset, after, reverse } = search;
  const order = reverse ? 'r.id desc' : 'r.id';
  return runOn(sql)((step) => ({
    sql: `select ${table.columns(limit)} from ${table.name} r where ${step}${sql.visible('r.id')}r.scope = ? and r.id > ? order by ${order} limit ? offset ?`,
    values: [scope, after, limit, offset],
    short: isShortPage(search),
  }));
}

/** Number of all records of an app; up to `MAX_LOOKUPS` are counted by a short statement. */
export async function countOfAll(sql: SearchSql, table: RecordsTable, scope: string): Promise<number> {
  if (!sql.isLoaded()) {
    const bounded = `select count(*) as n from (select 1 from ${table.name} where ${sql.visible('id')}scope = ? limit ${MAX_LOOKUPS}) r`;
    const [first] = await sql.rows(bounded, [scope]);
    if (Number(first?.n) < MAX_LOOKUPS) return Number(first?.n);
  }
  const [row] = await sql.long((step) => ({
    sql: `select count(*) as n from ${table.name} where ${step}${sql.visible('id')}scope = ?`,
    values: [scope],
  }));
  return Number(row?.n);
}

function runOn(sql: SearchSql): Run {
  return (make) => {
    const { short, ...statement } = make('');
    return short && !sql.isLoaded() ? sql.rows(statement.sql, statement.values) : sql.long(make);
  };
}

/** Limits of a plan: see QueryTarget. */
export type PlanLimits = Pick<QueryTarget, 'maxSorted' | 'maxWalk'>;

/** The target of queries on a generation. */
export function targetOf(dialect: Dialect, generation: Generation, limits: PlanLimits): QueryTarget {
  return { dialect, layout: layoutOf(generation.indexes), tables: tablesOf(generation.id), ...limits, step: '' };
}

/** A search whose query, names and numbers were checked (docs/reference/search.md). */
interface CheckedSearch {
  condition: Condition | null;
  sortIndex: string | undefined;
  reverse: boolean;
  limit: number;
  offset: number;
  /** `seq` after which the matches begin; 0: all. */
  after: number;
  withTotal: boolean;
  /** The indexes that it needs; empty when the records table is enough. */
  needed: IndexDeclarations;
}

/** Checked searches by the declared indexes of an app and by their text: pages ask for the same ones again and again. */
const checked = new WeakMap<IndexDeclarations, LRUCache<string, CheckedSearch>>();
const MAX_CHECKED = 500;
/** Characters of a query and its values, and of all that are kept of an app: a search and its statement are many times larger. */
const MAX_KEY = 2_000;
const MAX_KEYS = 50_000;

/** Checks a search before any statement; BadRequestError for every mistake in it. */
export function checkSearch(declared: IndexDeclarations, options: SearchAfter): CheckedSearch {
  const { query = '', sortIndex, reverse = false, limit = queryLimits.limit, offset = 0, withTotal = false } = options;
  checkNumber('limit', limit, queryLimits.limit);
  checkNumber('offset', offset, Number.MAX_SAFE_INTEGER - queryLimits.limit);
  // A search that goes on after a record comes once: it must not displace those that are kept.
  if (query.length > MAX_KEY || options.after || options.files) return newSearch(declared, options, limit, offset);
  const known = checked.get(declared) ?? new LRUCache<string, CheckedSearch>({ max: MAX_CHECKED, maxSize: MAX_KEYS });
  checked.set(declared, known);
  const key = JSON.stringify([
    limit,
    offset,
    reverse,
    withTotal,
    query,
    sortIndex,
    options.names,
    options.creator,
    options.block,
    options.place,
    options.confirmed,
  ]);
  const search = known.get(key) ?? newSearch(declared, options, limit, offset);
  if (key.length <= MAX_KEY) known.set(key, search, { size: key.length });
  return search;
}

/**
 * A test whether a record is a match of a search, computed from the record alone. BadRequestError for every mistake in the
 * search.
 */
export function searchMatcher(
  declared: IndexDeclarations,
  options: SearchAfter,
): (record: Omit<IndexedRecord, 'seq'>) => boolean {
  if (options.creator === '') return () => false;
  const { condition } = checkSearch(declared, options);
  return condition === null ? () => true : (record) => matches(record, condition);
}

/**
 * Why a search with these texts fails in an app with the declared indexes; null where it does not, or may not.
 * @param mayHaveNames whether the values of names in the query may be given: what depends on them is then not checked
 */
export function searchProblem(
  declared: IndexDeclarations,
  { query, sortIndex }: Pick<SearchAfter, 'query' | 'sortIndex'>,
  mayHaveNames: boolean,
): string | null {
  const wrong = refusalOf(() => parseQuery(query ?? ''));
  if (wrong) return wrong.reason;
  const tree = parseQuery(query ?? '');
  const refused = tree && refusalOf(() => checkQuery(tree, declared, mayHaveNames ? anyValue : {}));
  if (refused && (!mayHaveNames || refused.index !== undefined)) return refused.reason;
  return sortIndex === undefined ? null : (refusalOf(() => sortType(declared, sortIndex))?.reason ?? null);
}

/** A value for each name. */
const anyValue: Items = new Proxy(
  {},
  { get: () => '', getOwnPropertyDescriptor: () => ({ value: '', configurable: true, enumerable: true }) },
);

/** The reason and the index of the BadRequestError that `work` throws; null where it throws none. */
function refusalOf(work: () => unknown): { reason: string; index?: string } | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!isAppsError(error, 'BadRequestError')) throw error;
    return error.details as { reason: string; index?: string };
  }
}

function newSearch(
  declared: IndexDeclarations,
  { sortIndex, reverse = false, after = 0, withTotal = false, ...asks }: SearchAfter,
  limit: number,
  offset: number,
): CheckedSearch {
  const { query, names, creator, block, files, place, confirmed } = asks;
  const asked = checkCondition(declared, query, names);
  const needed = new Map<string, IndexType>();
  for (const name of asked ? indexesOf(asked) : []) needed.set(name, indexType(declared, name, 1));
  if (sortIndex !== undefined) {
    const type = sortType(declared, sortIndex);
    if (type !== 'text' || needed.has(sortIndex)) needed.set(sortIndex, type);
  }
  if (creator) needed.set(CREATOR_INDEX, 'field');
  if (block !== undefined) needed.set(BLOCK_INDEX, 'field');
  if (files) needed.set(FILES_INDEX, 'keyword');
  if (place) needed.set(place.index, 'keyword');
  if (confirmed) needed.set(UNCONFIRMED_INDEX, 'keyword');
  return {
    condition: together(
      [
        ...(creator ? [equal(CREATOR_INDEX, creator)] : []),
        ...(block === undefined ? [] : [equal(BLOCK_INDEX, block)]),
        ...(files ? [naming(files)] : []),
        ...(place ? [inPlace(place)] : []),
        ...(confirmed ? [notUnconfirmed] : []),
      ],
      asked,
    ),
    sortIndex: needed.has(sortIndex ?? '') ? sortIndex : undefined,
    reverse,
    limit,
    offset,
    after,
    withTotal,
    needed,
  };
}

function checkCondition(
  declared: IndexDeclarations,
  query: string | undefined,
  names: Items | undefined,
): Condition | null {
  const tree = parseQuery(query ?? '');
  return tree && checkQuery(tree, declared, names);
}

/** Records whose value of one of the plugin's own indexes is this one. */
const equal = (index: string, value: string): Condition => ({ kind: 'compare', index, comparator: '==', value });

/** Records that name one of these files. */
const naming = (files: readonly string[]): Condition =>
  files.length === 0
    ? { kind: 'constant', value: false }
    : { kind: 'keywords', index: FILES_INDEX, mode: 'any', values: [...files] };

const inPlace = ({ index, value }: Place): Condition => ({ kind: 'keywords', index, mode: 'any', values: [value] });

const unconfirmed: readonly UnconfirmedAs[] = ['held', 'lapsed'];

const notUnconfirmed: Condition = {
  kind: 'not',
  child: { kind: 'keywords', index: UNCONFIRMED_INDEX, mode: 'any', values: [...unconfirmed] },
};

/** A condition with those of the plugin before it. */
function together(own: readonly Condition[], asked: Condition | null): Condition | null {
  const children = asked ? [...own, asked] : own;
  const [first = null, ...others] = children;
  return others.length > 0 ? { kind: 'and', children: [...children] } : first;
}

function checkNumber(name: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
  throw new AppsError('BadRequestError', `${name} must be a whole number from 0 to ${max}`, {
    details: { parameter: name },
  });
}

function sortType(declared: IndexDeclarations, name: string): IndexType {
  const type = name === 'id' ? 'field' : declared.get(name);
  const reason = !type
    ? unknownIndex(declared, name)
    : type === 'keyword'
      ? `${name} is a keyword index, which has no order`
      : null;
  if (reason)
    throw new AppsError('BadRequestError', `Bad sort_index: ${reason}`, {
      details: { parameter: 'sort_index', index: name, reason },
    });
  return type as IndexType;
}
