import { LRUCache } from 'lru-cache';
import {
  type Dialect,
  isFailure,
  type LongReads,
  type ReadEnd,
  type Row,
  type ScanGuard,
  type Sql,
  type Statement,
  translateError,
} from '../../database';
import type { Access, Readiness, Ready, Remembered } from '../building/readiness';
import { missingKey } from '../keys';
import { MAX_LOOKUPS } from '../query/limits';
import type { QueryCondition } from '../query/operators';
import type { CheckedQuery, CheckedSearch } from '../query/search';
import {
  ascending,
  columnOf,
  concat,
  type Fragment,
  fragment,
  orderSql,
  type QueryTarget,
  rowTest,
} from '../query/sql';
import { type Generation, layoutOf, tablesOf } from '../tables';
import {
  CountCache,
  creatorCondition,
  type Estimate,
  estimate,
  firstCount,
  holds,
  isRange,
  isShortPage,
  isShortTest,
  isShortWalk,
  MAX_AGE,
  type RunQuery,
  type SearchPlan,
  StalePlan,
  sortRange,
} from './estimate';
import { lower } from './lower';
import { conditionSql, countSql, type OrderedSelect, orderBy, ordered, type Selection, selection } from './select';

/** Whether `boundedWalk` has SQL for this search, and may find its page. */
function mayWalk({ maxWalk }: QueryTarget, wanted: Selection): boolean {
  const { condition, order, limit, offset, after } = wanted;
  if (after || limit === 0 || limit + offset > maxWalk || isShortWalk(wanted)) return false;
  // One's own records are walked in this order, and no others.
  if (order.kind === 'creation' && creatorCondition(condition)) return false;
  if (order.kind === 'relevance' || (order.kind === 'field' && order.long)) return false;
  return isShortTest(maxWalk, condition, order);
}

/**
 * The matches among the first `maxWalk` records in the wanted order: the first matches of all, perhaps fewer than wanted. It
 * needs no count. See docs/decisions/search-plans.md.
 */
function boundedWalk(target: QueryTarget, wanted: Selection): OrderedSelect {
  const { condition, order, reverse } = wanted;
  const test = concat(rowTest(target), conditionSql(target, condition, 'probe'));
  const direction = reverse ? ' desc' : '';
  if (order.kind !== 'field') {
    const select = concat('select f.record as record from (', first(target, 'f.record', direction), ') f where ', test);
    return { ...ordered(target, select, [{ column: 'record', descending: reverse }], wanted), short: true };
  }
  const column = columnOf(target, order.index, 'lookup');
  const start = startSql(target, wanted, order.index);
  const rows = first(target, column, reverse ? ' desc' : ', record', start);
  // The walk in reverse has equal keys in reverse order of creation: the last key may lack the records that come first.
  const complete = reverse ? concat(column, ' > ', lastKey(target, column, start), ' and ') : '';
  const select = concat(`select f.record as record, ${column} as s0 from (`, rows, ') f where ', complete, test);
  const byKey = [{ column: 's0', descending: reverse }, ascending('record')];
  return { ...ordered(target, select, byKey, wanted), short: true };
}

/** The first rows of the table in the order of a column. */
function first(
  { tables, maxWalk }: QueryTarget,
  column: string,
  ending: string,
  start: Fragment | string = '',
): Fragment {
  return concat(`select f.* from ${tables.fields} f`, start, ` order by ${column}${ending} limit ${maxWalk}`);
}

/** The key of the last of these rows, or one below all others when there are fewer. */
function lastKey({ tables, maxWalk }: QueryTarget, column: string, start: Fragment): Fragment {
  const key = concat(`select ${column} from ${tables.fields} f`, start, ` order by ${column} desc limit 1`);
  return concat('coalesce((', key, ` offset ${maxWalk - 1}), '')`);
}

/**
 * Where the walk begins. Only that end of the range is a condition: for two, PostgreSQL expects so few rows that it would
 * rather sort them. Without any, MariaDB reads and sorts the whole table.
 */
function startSql(target: QueryTarget, { condition, reverse }: Selection, index: string): Fragment {
  const range = sortRange(condition, index);
  const column = columnOf(target, index, 'lookup');
  if (!reverse)
    return range
      ? fragment(` where ${column} ${range.fromOpen ? '>' : '>='} ?`, range.from)
      : fragment(` where ${column} >= ''`);
  // Null and missing are last in reverse too.
  const isBelow = range && Buffer.compare(range.to, missingKey) < 0;
  return isBelow
    ? fragment(` where ${column} ${range.toOpen ? '<' : '<='} ?`, range.to)
    : fragment(` where ${column} < ?`, missingKey);
}

/** Generations of which it is kept what their sort indexes have. */
const MAX_GENERATIONS = 200;

/** Attempts to read an index whose tables are replaced meanwhile. */
const MAX_ATTEMPTS = 5;

/** Runs the statements of a search. */
export interface SearchSql extends Pick<Sql, 'rows' | 'visible'> {
  /** Whether a statement whose plan bounds the rows that it reads may read many more, all of pending batches. */
  isLoaded(): boolean;
  /** Rows of a statement that may read any number of rows (LongReads). */
  long(statement: (guard: ScanGuard) => Statement): Promise<Row[]>;
}

/** The records table, which belongs to records/: its rows are passed through unchanged. */
export interface RecordsTable {
  name: string;
  /** The selected columns of up to `limit` found records `r`. */
  columns(limit: number): string;
}

/** What a search reads of the records that it finds: all of their columns, or `id` and `version`. */
export type SearchColumns = 'records' | 'versions';

/** Limits of a plan: see QueryTarget. */
type PlanLimits = Pick<QueryTarget, 'maxSorted' | 'maxWalk'>;

interface PlannerTools {
  dialect: Dialect;
  longReads: LongReads;
  readiness: Readiness;
  tables: Record<SearchColumns, RecordsTable>;
  limits: PlanLimits;
  isLoaded(): boolean;
}

/** Finds the cheapest way to the matches of a search, and goes it: see docs/decisions/search-plans.md. */
interface Planner {
  /** The statements of one search, which share the time of a search. */
  searchSql(access: Access, end: ReadEnd): SearchSql;
  /** The target of queries on a generation. */
  targetOf(generation: Generation): QueryTarget;
  /**
   * What `read` finds in the generation that `choose` gives. Tries again when the plan is stale, or tables are dropped between choosing
   * a generation and reading it: then there is a newer one.
   */
  reading<T>(
    access: Access,
    scope: string,
    choose: () => Promise<Ready>,
    read: (target: QueryTarget, remembered: Remembered | undefined) => Promise<T>,
  ): Promise<T>;
  /**
   * Rows of the records table in the wanted order, from the tables of a generation that holds the needed indexes. StalePlan when the
   * remembered state that named the generation is no longer the app's.
   */
  page(
    sql: SearchSql,
    target: QueryTarget,
    columns: SearchColumns,
    search: CheckedSearch,
    remembered: Remembered | undefined,
  ): Promise<Row[]>;
  /** The number of matches. StalePlan as for a page. */
  count(
    sql: SearchSql,
    target: QueryTarget,
    query: CheckedQuery & { condition: QueryCondition },
    remembered: Remembered | undefined,
  ): Promise<number>;
}

const all: QueryCondition = { kind: 'constant', value: true };

export function createPlanner({ dialect, longReads, readiness, tables, limits, isLoaded }: PlannerTools): Planner {
  const targetOf = ({ id, indexes }: Generation): QueryTarget => ({
    dialect,
    layout: layoutOf(indexes),
    tables: tablesOf(id),
    guard: '',
    ...limits,
  });

  /** What was found out about the sort indexes of a generation in the last seconds; by its tables. */
  const generations = new LRUCache<string, Map<string, boolean>>({ max: MAX_GENERATIONS, ttl: MAX_AGE });
  /** What was found out about a query in the last seconds. */
  const kept = new WeakMap<CheckedQuery, CountCache>();
  const keptOf = (query: CheckedQuery, { tables }: QueryTarget): CountCache => {
    const known = kept.get(query);
    if (known?.isCurrent(tables.fields)) return known;
    const longs = generations.get(tables.fields) ?? new Map<string, boolean>();
    generations.set(tables.fields, longs, { noUpdateTTL: true });
    const fresh = new CountCache(tables.fields, longs);
    kept.set(query, fresh);
    return fresh;
  };

  /** StalePlan when what a plan assumes does not hold. @param row of its statement; without one, it is asked for */
  const check = async (
    sql: SearchSql,
    query: CheckedQuery,
    { tables }: QueryTarget,
    { assumes }: Estimate,
    row: Row | undefined,
  ): Promise<void> => {
    if (!assumes) return;
    const { sql: asked, values } = concat('select ', holds(assumes));
    const [found] = row ? [row] : await sql.rows(asked, values);
    if (Number(found?.holds) === 1) return;
    kept.delete(query);
    generations.delete(tables.fields);
    throw new StalePlan();
  };

  return {
    searchSql({ sql, trx }, { signal, time = Number.POSITIVE_INFINITY }) {
      const requestEnd = performance.now() + time;
      let searchEnd: number | undefined;
      return {
        rows: sql.rows,
        visible: sql.visible,
        isLoaded,
        async long(statement) {
          // From the first statement: before it the search may have waited for an index to be built.
          searchEnd ??= performance.now() + longReads.searchTime;
          const left = Math.min(searchEnd, requestEnd) - performance.now();
          try {
            return dialect.rows(await longReads.read(statement, trx, { signal, time: left }));
          } catch (error) {
            throw translateError(dialect, error);
          }
        },
      };
    },

    targetOf,

    async reading(access, scope, choose, read) {
      for (let attempt = 1; ; attempt++) {
        const { generation, remembered } = await choose();
        try {
          const found = await read(targetOf(generation), remembered);
          if (remembered?.whole) readiness.confirm(generation);
          return found;
        } catch (error) {
          readiness.forget(scope);
          const gone = error instanceof StalePlan || (isFailure(error, 'missing-table') && !access.trx);
          if (!gone || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },

    async page(sql, target, columns, search, remembered) {
      const { query, limit, offset, reverse, sortIndex } = search;
      const name = `${columns} ${limit} ${offset} ${reverse} ${sortIndex}`;
      const run = runOn(sql);
      // A page after a record comes once.
      const isKept = search.after === 0;
      const planned = async (): Promise<SearchPlan> => {
        const cache = keptOf(query, target);
        const walks = !cache.exhausted.has(name);
        const plan = await planOf({ run, target, table: tables[columns], search, remembered, cache }, walks);
        // What was counted just now is known of this search alone; the next plan assumes it.
        if (plan.estimate.assumes && isKept) cache.keep(name, plan);
        return plan;
      };
      const known = isKept ? keptOf(query, target).plans.get(name) : undefined;
      let plan = known && verifies(known, remembered) ? known : await planned();
      let rows = await run(plan.make);
      if (plan.isWalk && rows.length < limit) {
        keptOf(query, target).exhausted.add(name);
        plan = await planned();
        rows = await run(plan.make);
      }
      await check(sql, query, target, plan.estimate, rows[0]);
      return rows;
    },

    async count(sql, target, query, remembered) {
      const plain = lower(query.condition);
      const found = await estimate(runOn(sql), target, plain, { remembered, cache: keptOf(query, target) });
      const [row] = await runOn(sql)((guard) => {
        const { select, short } = countSql({ ...target, guard }, plain, found.path, holdsColumn(found));
        return { ...select, short };
      });
      await check(sql, query, target, found, row);
      return Number(row?.n);
    },
  };
}

interface Planning {
  run: RunQuery;
  target: QueryTarget;
  table: RecordsTable;
  search: CheckedSearch;
  remembered: Remembered | undefined;
  cache: CountCache;
}

/** @param walks whether a bounded walk may be tried */
async function planOf(planning: Planning, walks: boolean): Promise<SearchPlan> {
  const { run, target, table, search, remembered, cache } = planning;
  const { sortIndex } = search;
  const condition = search.query.condition ?? all;
  const plain = lower(condition);
  const byField = sortIndex !== undefined && target.layout.get(sortIndex)?.type === 'field';
  const wantedWith = (found?: Estimate): Selection => {
    const order = orderBy(target, condition, sortIndex, found?.long ?? false);
    return { ...search, condition: plain, path: found?.path ?? null, order };
  };
  const tries = walks && mayWalk(target, wantedWith());
  const counted = byField && isRange(plain, sortIndex) ? null : plain;
  const found = await estimate(run, target, counted, {
    index: byField ? sortIndex : undefined,
    remembered,
    cache,
    ...(tries && { maxCount: firstCount(target) }),
  });
  if (tries && found.long) return planOf(planning, false);
  const isWalk = tries && !(found.path && found.path.count < firstCount(target));
  const make: SearchPlan['make'] = (guard) => {
    const select = isWalk ? boundedWalk : selection;
    const selected = select({ ...target, guard }, wantedWith(found));
    const columns = orderSql(selected.order, (column) => `x.${column}`);
    const head = concat(`select ${table.columns(search.limit)}`, holdsColumn(found), ' from (');
    const tail = `) x cross join ${table.name} r where r.id = x.record order by ${columns}`;
    return { ...concat(head, selected.select, tail), short: selected.short };
  };
  const first = make('');
  return { estimate: found, remembered, make: (guard) => (guard === '' ? first : make(guard)), isWalk };
}

/** Whether the statement of a plan verifies what is remembered now. */
function verifies(plan: SearchPlan, remembered: Remembered | undefined): boolean {
  if (plan.remembered?.text !== remembered?.text) return false;
  return !remembered?.whole || plan.remembered?.whole !== undefined;
}

/** A column that tells whether what the plan assumes holds. */
const holdsColumn = ({ assumes }: Estimate): Fragment | string => (assumes ? concat(', ', holds(assumes)) : '');

/** Records of an app in order of creation, or in reverse. */
export function pageOfAll(sql: SearchSql, table: RecordsTable, scope: string, search: CheckedSearch): Promise<Row[]> {
  const { limit, offset, after, reverse } = search;
  const order = reverse ? 'r.id desc' : 'r.id';
  return runOn(sql)((guard) => ({
    sql: `select ${table.columns(limit)} from ${table.name} r where ${guard}${sql.visible('r.id')}r.scope = ? and r.id > ? order by ${order} limit ? offset ?`,
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
  const [row] = await sql.long((guard) => ({
    sql: `select count(*) as n from ${table.name} where ${guard}${sql.visible('id')}scope = ?`,
    values: [scope],
  }));
  return Number(row?.n);
}

function runOn(sql: SearchSql): RunQuery {
  return (make) => {
    const { short, ...statement } = make('');
    return short && !sql.isLoaded() ? sql.rows(statement.sql, statement.values) : sql.long(make);
  };
}
