import { AsyncLocalStorage } from 'node:async_hooks';
import { dataLoader } from '../common/coalesce';
import { spool } from '../common/spool';
import type { Limits } from '../config.types';
import {
  createIndexes,
  createSql,
  dialects,
  type HostDatabase,
  IndexMissing,
  inTransaction,
  queryLimits,
  readerOf,
} from '../indexes';
import type { Workers } from '../workers';
import { clearRecords, forgetDeleted } from './bulk/clear';
import { checkIds, insertMany } from './bulk/create-many';
import { createLongReads } from './reads/long-reads';
import { checkId, hashOf, scopeOf } from './table/ids';
import {
  readRecords,
  readSome,
  recordSource,
  recordsTable,
  selectPage,
  selectRecord,
  selectRecords,
  selectSome,
} from './table/table';
import type { AppKey, NewRecord, PageOptions, RecordStore, StoredRecord } from './types';
import { createKeyedMutex } from './unit/keyed-mutex';
import { sharedCommits } from './unit/shared-commits';
import { createTransact, notBuilt } from './unit/transact';
import type { UnitTools } from './unit/unit-tools';

export interface RecordStoreOptions {
  database: HostDatabase;
  /** Without `searchTime` and `searches`: 2 s, and four at once. */
  limits: Pick<Limits, 'attempts'> & Partial<Pick<Limits, 'searchTime' | 'searches'>>;
  /** Processes that read a SQLite file; with the task `readSqlite`, and as many as `searches`. */
  workers?: Workers;
  /** Receives the error of an effect that failed after a commit. */
  onError?(error: unknown): void;
  /** How long (ms) a search waits for an index to be built before 503. */
  timeout?: number;
  /** Records that a search sorts at most, instead of walking an index; tests make it small. */
  maxSorted?: number;
  /** Records of a batch of `stream` and `streamMatches`, 500 by default; tests make it small. */
  batchSize?: number;
  /** For a bulk creation that is too large for memory; by default the system's. */
  temporaryDirectory?: string;
}

/** New records after which the database's statistics are out of date. */
const ANALYZE_AFTER = 5_000;

/** Makes the record store on the host's database, which has the table `apps_records`. The first use creates its own tables. */
export function createRecordStore({
  database,
  limits,
  workers,
  onError = () => {},
  timeout,
  maxSorted,
  batchSize = 500,
  temporaryDirectory,
}: RecordStoreOptions): RecordStore {
  const dialect = dialects[database.client];
  const source = recordSource(dialect);
  const { searchTime = 2_000, searches = 4 } = limits;
  const longReads = createLongReads({ database, time: searchTime, slots: searches, workers });
  const indexes = createIndexes({ database, longReads, table: recordsTable, source, timeout, maxSorted });
  const load = dataLoader((hashes) => selectRecords(createSql(readerOf(database), dialect), hashes));
  const loadRecord = async (hash: string) => {
    const connection = database.readConnection?.();
    return connection ? ((await selectRecord(createSql(connection, dialect), hash)) ?? undefined) : load(hash);
  };
  const commit = sharedCommits({ database, dialect, indexes });
  const tools: UnitTools = { database, dialect, indexes, mutex: createKeyedMutex(), loadRecord, onError, commit };
  const outside = AsyncLocalStorage.snapshot();
  let preparing: Promise<void> | undefined;

  const prepare = (): Promise<void> => {
    preparing ??= outside(() => indexes.prepare()).catch((error: unknown) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };

  const access = async () => {
    await prepare();
    const trx = await database.current();
    return { sql: createSql(trx ?? readerOf(database), dialect), trx };
  };

  let unseen = 0;
  /**
   * Updates the database's statistics of the table after many inserts: until it does so by itself, PostgreSQL expects an
   * app to have few records, and reads and sorts all of them for every page.
   */
  const analyze = async (records: number): Promise<void> => {
    unseen += records;
    if (unseen < ANALYZE_AFTER || !dialect.analyze || (await database.current())) return;
    unseen = 0;
    await createSql(database.knex(), dialect).change(`${dialect.analyze} ${recordsTable.name}`).catch(onError);
  };

  const insertAll = async (key: AppKey, source: { read(): AsyncIterable<NewRecord[]> }): Promise<number> => {
    await checkIds(source.read());
    const total = await inTransaction(tools, (sql) => insertMany({ sql, dialect, indexes, key }, source.read()));
    await analyze(total);
    return total;
  };

  const page: RecordStore['page'] = async (key, options) =>
    selectPage((await access()).sql, scopeOf(key), { ...options, limit: options.limit ?? queryLimits.limit });

  const transact = createTransact(tools, limits.attempts);

  return {
    prepare,
    async transact(work, about) {
      await prepare();
      return transact(work, about);
    },
    page,

    async get(key, id) {
      checkId(id);
      const { sql, trx } = await access();
      const hash = hashOf(key, id);
      return trx ? selectRecord(sql, hash) : ((await loadRecord(hash)) ?? null);
    },

    async search(key, declared, options, end = {}) {
      const connection = await access();
      const { rows, total } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, options, end));
      const records = await readRecords(connection.sql, rows);
      return total === undefined ? { records } : { records, total };
    },

    async count(key, declared, query, names, end = {}) {
      return refuseMissing(indexes.count(await access(), scopeOf(key), declared, { query, names }, end));
    },

    async *stream(
      key,
      { limit = Number.POSITIVE_INFINITY, offset, after = 0 }: PageOptions = {},
    ): AsyncIterable<StoredRecord[]> {
      let left = limit;
      let skipped = offset;
      let from = after;
      while (left > 0) {
        const size = Math.min(batchSize, left);
        const { sql } = await access();
        const { records, next } = await selectSome(sql, scopeOf(key), { limit: size, offset: skipped, after: from });
        if (records.length) yield records;
        if (next === undefined) return;
        left -= records.length;
        skipped = 0;
        from = next;
      }
    },

    async *streamMatches(key, declared, { query, names }) {
      for (let after = 0; ; ) {
        const connection = await access();
        const page = { query, names, limit: batchSize, after };
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, page, {}));
        const { records, next } = await readSome(connection.sql, rows, batchSize);
        if (records.length) yield records;
        if (next === undefined) return;
        after = next;
      }
    },

    async createMany(key, records) {
      await prepare();
      if ('read' in records) return insertAll(key, records);
      const spooled = await spool(records, temporaryDirectory);
      try {
        return await insertAll(key, spooled);
      } finally {
        await spooled.remove();
      }
    },

    async forgetDeleted(records) {
      await prepare();
      await forgetDeleted(tools, records);
    },

    async clear(key) {
      await prepare();
      await clearRecords(tools, scopeOf(key));
    },

    async refresh(key, declared, { rebuild }) {
      await prepare();
      await indexes.refresh(scopeOf(key), declared, rebuild);
      return [...new Set([...declared.keys(), 'id'])].sort();
    },

    async check({ repair }) {
      await prepare();
      return indexes.check(repair);
    },

    async progress(key) {
      await prepare();
      return indexes.progress(scopeOf(key));
    },

    async completeIndexes(key) {
      await prepare();
      return indexes.complete(scopeOf(key));
    },

    async indexSizes(key, end = {}) {
      return indexes.sizes(await access(), scopeOf(key), end);
    },

    async destroy() {
      await indexes.destroy();
      await longReads.destroy();
      database.close?.();
    },
  };
}

async function refuseMissing<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (error) {
    throw error instanceof IndexMissing ? notBuilt(error) : error;
  }
}
