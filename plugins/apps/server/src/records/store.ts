import { AsyncLocalStorage } from 'node:async_hooks';
import { spool } from '../common/spool';
import { dataLoader } from '../common/time/coalesce';
import { createKeyedMutex } from '../common/time/mutex';
import { expectWork } from '../common/time/pace';
import type { Limits } from '../config.types';
import { createLongReads, createSql, dialects, type HostDatabase, readerOf } from '../database';
import { documentIdsIn } from '../files';
import { type Access, createIndexes, type Indexes } from '../indexes';
import type { IndexDeclarations } from '../indexes/types';
import type { Workers } from '../workers';
import { clearRecords, forgetDeleted, insertMany, type ManyTools } from './bulk';
import { createCommits } from './commits/commits';
import { createDependencies } from './commits/dependencies';
import { type Batches, createBatches, createPendingTable } from './pending';
import { checkId, hashOf, scopeOf } from './table/ids';
import { storable, withoutId } from './table/rows';
import {
  ofCreator,
  readPage,
  readRecords,
  readSome,
  readSomeOf,
  recordSource,
  recordsTable,
  selectRecord,
  selectRecords,
} from './table/table';
import type { AppKey, ManyOptions, NewRecord, RecordStore } from './types';
import { sharedCommits } from './unit/commit';
import { refuseMissing } from './unit/entries';
import { createTransact, type UnitTools } from './unit/transact';

interface BulkOptions {
  /** Receives an error after the commit. */
  onError(error: unknown): void;
  /** For what is too large for memory; by default the system's. */
  temporaryDirectory: string | undefined;
}

/** New records after which the database's statistics are out of date. */
const ANALYZE_AFTER = 5_000;

/** Makes `RecordStore.createMany`. */
function createBulk(tools: ManyTools, { onError, temporaryDirectory }: BulkOptions): RecordStore['createMany'] {
  const analyze = createAnalyze(tools, onError);

  const insertAll = async (
    key: AppKey,
    { read }: { read(): AsyncIterable<NewRecord[]> },
    { restores = false, atCommit }: ManyOptions,
  ) => {
    const stored = restores ? withoutId : storable;
    const total = await insertMany(tools, key, { read, stored, ...(atCommit && { atCommit }) });
    await analyze(total);
    return total;
  };

  return async (key, records, options = {}) => {
    if ('read' in records) return insertAll(key, records, options);
    const spooled = await spool(records, temporaryDirectory);
    try {
      return await insertAll(key, spooled, options);
    } finally {
      await spooled.remove();
    }
  };
}

/**
 * Updates the database's statistics of the table after many inserts: until it does so by itself, PostgreSQL expects an app to
 * have few records, and reads and sorts all of them for every page.
 */
function createAnalyze({ database, dialect }: ManyTools, onError: BulkOptions['onError']) {
  let unseen = 0;
  return async (records: number): Promise<void> => {
    unseen += records;
    if (unseen < ANALYZE_AFTER || !dialect.analyze || (await database.current())) return;
    unseen = 0;
    await createSql(database.knex(), dialect).change(`${dialect.analyze} ${recordsTable.name}`).catch(onError);
  };
}

/** Milliseconds between two looks for abandoned batches: each is one short read. */
const sweepEvery = 5_000;

/**
 * Deletes what ended processes have left of their batches: at the start, and then every few seconds. `stop`
 * waits for a removal that is running.
 * @param onError receives the error of an attempt; the next one follows
 */
function createLeftovers(
  batches: Pick<Batches, 'sweep'>,
  onError: (error: unknown) => void,
): { start(): void; stop(): Promise<void> } {
  const outside = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const sweep = (): void => {
    running = batches.sweep().catch(onError);
  };
  return {
    start() {
      outside(() => {
        sweep();
        timer = setInterval(() => void running.then(sweep), sweepEvery).unref();
      });
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

export interface RecordStoreOptions {
  database: HostDatabase;
  /** Without `searchTime` and `searches`: 2 s, and four at once. */
  limits: Pick<Limits, 'attempts'> & Partial<Pick<Limits, 'searchTime' | 'searches'>>;
  /** Processes that read a SQLite file; with the task `readSqlite`, and as many as `searches`. */
  workers?: Workers;
  /** Receives the error of an effect that failed after a commit. */
  onError?(error: unknown): void;
  /** Where this process should be the only one on the database: called when another one has committed. */
  onOther?(): void;
  /** Called with the milliseconds that a search has waited for its turn. */
  waited?(time: number): void;
  /** How long (ms) a search waits for an index to be built before 503. */
  timeout?: number;
  /** Records that a search sorts at most, instead of walking an index; tests make it small. */
  maxSorted?: number;
  /** Records that a search reads at most in the wanted order before it counts its matches; tests make it small. */
  maxWalk?: number;
  /** Records of a batch of `stream` and `streamMatches`, 500 by default; tests make it small. */
  batchSize?: number;
  /** For a bulk creation that is too large for memory; by default the system's. */
  temporaryDirectory?: string;
}

/** Makes the record store on the host's database, which has the table `apps_records`. The first use creates its own tables. */
export function createRecordStore({
  database,
  limits,
  workers,
  onError = () => {},
  onOther,
  waited,
  timeout,
  maxSorted,
  maxWalk,
  batchSize = 500,
  temporaryDirectory,
}: RecordStoreOptions): RecordStore {
  const dialect = dialects[database.client];
  const source = recordSource(dialect);
  const { searchTime = 2_000, searches = 4 } = limits;
  const longReads = createLongReads({ database, time: searchTime, slots: searches, workers, waited });
  const indexes = createIndexes({
    database,
    longReads,
    table: recordsTable,
    source,
    timeout,
    maxSorted,
    maxWalk,
    isLoaded: () => batches.isLoaded(),
  });
  const load = dataLoader((hashes) => selectRecords(createSql(readerOf(database), dialect), hashes));
  const loadRecord = async (hash: string) => {
    const connection = database.readConnection?.();
    return connection ? ((await selectRecord(createSql(connection, dialect), hash)) ?? undefined) : load(hash);
  };
  const batches: Batches = createBatches({ database, dialect, indexes }, onError);
  const commits = createCommits({ database, dialect }, onOther);
  const commit = sharedCommits({ database, dialect, indexes, batches, commits });
  const mutex = createKeyedMutex();
  const tools: UnitTools = { database, dialect, indexes, mutex, commits, loadRecord, onError, commit };
  const outside = AsyncLocalStorage.snapshot();
  let preparing: Promise<void> | undefined;

  const leftovers = createLeftovers(batches, onError);

  const open = async (): Promise<void> => {
    await indexes.prepare();
    await commits.counts.prepare();
    if (!dialect.oneWriter) return;
    await createPendingTable(createSql(database.knex(), dialect));
    leftovers.start();
  };

  const prepare = (): Promise<void> => {
    preparing ??= outside(open).catch((error: unknown) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };

  const access = async () => {
    await prepare();
    const current = database.current();
    const trx = current && (await current);
    return { sql: createSql(trx ?? readerOf(database), dialect), trx };
  };

  const createMany = createBulk({ database, dialect, indexes, batches, commits }, { onError, temporaryDirectory });
  const page: RecordStore['page'] = async (key, options) =>
    refuseMissing(readPage(indexes, await access(), scopeOf(key), options));

  const transact = createTransact(tools, limits.attempts);

  return {
    prepare,
    dependencies: createDependencies(commits),
    async transact(work, about) {
      await prepare();
      return transact(work, about);
    },
    page,

    async get(key, id, creator) {
      checkId(id);
      const { sql, trx } = await access();
      const hash = hashOf(key, id);
      return ofCreator(trx ? await selectRecord(sql, hash) : ((await loadRecord(hash)) ?? null), creator);
    },

    async search(key, declared, options, end = {}) {
      const connection = await access();
      const { rows, total } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, options, end));
      const records = await readRecords(connection.sql, rows);
      return { records, found: rows.length, ...(total !== undefined && { total }) };
    },

    async count(key, declared, query, options, end = {}) {
      return refuseMissing(indexes.count(await access(), scopeOf(key), declared, { query, ...options }, end));
    },

    ...createStreams({ access, indexes, batchSize }),

    async createMany(key, records, options) {
      await prepare();
      return createMany(key, records, options);
    },

    async forgetDeleted(records) {
      await prepare();
      await forgetDeleted(tools, records);
    },

    async clear(key, atCommit) {
      await prepare();
      await clearRecords(tools, scopeOf(key), atCommit);
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
      await leftovers.stop();
      await indexes.destroy();
      await longReads.destroy();
      database.close?.();
    },
  };
}

/** The app's own indexes, which are not needed. */
const NONE: IndexDeclarations = new Map();

/** Milliseconds that a row takes about to be read. */
const STREAM_ROW_TIME = 0.03;

interface StreamTools {
  /** The connection for the next statement. */
  access(): Promise<Access>;
  indexes: Indexes;
  /** Records of a batch. */
  batchSize: number;
}

/** Reads any number of records in batches, each with a statement of its own: nothing is locked between them. */
function createStreams({
  access,
  indexes,
  batchSize,
}: StreamTools): Pick<RecordStore, 'stream' | 'streamMatches' | 'namedFiles' | 'recordsWithFile'> {
  return {
    async *stream(key, { limit = Number.POSITIVE_INFINITY, offset = 0, after = 0, only } = {}) {
      let left = limit;
      let skipped = offset;
      let from = after;
      while (left > 0) {
        const size = Math.min(batchSize, left);
        const page = { limit: size, offset: skipped, after: from, only };
        await expectWork(STREAM_ROW_TIME * size);
        const { records, next } = await refuseMissing(readSomeOf(indexes, await access(), scopeOf(key), page));
        if (records.length) yield records;
        if (next === undefined) return;
        left -= records.length;
        skipped = 0;
        from = next;
      }
    },

    async *streamMatches(key, declared, { query, names, creator }) {
      for (let after = 0; ; ) {
        const connection = await access();
        const page = { query, names, limit: batchSize, after, ...(creator === undefined ? {} : { creator }) };
        await expectWork(STREAM_ROW_TIME * batchSize);
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), declared, page, {}));
        const { records, next } = await readSome(connection.sql, rows, batchSize);
        if (records.length) yield records;
        if (next === undefined) return;
        after = next;
      }
    },

    async recordsWithFile(key, documentId) {
      const connection = await access();
      const page = { files: [documentId], limit: batchSize };
      const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), NONE, page, {}));
      const { records } = await readSome(connection.sql, rows, batchSize);
      // One may have been changed between the two statements.
      return records.filter(({ items }) => documentIdsIn(items).includes(documentId));
    },

    async namedFiles(key, documentIds) {
      const left = new Set(documentIds);
      const named = new Set<string>();
      // Each round finds a file at least, of which other records may be many.
      for (let round = 0; round <= documentIds.length && left.size > 0; round += 1) {
        const connection = await access();
        const page = { files: [...left], limit: batchSize };
        const { rows } = await refuseMissing(indexes.search(connection, scopeOf(key), NONE, page, {}));
        if (rows.length === 0) return named;
        const { records } = await readSome(connection.sql, rows, batchSize);
        for (const { items } of records) for (const id of documentIdsIn(items)) if (left.delete(id)) named.add(id);
      }
      // Records that were changed between the two statements of each round: none of the files counts as not named.
      return new Set(documentIds);
    },
  };
}
