import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import type { Row, Sql, Statement } from './database';
import type { Dialect } from './dialects';
import { layoutOf, tablesOf } from './layout';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits, unknownIndex } from './query';
import { isShortPage, mostLookups } from './query/cost';
import { isRange, look } from './query/driver';
import { orderBy } from './query/order';
import { countSql, selection } from './query/select';
import type { Place } from './query/sql';
import { indexesOf, takeApart } from './query/terms';
import type { Remembered } from './readiness';
import type { Generation } from './state';
import type { IndexDeclarations, IndexType, SearchOptions } from './types';

/** How the statements of a search are run. */
export interface SearchSql extends Pick<Sql, 'rows'> {
  /** Rows of a statement that may look at any number of rows (LongReads). */
  long(statement: (step: string) => Statement): Promise<Row[]>;
}

/** The records table, which is not this room's: rows of it are handed through as they are. */
export interface RecordsTable {
  name: string;
  /** What is selected of found records `r`, of which there are up to so many. */
  columns(limit: number): string;
}

/** A search whose query, names and numbers are found good (contract, section 9). */
export interface CheckedSearch {
  condition: Condition | null;
  sortIndex: string | undefined;
  reverse: boolean;
  limit: number;
  offset: number;
  withTotal: boolean;
  /** The indexes that it needs; empty when the records table alone will do. */
  needed: IndexDeclarations;
}

/** Checks a search; BadRequestError for whatever is wrong with it, before the database is asked anything. */
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

function checkNumber(name: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return;
  throw new AppsError('BadRequestError', `${name} must be a whole number from 0 to ${most}`, {
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
  place: Place,
  table: RecordsTable,
  search: CheckedSearch,
  remembered: Remembered | undefined,
): Promise<Row[]> {
  const condition = search.condition ?? all;
  const plain = takeApart(condition);
  const { sortIndex } = search;
  const byField = sortIndex !== undefined && place.layout.get(sortIndex)?.type === 'field';
  const counted = byField && isRange(plain, sortIndex) ? null : plain;
  const { driver, long } = await look(sql, place, counted, { index: byField ? sortIndex : undefined, remembered });
  const order = orderBy(place, condition, sortIndex, long);
  return shortOrLong(sql, (step) => {
    const selected = selection({ ...place, step }, { ...search, condition: plain, driver, order });
    const columns = selected.order.replace(/\b(s\d|record)\b/g, 'x.$1');
    const from = `from (${selected.select.sql}) x cross join ${table.name} r where r.id = x.record`;
    const text = `select ${table.columns(search.limit)} ${from} order by ${columns}`;
    return { sql: text, values: selected.select.values, short: selected.short };
  });
}

export async function countGeneration(
  sql: SearchSql,
  place: Place,
  condition: Condition,
  remembered?: Remembered,
): Promise<number> {
  const plain = takeApart(condition);
  const { driver } = await look(sql, place, plain, { remembered });
  const [row] = await shortOrLong(sql, (step) => {
    const { select, short } = countSql({ ...place, step }, plain, driver);
    return { ...select, short };
  });
  return Number(row?.n);
}

/** Records of an app in order of creation, or the other way round. */
export function pageOfAll(sql: SearchSql, table: RecordsTable, scope: string, search: CheckedSearch): Promise<Row[]> {
  const { limit, offset, reverse } = search;
  const order = reverse ? 'r.id desc' : 'r.id';
  return shortOrLong(sql, (step) => ({
    sql: `select ${table.columns(limit)} from ${table.name} r where ${step}r.scope = ? order by ${order} limit ? offset ?`,
    values: [scope, limit, offset],
    short: isShortPage(search),
  }));
}

/** Number of all records of an app; so many are counted by a short statement. */
export async function countOfAll(sql: SearchSql, table: RecordsTable, scope: string): Promise<number> {
  const few = `select count(*) as n from (select 1 from ${table.name} where scope = ? limit ${mostLookups}) r`;
  const [first] = await sql.rows(few, [scope]);
  if (Number(first?.n) < mostLookups) return Number(first?.n);
  const [row] = await sql.long((step) => ({
    sql: `select count(*) as n from ${table.name} where ${step}scope = ?`,
    values: [scope],
  }));
  return Number(row?.n);
}

async function shortOrLong(sql: SearchSql, make: (step: string) => Statement & { short: boolean }): Promise<Row[]> {
  const statement = make('');
  return statement.short ? sql.rows(statement.sql, statement.values) : sql.long(make);
}

/** Where the indexes of a generation are. `few`: see Place. */
export function placeOf(dialect: Dialect, generation: Generation, few: number): Place {
  return { dialect, layout: layoutOf(generation.indexes), tables: tablesOf(generation.id), few, step: '' };
}
