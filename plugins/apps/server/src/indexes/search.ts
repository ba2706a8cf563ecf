import type { CheckedSearch } from './checked-search';
import type { Row, Sql, Statement } from './database/database';
import type { Dialect } from './dialects';
import type { Condition } from './query';
import { MAX_LOOKUPS } from './query/limits';
import { concat, type Fragment } from './query/sql/fragment';
import type { QueryTarget } from './query/sql/target';
import { isRange } from './query/statement/access-path';
import { boundedWalk, mayWalk } from './query/statement/bounded-walk';
import { isShortPage } from './query/statement/cost';
import {
  type Estimate,
  type EstimateOptions,
  estimate,
  firstCount,
  Outdated,
  type Run,
} from './query/statement/estimate';
import { lower } from './query/statement/lower';
import { MAX_AGE } from './query/statement/memory';
import { orderBy } from './query/statement/order';
import { countSql, type Selection, selection } from './query/statement/select';
import { layoutOf, tablesOf } from './tables/layout';
import type { Generation } from './tables/state';

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
