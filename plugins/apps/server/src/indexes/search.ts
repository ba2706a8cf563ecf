import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import type { Row, Sql } from './database';
import type { Dialect } from './dialects';
import { layoutOf, tablesOf } from './layout';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits } from './query';
import { isRange, look } from './query/driver';
import { orderBy } from './query/order';
import { countSql, selection } from './query/select';
import type { Place } from './query/sql';
import { indexesOf, takeApart } from './query/terms';
import type { Remembered } from './readiness';
import type { Generation } from './state';
import type { IndexDeclarations, IndexType, SearchOptions } from './types';

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
    ? `there is no index named ${JSON.stringify(name)}`
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
  sql: Sql,
  place: Place,
  table: RecordsTable,
  search: CheckedSearch,
  remembered: Remembered | undefined,
): Promise<Row[]> {
  const condition = search.condition ?? all;
  const plain = takeApart(condition);
  const { sortIndex } = search;
  const byField = sortIndex !== undefined && place.layout.get(sortIndex)?.type === 'field';
  const counted = byField && isRange(place, plain, sortIndex) ? null : plain;
  const { driver, long } = await look(sql, place, counted, { index: byField ? sortIndex : undefined, remembered });
  const order = orderBy(place, condition, sortIndex, long);
  const { select, order: text } = selection(place, { ...search, condition: plain, driver, order });
  const columns = text.replace(/\b(s\d|record)\b/g, 'x.$1');
  const from = `from (${select.sql}) x cross join ${table.name} r where r.id = x.record`;
  return sql.rows(`select ${table.columns(search.limit)} ${from} order by ${columns}`, select.values);
}

export async function countGeneration(
  sql: Sql,
  place: Place,
  condition: Condition,
  remembered?: Remembered,
): Promise<number> {
  const plain = takeApart(condition);
  const { sql: text, values } = countSql(place, plain, (await look(sql, place, plain, { remembered })).driver);
  const [row] = await sql.rows(text, values);
  return Number(row?.n);
}

/** Where the indexes of a generation are. `few`: see Place. */
export function placeOf(dialect: Dialect, generation: Generation, few: number): Place {
  return { dialect, layout: layoutOf(generation.indexes), tables: tablesOf(generation.id), few };
}
