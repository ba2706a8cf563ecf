import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import type { Remembered } from './building/readiness';
import type { Row, Sql, Statement } from './database/database';
import type { Dialect } from './dialects';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits, unknownIndex } from './query';
import { MAX_LOOKUPS } from './query/limits';
import type { QueryTarget } from './query/sql/target';
import { estimate, isRange, type Run } from './query/statement/access-path';
import { isShortPage } from './query/statement/cost';
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
  remembered: Remembered | undefined,
): Promise<Row[]> {
  const condition = search.condition ?? all;
  const plain = lower(condition);
  const { sortIndex } = search;
  const byField = sortIndex !== undefined && target.layout.get(sortIndex)?.type === 'field';
  const counted = byField && isRange(plain, sortIndex) ? null : plain;
  const { path, long } = await estimate(runOn(sql), target, counted, {
    index: byField ? sortIndex : undefined,
    remembered,
  });
  const order = orderBy(target, condition, sortIndex, long);
  return runOn(sql)((step) => {
    const selected = selection({ ...target, step }, { ...search, condition: plain, path, order });
    const columns = selected.order.replace(/\b(s\d|record)\b/g, 'x.$1');
    const from = `from (${selected.select.sql}) x cross join ${table.name} r where r.id = x.record`;
    const text = `select ${table.columns(search.limit)} ${from} order by ${columns}`;
    return { sql: text, values: selected.select.values, short: selected.short };
  });
}

export async function countGeneration(
  sql: SearchSql,
  target: QueryTarget,
  condition: Condition,
  remembered?: Remembered,
): Promise<number> {
  const plain = lower(condition);
  const { path } = await estimate(runOn(sql), target, plain, { remembered });
  const [row] = await runOn(sql)((step) => {
    const { select, short } = countSql({ ...target, step }, plain, path);
    return { ...select, short };
  });
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
