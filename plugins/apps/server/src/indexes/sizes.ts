import { isAppsError } from '../common/errors';
import { isFailure } from './database/database';
import { missingKey } from './keys/keys';
import { type QueryTarget, termsByTerm } from './query/sql/target';
import type { SearchSql } from './search';
import type { LaidOutIndex } from './tables/layout';

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
    const [row] = await sql.long((step) => ({
      sql: `select count(*) as n from ${from} where ${step}${sql.visible('record')}${condition}`,
      values,
    }));
    return Number(row?.n);
  } catch (error) {
    // A newer generation has replaced this one meanwhile.
    if (isAppsError(error, 'ServiceUnavailableError') || isFailure(error, 'missing-table')) return null;
    throw error;
  }
}
