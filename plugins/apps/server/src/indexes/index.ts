import { type BuildTools, forget, type RecordSource } from './build';
import { checkIndexes } from './check';
import {
  createSql,
  type HostDatabase,
  isFailure,
  type LongReads,
  type Row,
  type Sql,
  translateError,
} from './database';
import { dialects } from './dialects';
import { Outdated } from './query/driver';
import type { Place } from './query/sql';
import { type Access, createReadiness, type Ready, type Remembered } from './readiness';
import { deleteRange, type RecordWrite, writeRows } from './rows';
import {
  checkSearch,
  countGeneration,
  countOfAll,
  pageOfAll,
  placeOf,
  type RecordsTable,
  type SearchSql,
  searchGeneration,
} from './search';
import { createStateTable, type Generation, lockState } from './state';
import { dropTables } from './tables';
import type { IndexCheck, IndexDeclarations, Progress, ReadEnd, SearchOptions } from './types';

export type { RecordSource } from './build';
export {
  createSql,
  type HostDatabase,
  isFailure,
  type LongReads,
  marks,
  type NearReader,
  type Reader,
  type Row,
  readerOf,
  type Sql,
  type Statement,
  StorageError,
  tooLong,
  translateError,
} from './database';
export { type Client, type Dialect, dialects, isUnavailable } from './dialects';
export type { IndexedRecord } from './entries';
export { encodeText } from './keys';
export { parseQuery, queryLimits } from './query';
export { type Access, IndexMissing } from './readiness';
export type { RecordWrite } from './rows';
export type { RecordsTable } from './search';
export { inTransaction } from './transaction';

/** Front of the room: the indexes of all apps, derived from the records table and rebuilt from it at any time. */
export interface Indexes {
  /** Makes the room's own table; once a process, outside transactions. */
  prepare(): Promise<void>;
  /** To be called in every transaction that writes records of the app, before it does: which generations it must write to. */
  lock(sql: Sql, scope: string): Promise<Generation[]>;
  /** Brings the index rows in line with the writes of the transaction. */
  write(sql: Sql, generations: readonly Generation[], writes: readonly RecordWrite[]): Promise<void>;
  /** Removes what the generations hold of records up to this one, which the transaction has deleted all. */
  remove(sql: Sql, generations: readonly Generation[], until: number): Promise<void>;
  /** Rows of the records table that match, in the order of contract section 9. Missing indexes are built first. */
  search(
    access: Access,
    scope: string,
    declared: IndexDeclarations,
    options: SearchOptions,
    end: ReadEnd,
  ): Promise<{ rows: Row[]; total?: number }>;
  count(
    access: Access,
    scope: string,
    declared: IndexDeclarations,
    options: Pick<SearchOptions, 'query' | 'names'>,
    end: ReadEnd,
  ): Promise<number>;
  /** Builds a generation with exactly the declared indexes; `rebuild`: drops the old ones before. */
  refresh(scope: string, declared: IndexDeclarations, rebuild: boolean): Promise<void>;
  /** Forgets all indexes of the app in the transaction; the returned function is for after its commit. */
  clear(sql: Sql, scope: string): Promise<() => Promise<void>>;
  /** Compares all records and index rows of all apps; `repair`: mends what is wrong. */
  check(repair: boolean): Promise<IndexCheck>;
  /** How far the building of the app's indexes is, by whichever process; null when nothing is being built. */
  progress(scope: string): Promise<Progress | null>;
  destroy(): Promise<void>;
}

export interface IndexesOptions {
  database: HostDatabase;
  longReads: LongReads;
  table: RecordsTable;
  source: RecordSource;
  /** How long (ms) a search waits for an index to be built before 503. Default 5,000. */
  patience?: number;
  /** Up to how many records a search looks at one by one rather than walking an index. Default 5,000. */
  few?: number;
}

export function createIndexes({
  database,
  longReads,
  table,
  source,
  patience = 5_000,
  few = 5_000,
}: IndexesOptions): Indexes {
  const dialect = dialects[database.client];
  let stopping = false;
  const tools: BuildTools = { database, dialect, source, stopped: () => stopping };
  const readiness = createReadiness(tools, table.name, patience);

  /** Tables may be dropped between choosing a generation and reading it: then there is a newer one. */
  const reading = async <T>(
    access: Access,
    scope: string,
    choose: () => Promise<Ready>,
    read: (place: Place, remembered: Remembered | undefined) => Promise<T>,
  ): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const { generation, remembered } = await choose();
      try {
        return await read(placeOf(dialect, generation, few), remembered);
      } catch (error) {
        readiness.forget(scope);
        const gone = error instanceof Outdated || (isFailure(error, 'missing-table') && !access.trx);
        if (!gone || attempt === 5) throw error;
      }
    }
  };

  const searchSql = ({ sql, trx }: Access, { signal, time = Number.POSITIVE_INFINITY }: ReadEnd): SearchSql => {
    const requestEnd = performance.now() + time;
    let searchEnd: number | undefined;
    return {
      rows: sql.rows,
      async long(statement) {
        // From the first statement on: before it the search may have waited for an index to be built.
        searchEnd ??= performance.now() + longReads.searchTime;
        const left = Math.min(searchEnd, requestEnd) - performance.now();
        try {
          return dialect.rows(await longReads.read(statement, trx, { signal, time: left }));
        } catch (error) {
          throw translateError(dialect, error);
        }
      },
    };
  };

  const countAll = (sql: SearchSql, scope: string) => countOfAll(sql, table, scope);

  return {
    prepare: () => createStateTable(createSql(database.knex(), dialect), dialect),

    async lock(sql, scope) {
      const state = await lockState(sql, dialect, scope, 'share');
      return state.filter((generation) => generation.phase !== 'planned');
    },

    async write(sql, generations, writes) {
      for (const generation of generations) await writeRows(sql, generation, writes);
    },

    async remove(sql, generations, until) {
      for (const { id } of generations) await deleteRange(sql, id, 0, until);
    },

    async search(access, scope, declared, options, end) {
      const search = checkSearch(declared, options);
      const sql = searchSql(access, end);
      if (search.needed.size === 0 && !search.condition) {
        const rows = await pageOfAll(sql, table, scope, search);
        return search.withTotal ? { rows, total: await countAll(sql, scope) } : { rows };
      }
      const choose = () => readiness.ready(access, scope, declared, search.needed);
      return reading(access, scope, choose, async (place, remembered) => {
        const rows = await searchGeneration(sql, place, table, search, remembered);
        if (!search.withTotal) return { rows };
        const total = search.condition
          ? await countGeneration(sql, place, search.condition)
          : await countAll(sql, scope);
        return { rows, total };
      });
    },

    async count(access, scope, declared, options, end) {
      const { condition, needed } = checkSearch(declared, options);
      const sql = searchSql(access, end);
      if (!condition) return countAll(sql, scope);
      return reading(
        access,
        scope,
        () => readiness.ready(access, scope, declared, needed),
        (place, remembered) => countGeneration(sql, place, condition, remembered),
      );
    },

    refresh: readiness.refresh,

    async clear(sql, scope) {
      const dropped = await forget(sql, dialect, scope);
      return () => dropTables(createSql(database.knex(), dialect), dropped);
    },

    check: (repair) => checkIndexes(tools, repair),

    progress: readiness.progress,

    async destroy() {
      stopping = true;
      await readiness.settled();
    },
  };
}
