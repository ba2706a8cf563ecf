import { isAppsError } from '../common/errors';
import type { Access, Readiness, Ready } from './building/readiness';
import { isFailure, type LongReads, type Sql, translateError } from './database';
import type { Dialect } from './dialects';
import { encodeTerm, missingKey } from './keys';
import { type QueryTarget, termsByTerm } from './query/sql';
import { type EstimateOptions, type Memory, Outdated } from './query/statement/estimate';
import { type PlanLimits, type SearchSql, targetOf } from './search';
import { type LaidOutIndex, layoutOf, tablesOf } from './tables/layout';
import type { Place } from './tables/places';
import { sortedTable } from './tables/sorted-terms';
import type { Generation } from './tables/state';
import type { ReadEnd } from './types';

/** Attempts to read an index whose tables are replaced meanwhile. */
const MAX_ATTEMPTS = 5;

interface ReadingTools {
  dialect: Dialect;
  longReads: LongReads;
  readiness: Readiness;
  limits: PlanLimits;
  memory: Memory;
  isLoaded(): boolean;
}

interface Reading {
  /** The statements of one search, which share the time of a search. */
  searchSql(access: Access, end: ReadEnd): SearchSql;
  /**
   * What `read` finds in the generation that `choose` gives. Tries again when tables are dropped between choosing a generation and
   * reading it: then there is a newer one.
   */
  reading<T>(
    access: Access,
    scope: string,
    choose: () => Promise<Ready>,
    read: (target: QueryTarget, options: EstimateOptions) => Promise<T>,
  ): Promise<T>;
}

export function createReading({ dialect, longReads, readiness, limits, memory, isLoaded }: ReadingTools): Reading {
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

    async reading(access, scope, choose, read) {
      for (let attempt = 1; ; attempt++) {
        const { generation, remembered } = await choose();
        try {
          return await read(targetOf(dialect, generation, limits), { remembered, memory });
        } catch (error) {
          readiness.forget(scope);
          const gone = error instanceof Outdated || (isFailure(error, 'missing-table') && !access.trx);
          if (!gone || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },
  };
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
