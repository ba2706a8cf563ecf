import { isAppsError } from '../../common/errors';
import { type Dialect, isFailure, type Sql } from '../../database';
import { encodeTerm, missingKey } from '../keys';
import { type QueryTarget, termsByTerm } from '../query/sql';
import { type LaidOutIndex, layoutOf, tablesOf } from '../tables/layout';
import type { Place } from '../tables/places';
import { sortedTable } from '../tables/sorted-terms';
import type { Generation } from '../tables/state';
import type { SearchSql } from './planner';

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
