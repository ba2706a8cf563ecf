import { createSql, dialects, type HostDatabase, type LongReads, type ReadEnd, type Row, type Sql } from '../database';
import { type BuildTools, forget, type RecordSource } from './building/build';
import { checkIndexes } from './building/check';
import { type Access, createReadiness } from './building/readiness';
import { countEntries, countTerm } from './planner/estimate';
import { countOfAll, createPlanner, pageOfAll, type RecordsTable, type SearchColumns } from './planner/planner';
import type { QueryCondition } from './query/operators';
import { type CheckedQuery, checkSearch } from './query/search';
import { deleteRange, type Place, type RecordWrite, type RowRange, writeRows } from './rows';
import {
  type CommitLock,
  covers,
  createStateTable,
  dropTables,
  type Generation,
  isOwnIndex,
  lockCommits,
  lockForWriter,
  readState,
} from './tables';
import type { IndexCheck, IndexDeclarations, Progress, SearchAfter, SearchOptions } from './types';

export type { RecordSource } from './building/build';
export { type Access, IndexMissing } from './building/readiness';
export { fold, words } from './keys';
export type { RecordsTable, SearchColumns } from './planner/planner';
export { queryLimits } from './query/limits';
export { searchMatcher, searchProblem } from './query/search';
export {
  CONFIRMATION_ITEMS,
  foldedAddress,
  HELD,
  type IndexedRecord,
  isLapsed,
  isUnconfirmed,
  MAKER,
  NOTIFY,
  type Place,
  type PlaceKind,
  placeIndex,
  placeValues,
  type RecordWrite,
  SERVER_ITEMS,
  SINCE,
  STATE,
  type UnconfirmedAs,
  unconfirmedPlace,
  withoutNotes,
} from './rows';
export { FILES_INDEX, MAX_FIELD_INDEXES } from './tables';

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
  const tables: Record<SearchColumns, RecordsTable> = {
    records: table,
    versions: { name: table.name, columns: () => 'r.id, r.version' },
  };
  let stopping = false;
  const tools: BuildTools = { database, dialect, source, stopped: () => stopping };
  const readiness = createReadiness(tools, table.name, timeout);

  const limits = { maxSorted, maxWalk };
  const planner = createPlanner({ dialect, longReads, readiness, tables, limits, isLoaded });

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
      const search = checkSearch(declared, options);
      const { query, needed, withTotal } = search;
      if (options.creator === '') return withTotal ? { rows: [], total: 0 } : { rows: [] };
      const sql = planner.searchSql(access, end);
      if (needed.size === 0 && !query.condition) {
        const rows = await pageOfAll(sql, tables[columns], scope, search);
        return withTotal ? { rows, total: await countOfAll(sql, table, scope) } : { rows };
      }
      const choose = () => readiness.ready(access, scope, declared, needed);
      return planner.reading(access, scope, choose, async (target, remembered) => {
        const rows = await planner.page(sql, target, columns, search, remembered);
        if (!withTotal) return { rows };
        // The page has looked whether the generation is the app's.
        const total = hasCondition(query)
          ? await planner.count(sql, target, query, undefined)
          : await countOfAll(sql, table, scope);
        return { rows, total };
      });
    },

    async count(access, scope, declared, options, end) {
      const { query } = checkSearch(declared, options);
      if (options.creator === '') return 0;
      const sql = planner.searchSql(access, end);
      if (!hasCondition(query)) return countOfAll(sql, table, scope);
      const choose = () => readiness.ready(access, scope, declared, query.needed);
      return planner.reading(access, scope, choose, (target, remembered) =>
        planner.count(sql, target, query, remembered),
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
      const sql = planner.searchSql(access, end);
      const sizes = new Map<string, number | null>();
      for (const generation of await readiness.complete(scope)) {
        for (const [name, size] of await countEntries(sql, planner.targetOf(generation))) sizes.set(name, size);
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

const hasCondition = (query: CheckedQuery): query is CheckedQuery & { condition: QueryCondition } =>
  query.condition !== null;
