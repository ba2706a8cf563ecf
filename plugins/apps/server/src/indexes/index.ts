import { type BuildTools, forget, type RecordSource } from './building/build';
import { checkIndexes } from './building/check';
import { type Access, createReadiness } from './building/readiness';
import { createSql, type HostDatabase, type LongReads, type Row, type Sql } from './database';
import { dialects } from './dialects';
import { createMemory } from './query/statement/estimate';
import { countEntries, countTerm, createReading } from './reading';
import {
  checkSearch,
  countGeneration,
  countOfAll,
  type Plans,
  pageOfAll,
  type RecordsTable,
  type SearchSql,
  searchGeneration,
  targetOf,
} from './search';
import { isOwnIndex } from './tables/layout';
import type { Place } from './tables/places';
import { deleteRange, type RecordWrite, type RowRange, writeRows } from './tables/rows';
import {
  type CommitLock,
  covers,
  createStateTable,
  type Generation,
  lockCommits,
  lockForWriter,
  readState,
} from './tables/state';
import { dropTables } from './tables/tables';
import type { IndexCheck, IndexDeclarations, Progress, ReadEnd, SearchAfter, SearchOptions } from './types';

export type { RecordSource } from './building/build';
export { type Access, IndexMissing } from './building/readiness';
export {
  createGivingWay,
  createSql,
  type HostDatabase,
  inTransaction,
  isFailure,
  type LongReads,
  MAX_SEQ,
  marks,
  type ReadConnection,
  type Reader,
  type Row,
  readerOf,
  type ServerSession,
  type Sql,
  type Statement,
  StorageError,
  tooLong,
  translateError,
} from './database';
export { type Client, type Dialect, dialects, isBusy, isUnavailable, pendingTable } from './dialects';
export { fold, words } from './keys';
export { queryLimits } from './query';
export type { RecordsTable } from './search';
export { searchMatcher, searchProblem } from './search';
export { FILES_INDEX } from './tables/layout';
export {
  foldedAddress,
  HELD,
  isLapsed,
  isUnconfirmed,
  type Place,
  type PlaceKind,
  placeIndex,
  placeValues,
  SERVER_ITEMS,
  SINCE,
  STATE,
  type UnconfirmedAs,
  unconfirmedPlace,
} from './tables/places';
export type { IndexedRecord, RecordWrite } from './tables/rows';

/** What a search reads of the records that it finds: all of their columns, or `id` and `version`. */
export type SearchColumns = 'records' | 'versions';

/** The public interface of indexes/: the indexes of all apps, derived from the records table and rebuilt from it at any time. */
export interface Indexes {
  /** Creates the table of states; call it once per process, outside transactions. */
  prepare(): Promise<void>;
  /**
   * Locks and returns the generations to write to; every transaction calls it before it writes records of the app.
   * @param commits how its commit is locked against others, `apart` by default
   */
  lock(sql: Sql, scope: string, commits?: CommitLock): Promise<Generation[]>;
  /** Locks a name until the transaction ends: of those that lock it, one is committed after the other. */
  lockName(sql: Sql, name: string): Promise<void>;
  /** Applies the writes of the transaction to the index rows. */
  write(sql: Sql, generations: readonly Generation[], writes: readonly RecordWrite[]): Promise<void>;
  /** Removes the rows of records in the range, all of which the transaction has deleted. */
  remove(sql: Sql, generations: readonly Generation[], range: RowRange): Promise<void>;
  /**
   * Rows of the records table that match, in the order of docs/reference/search.md#order. Missing indexes are built
   * first.
   */
  search(
    access: Access,
    scope: string,
    declared: IndexDeclarations,
    options: SearchAfter,
    end: ReadEnd,
    columns?: SearchColumns,
  ): Promise<{ rows: Row[]; total?: number }>;
  count(
    access: Access,
    scope: string,
    declared: IndexDeclarations,
    options: Pick<SearchOptions, 'query' | 'names' | 'creator' | 'block' | 'place' | 'confirmed'>,
    end: ReadEnd,
  ): Promise<number>;
  /**
   * The number of records in a place as the transaction sees them, its own writes included; null where no complete generation has
   * its index, which a search builds.
   * @param isNewest whether it reads what others have committed since its snapshot
   */
  countPlace(sql: Sql, scope: string, place: Place, isNewest: boolean): Promise<number | null>;
  /** Builds a generation with exactly the declared indexes; `rebuild`: drops the old ones before. */
  refresh(scope: string, declared: IndexDeclarations, rebuild: boolean): Promise<void>;
  /** Removes all indexes of the app from its state; call the returned function after the commit. */
  clear(sql: Sql, scope: string): Promise<() => Promise<void>>;
  /** Compares all records and index rows of all apps; `repair` corrects wrong rows. */
  check(repair: boolean): Promise<IndexCheck>;
  /** Progress of building the app's indexes, in any process; null when none are being built. */
  progress(scope: string): Promise<Progress | null>;
  /** The app's indexes that searches can use at once. */
  complete(scope: string): Promise<IndexDeclarations>;
  /** The entries of these indexes, counted in the time of one search (`countEntries`). */
  sizes(access: Access, scope: string, end: ReadEnd): Promise<ReadonlyMap<string, number | null>>;
  destroy(): Promise<void>;
}

export interface IndexesOptions {
  database: HostDatabase;
  longReads: LongReads;
  table: RecordsTable;
  source: RecordSource;
  /** How long (ms) a search waits for an index to be built before 503. Default 5,000. */
  timeout?: number;
  /** Whether this process has so many records in pending batches that passing over them takes long. */
  isLoaded?(): boolean;
  /** Records that a search sorts at most, instead of walking an index. Default 5,000. */
  maxSorted?: number;
  /** Records that a search reads at most in the wanted order before it counts its matches. Default 2,000. */
  maxWalk?: number;
}

export function createIndexes({
  database,
  longReads,
  table,
  source,
  timeout = 5_000,
  isLoaded = () => false,
  maxSorted = 5_000,
  maxWalk = 2_000,
}: IndexesOptions): Indexes {
  const dialect = dialects[database.client];
  const memory = createMemory();
  const limits = { maxSorted, maxWalk };
  const results: Record<SearchColumns, { table: RecordsTable; plans: Plans }> = {
    records: { table, plans: new WeakMap() },
    versions: { table: { name: table.name, columns: () => 'r.id, r.version' }, plans: new WeakMap() },
  };
  let stopping = false;
  const tools: BuildTools = { database, dialect, source, stopped: () => stopping };
  const readiness = createReadiness(tools, table.name, timeout);

  const { searchSql, reading } = createReading({ dialect, longReads, readiness, limits, memory, isLoaded });
  const countAll = (sql: SearchSql, scope: string) => countOfAll(sql, table, scope);

  return {
    prepare: () => createStateTable(createSql(database.knex(), dialect), dialect),

    async lock(sql, scope, commits = 'apart') {
      const state = await lockForWriter(sql, dialect, scope, commits);
      return state.filter((generation) => generation.phase !== 'planned');
    },

    lockName: (sql, name) => lockCommits(sql, dialect, name, 'alone'),

    async countPlace(sql, scope, place, isNewest) {
      const needed = new Map([[place.index, 'keyword' as const]]);
      const state = await readState(sql, scope);
      const generation = state.find((one) => one.phase === 'ready' && covers(one, needed));
      return generation ? countTerm(sql, dialect, generation, place, isNewest) : null;
    },

    async write(sql, generations, writes) {
      for (const generation of generations) await writeRows(sql, generation, writes);
    },

    async remove(sql, generations, range) {
      for (const { id } of generations) await deleteRange(sql, id, range);
    },

    async search(access, scope, declared, options, end, columns = 'records') {
      const { table, plans } = results[columns];
      const search = checkSearch(declared, options);
      if (options.creator === '') return search.withTotal ? { rows: [], total: 0 } : { rows: [] };
      const sql = searchSql(access, end);
      if (search.needed.size === 0 && !search.condition) {
        const rows = await pageOfAll(sql, table, scope, search);
        return search.withTotal ? { rows, total: await countAll(sql, scope) } : { rows };
      }
      const choose = () => readiness.ready(access, scope, declared, search.needed);
      return reading(access, scope, choose, async (target, options) => {
        const rows = await searchGeneration(sql, target, table, search, { ...options, plans });
        if (!search.withTotal) return { rows };
        const total = search.condition
          ? await countGeneration(sql, target, search.condition, { memory })
          : await countAll(sql, scope);
        return { rows, total };
      });
    },

    async count(access, scope, declared, options, end) {
      const { condition, needed } = checkSearch(declared, options);
      if (options.creator === '') return 0;
      const sql = searchSql(access, end);
      if (!condition) return countAll(sql, scope);
      return reading(
        access,
        scope,
        () => readiness.ready(access, scope, declared, needed),
        (target, options) => countGeneration(sql, target, condition, options),
      );
    },

    refresh: readiness.refresh,

    async clear(sql, scope) {
      const dropped = await forget(sql, dialect, scope);
      return () => dropTables(createSql(database.knex(), dialect), dropped);
    },

    check: (repair) => checkIndexes(tools, repair),

    progress: readiness.progress,
    async complete(scope) {
      const all = new Map((await readiness.complete(scope)).flatMap(({ indexes }) => indexes));
      for (const name of all.keys()) if (isOwnIndex(name)) all.delete(name);
      return all;
    },

    async sizes(access, scope, end) {
      const sql = searchSql(access, end);
      const sizes = new Map<string, number | null>();
      for (const generation of await readiness.complete(scope)) {
        for (const [name, size] of await countEntries(sql, targetOf(dialect, generation, limits)))
          sizes.set(name, size);
      }
      for (const name of sizes.keys()) if (isOwnIndex(name)) sizes.delete(name);
      return sizes;
    },

    async destroy() {
      stopping = true;
      await readiness.settled();
    },
  };
}
