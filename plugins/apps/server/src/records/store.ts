import { AsyncLocalStorage } from 'node:async_hooks';
import { batchReads } from '../batch';
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
import { spool } from '../spool';
import type { Workers } from '../workers';
import { clearRecords, forgetDeleted } from './clear';
import { checkedRecords, insertMany } from './create-many';
import { checkId, hashOf, scopeOf } from './ids';
import { createLongReads } from './long-reads';
import { createTurns } from './queue';
import { readRecords, recordSource, recordsTable, selectPage, selectRecord, selectRecords, selectSome } from './table';
import { createTransact, notBuilt } from './transact';
import type { PageOptions, RecordStore, StoredRecord } from './types';
import type { UnitTools } from './unit-transaction';

export interface RecordStoreOptions {
  database: HostDatabase;
  /** Without `searchTime` and `searches`: 2 s, and four at once. */
  limits: Pick<Limits, 'attempts'> & Partial<Pick<Limits, 'searchTime' | 'searches'>>;
  /** Processes that read a SQLite file; with the task `readSqlite`, and as many as `searches`. */
  workers?: Workers;
  /** Told of an effect after a commit that failed. */
  onError?(error: unknown): void;
  /** How long (ms) a search waits for an index to be built before 503. */
  patience?: number;
  /** Up to how many records a search looks at one by one rather than walking an index; tests make it small. */
  few?: number;
  /** For a bulk creation that is too large for memory; by default the system's. */
  temporaryDirectory?: string;
}

/** So many new records make the database's statistics worthless. */
const manyRecords = 5_000;

/** Records of a batch of `stream`. */
const batchSize = 500;

/** Makes the record store on the host's database, whose table `apps_records` exists. Its own tables are made at the first use. */
export function createRecordStore({
  database,
  limits,
  workers,
  onError = () => {},
  patience,
  few,
  temporaryDirectory,
}: RecordStoreOptions): RecordStore {
  const dialect = dialects[database.client];
  const source = recordSource(dialect);
  const { searchTime = 2_000, searches = 4 } = limits;
  const longReads = createLongReads({ database, time: searchTime, places: searches, workers });
  const indexes = createIndexes({ database, longReads, table: recordsTable, source, patience, few });
  const together = batchReads((hashes) => selectRecords(createSql(database.knex(), dialect), hashes));
  const readTogether = async (hash: string) => {
    const near = database.near?.();
    return near ? ((await selectRecord(createSql(near, dialect), hash)) ?? undefined) : together(hash);
  };
  const tools: UnitTools = { database, dialect, indexes, turns: createTurns(), readTogether, onError };
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
   * Has the database look at the table after many records have come at once: until it does so by itself, PostgreSQL
   * takes an app for a few records, and reads and sorts all of them for every page.
   */
  const lookAgain = async (records: number): Promise<void> => {
    unseen += records;
    if (unseen < manyRecords || !dialect.analyze || (await database.current())) return;
    unseen = 0;
    await createSql(database.knex(), dialect).change(`${dialect.analyze} ${recordsTable.name}`).catch(onError);
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
      return trx ? selectRecord(sql, hash) : ((await readTogether(hash)) ?? null);
    },

    async search(key, declared, options, end = {}) {
      const place = await access();
      const { rows, total } = await refuseMissing(indexes.search(place, scopeOf(key), declared, options, end));
      const records = await readRecords(place.sql, rows);
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

    async createMany(key, _declared, records) {
      await prepare();
      const spooled = await spool(checkedRecords(records), temporaryDirectory);
      try {
        const total = await inTransaction(tools, (sql) => insertMany({ sql, dialect, indexes, key }, spooled.read()));
        await lookAgain(total);
        return total;
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
