import type { Access, Readiness, Ready } from './building/readiness';
import { isFailure, type LongReads, translateError } from './database/database';
import type { Dialect } from './dialects';
import type { QueryTarget } from './query/sql/target';
import { type EstimateOptions, Outdated } from './query/statement/estimate';
import type { Memory } from './query/statement/memory';
import { type PlanLimits, type SearchSql, targetOf } from './search';
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
