import type { Items } from '../../../shared/json';
import { AppsError } from '../common/errors';
import type { Row, Sql, Statement } from './database/database';
import type { Dialect } from './dialects';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits, unknownIndex } from './query';
import { MAX_LOOKUPS } from './query/limits';
import { concat, type Fragment } from './query/sql/fragment';
import type { QueryTarget } from './query/sql/target';
import { isRange } from './query/statement/access-path';
import { isShortPage } from './query/statement/cost';
import { type Estimate, type EstimateOptions, estimate, Outdated, type Run } from './query/statement/estimate';
import { indexesOf, lower } from './query/statement/lower';
import { orderBy } from './query/statement/order';
import { countSql, selection } from './query/statement/select';
import { layoutOf, tablesOf } from './tables/layout';
import type { Generation } from './tables/state';
import type { IndexDeclarations, IndexType, SearchOptions } from './types';

/** Runs the statements of a search. */
export interface SearchSql extends Pick<Sql, 'rows'> {
  /** Rows of a statement that may read any number of rows (LongReads). */
  long(statement: (step: string) => Statement): Promise<Row[]>;
}

/** The records table, which belongs to records/: its rows are passed through unchanged. */
export interface RecordsTable {
  name: string;
  /** The selected columns of up to `limit` found records `r`. */
  columns(limit: number): string;
}

/** A search whose query, names and numbers were checked (docs/reference/search.md). */
export interface CheckedSearch {
  condition: Condition | null;
  sortIndex: string | undefined;
  reverse: boolean;
  limit: number;
  offset: number;
  withTotal: boolean;
  /** The indexes that it needs; empty when the records table is enough. */
  needed: IndexDeclarations;
}

/** Checks a search before any statement; BadRequestError for every mistake in it. */
export function checkSearch(declared: IndexDeclarations, options: SearchOptions): CheckedSearch {
  const { sortIndex, reverse = false, limit = queryLimits.limit, offset = 0, withTotal = false } = options;
  checkNumber('limit', limit, queryLimits.limit);
  checkNumber('offset', offset, Number.MAX_SAFE_INTEGER - queryLimits.limit);
  const condition = checkCondition(declared, options.query, options.names);
  const needed = new Map<string, IndexType>();
  for (const name of condition ? indexesOf(condition) : []) needed.set(name, indexType(declared, name, 1));
  if (sortIndex !== undefined) {
    const type = sortType(declared, sortIndex);
    if (type !== 'text' || needed.has(sortIndex)) needed.set(sortIndex, type);
  }
  return {
    condition,
    sortIndex: needed.has(sortIndex ?? '') ? sortIndex : undefined,
    reverse,
    limit,
    offset,
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

const all: Condition = { kind: 'constant', value: true };

/**
 * Rows of the records table in the wanted order, from the tables of a generation that holds the needed indexes. Outdated
 * when the remembered state that named the generation is no longer the app's.
 */
export async function searchGeneration(
  sql: SearchSql,
  target: QueryTarget,
  table: RecordsTable,
  search: CheckedSearch,
  options: EstimateOptions,
): Promise<Row[]> {
  const condition = search.condition ?? all;
  const plain = lower(condition);
  const { sortIndex } = search;
  const byField = sortIndex !== undefined && target.layout.get(sortIndex)?.type === 'field';
  const counted = byField && isRange(plain, sortIndex) ? null : plain;
  const found = await estimate(runOn(sql), target, counted, { ...options, index: byField ? sortIndex : undefined });
  const order = orderBy(target, condition, sortIndex, found.long);
  const rows = await runOn(sql)((step) => {
    const selected = selection({ ...target, step }, { ...search, condition: plain, path: found.path, order });
    const columns = selected.order.replace(/\b(s\d|record)\b/g, 'x.$1');
    const head = concat(`select ${table.columns(search.limit)}`, proofColumn(found), ' from (');
    const tail = `) x cross join ${table.name} r where r.id = x.record order by ${columns}`;
    return { ...concat(head, selected.select, tail), short: selected.short };
  });
  await prove(sql, found, rows[0]);
  return rows;
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
  const { limit, offset, reverse } = search;
  const order = reverse ? 'r.id desc' : 'r.id';
  return runOn(sql)((step) => ({
    sql: `select ${table.columns(limit)} from ${table.name} r where ${step}r.scope = ? order by ${order} limit ? offset ?`,
    values: [scope, limit, offset],
    short: isShortPage(search),
  }));
}

/** Number of all records of an app; up to `MAX_LOOKUPS` are counted by a short statement. */
export async function countOfAll(sql: SearchSql, table: RecordsTable, scope: string): Promise<number> {
  const bounded = `select count(*) as n from (select 1 from ${table.name} where scope = ? limit ${MAX_LOOKUPS}) r`;
  const [first] = await sql.rows(bounded, [scope]);
  if (Number(first?.n) < MAX_LOOKUPS) return Number(first?.n);
  const [row] = await sql.long((step) => ({
    sql: `select count(*) as n from ${table.name} where ${step}scope = ?`,
    values: [scope],
  }));
  return Number(row?.n);
}

function runOn(sql: SearchSql): Run {
  return (make) => {
    const { short, ...statement } = make('');
    return short ? sql.rows(statement.sql, statement.values) : sql.long(make);
  };
}

/** The target of queries on a generation. `maxSorted`: see QueryTarget. */
export function targetOf(dialect: Dialect, generation: Generation, maxSorted: number): QueryTarget {
  return { dialect, layout: layoutOf(generation.indexes), tables: tablesOf(generation.id), maxSorted, step: '' };
}
