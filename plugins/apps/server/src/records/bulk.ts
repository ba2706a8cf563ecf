import { grouped } from '../common/collections';
import { AppsError, isAppsError } from '../common/errors';
import { shortWork } from '../common/time/pace';
import { createSql, type Dialect, type HostDatabase, isFailure, readerOf, type Sql } from '../database';
import type { Indexes, RecordWrite } from '../indexes';
import type { Commits } from './commits/commits';
import { type Batches, isMany, partsOf } from './pending';
import { checkId, firstFreeId, generateId, hashOf, scopeOf } from './table/ids';
import {
  deleteOldest,
  deleteUpTo,
  insertRecords,
  lastSeq,
  type RecordInsert,
  readSome,
  selectPageRows,
  selectTaken,
} from './table/table';
import type {
  AppKey,
  CommitWrite,
  DeletedRecord,
  Items,
  ManyOptions,
  NewRecord,
  SeqRange,
  StoredRecord,
} from './types';

/** Attempts to insert a chunk when another process has generated one of its ids. */
const MAX_ATTEMPTS = 10;

/** Records whose size is looked at, to choose how they are written. */
const MAX_MEASURED = 200;

export interface ManyTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
  batches: Batches;
  commits: Commits;
}

/** Records that can be read more than once. */
interface Source extends Pick<ManyOptions, 'atCommit'> {
  read(): AsyncIterable<NewRecord[]>;
  /** Items as they are stored; BadRequestError for those that can never be. */
  stored(items: Items): Items;
}

/** A new record, and the JSON of its items. */
interface Prepared {
  record: NewRecord;
  json: string;
}

/** Creates records in order, all or none; returns how many. ConflictError when a given id is taken. */
export async function insertMany(tools: ManyTools, key: AppKey, source: Source): Promise<number> {
  const { database, dialect } = tools;
  const { records, text } = await checkAll(tools, key, source);
  const isBatch = dialect.oneWriter && isMany(records, [text]);
  // A transaction of other code is that code's own to keep short.
  if (isBatch && !(await database.current())) await inBatch(tools, key, source, records);
  else await inOneTransaction(tools, key, source);
  return records;
}

/**
 * Refuses, before anything is written, a record that can never be stored, and given ids that are taken.
 * @returns the number of the records, and the characters of the items of the first ones
 */
async function checkAll(
  { database, dialect }: ManyTools,
  key: AppKey,
  source: Source,
): Promise<{ records: number; text: number }> {
  const sql = createSql((await database.current()) ?? readerOf(database), dialect);
  let [records, text] = [0, 0];
  for await (const chunk of source.read()) {
    const before = records;
    for (const { id, items } of chunk) {
      records += 1;
      try {
        if (id !== undefined) checkId(id);
        text += await shortWork(() => {
          const stored = source.stored(items);
          return records <= MAX_MEASURED ? JSON.stringify(stored).length : 0;
        });
      } catch (error) {
        throw atRecord(error, records);
      }
    }
    await refuseTaken(sql, key, chunk).catch((error) => {
      throw atRecord(error, before + chunk.findIndex(({ id }) => id === error.details?.id) + 1);
    });
  }
  return { records, text };
}

/** The error with the number of the record that it is about, from 1. */
function atRecord(error: unknown, record: number): unknown {
  if (!isAppsError(error)) return error;
  const { name, message, details, headers, cause } = error;
  return new AppsError(name, message, { details: { ...details, record }, headers, cause });
}

async function inOneTransaction(tools: ManyTools, key: AppKey, source: Source): Promise<void> {
  const { database, dialect, indexes, commits } = tools;
  // Where there is one connection, all others would wait for it while the records are read. Here they are few.
  const isFew = dialect.oneWriter && !(await database.current());
  const few: Prepared[][] = [];
  if (isFew) for await (const chunk of source.read()) few.push(await prepared(chunk, source));
  await commits.changing([scopeOf(key)], async (sql) => {
    const generations = await indexes.lock(sql, scopeOf(key));
    const ranges: SeqRange[] = [];
    const insert = async (chunk: Prepared[]) => {
      const written = await insertChunk({ sql, dialect, key }, chunk);
      if (source.atCommit) addTo(ranges, written);
      await indexes.write(sql, generations, written);
    };
    if (isFew) for (const chunk of few) await insert(chunk);
    else for await (const chunk of source.read()) await insert(await prepared(chunk, source));
    await source.atCommit?.(ranges)(sql);
  });
}

/** Adds the rows of new records to ranges. Other transactions may have rows between them. */
function addTo(ranges: SeqRange[], written: readonly RecordWrite[]): void {
  const seqs = written.flatMap(({ after }) => (after ? [after.seq] : [])).sort((one, other) => one - other);
  for (const seq of seqs) {
    const [first, last] = ranges.at(-1) ?? [0, 0];
    if (seq === last + 1 && first > 0) ranges[ranges.length - 1] = [first, seq];
    else ranges.push([seq, seq]);
  }
}

function inBatch({ batches, ...tools }: ManyTools, key: AppKey, source: Source, records: number): Promise<void> {
  const { dialect } = tools;
  return batches.together(async (begin) => {
    const batch = await begin(scopeOf(key), records);
    let range: SeqRange | undefined;
    for await (const chunk of source.read()) {
      const parts = await partsOf(await prepared(chunk, source), ({ json }) => json.length);
      await batch.write(parts, (sql, part, first) => {
        range = [range?.[0] ?? first, first + part.length - 1];
        return insertChunk({ sql, dialect, key }, part, first);
      });
    }
    await tools.commits.changing([scopeOf(key)], async (sql) => {
      await batch.publish(sql);
      await source.atCommit?.(range ? [range] : [])(sql);
    });
  });
}

async function prepared(chunk: readonly NewRecord[], { stored }: Source): Promise<Prepared[]> {
  const all: Prepared[] = [];
  for (const record of chunk)
    all.push(
      await shortWork(() => {
        const items = stored(record.items);
        return { record: { ...record, items }, json: JSON.stringify(items) };
      }),
    );
  return all;
}

interface ChunkTools {
  sql: Sql;
  dialect: Dialect;
  key: AppKey;
}

/** @param first see insertRecords */
async function insertChunk(tools: ChunkTools, chunk: readonly Prepared[], first?: number): Promise<RecordWrite[]> {
  const { sql, dialect, key } = tools;
  for (let attempt = 1; ; attempt++) {
    const inserts = await toInserts(tools, chunk);
    await sql.change('savepoint apps_chunk');
    try {
      const seqs = await insertRecords(sql, dialect, scopeOf(key), inserts, first);
      await sql.change('release savepoint apps_chunk');
      return chunk.map(({ record: { items, creator } }, at) => {
        const { id } = inserts[at] as RecordInsert;
        return { before: null, after: { seq: seqs[at] as number, id, items, creator } };
      });
    } catch (error) {
      if (!isFailure(error, 'taken') || attempt === MAX_ATTEMPTS) throw error;
      await sql.change('rollback to savepoint apps_chunk');
      await refuseTaken(
        sql,
        key,
        chunk.map(({ record }) => record),
      );
    }
  }
}

async function toInserts({ sql, key }: ChunkTools, chunk: readonly Prepared[]): Promise<RecordInsert[]> {
  const used = new Set<string>();
  const inserts: RecordInsert[] = [];
  for (const { record, json } of chunk) {
    const { id: given, whenTaken, creator } = record;
    const wanted = given ?? generateId();
    const numbered = given !== undefined && whenTaken === 'number';
    const id = numbered ? await firstFreeId(sql, key, wanted, (hash) => used.has(hash) || undefined) : wanted;
    const hash = hashOf(key, id);
    if (used.has(hash)) throw taken(id);
    used.add(hash);
    inserts.push({ hash, site: key.site, app: key.app, id, json, creator });
  }
  return inserts;
}

/** ConflictError when a given id that may not be numbered is taken; otherwise a generated id has collided. */
async function refuseTaken(sql: Sql, key: AppKey, chunk: readonly NewRecord[]): Promise<void> {
  const given = chunk
    .filter(({ id, whenTaken }) => id !== undefined && whenTaken !== 'number')
    .map(({ id }) => id as string);
  const existing = await selectTaken(
    sql,
    given.map((id) => hashOf(key, id)),
  );
  const id = given.find((one) => existing.has(hashOf(key, one)));
  if (id !== undefined) throw taken(id);
}

function taken(id: string): AppsError {
  return new AppsError('ConflictError', 'A record id is taken', { details: { id } });
}

interface ClearTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
  commits: Commits;
}

/** Records deleted in one transaction: SQLite has one connection, and other requests need it in between. */
const batchSize = 5_000;

/** Records deleted in one transaction that also writes something of each. */
const readBatchSize = 500;

/**
 * Deletes all records that the app has when the call begins, oldest first, and its indexes. Records created meanwhile
 * stay. Each batch is a transaction: a call that is interrupted has deleted some records, and can be run again.
 * @param atCommit a write in each of them, of the records that it deletes
 */
export async function clearRecords(
  tools: ClearTools,
  scope: string,
  atCommit?: (deleted: readonly StoredRecord[]) => CommitWrite,
): Promise<void> {
  const { dialect, indexes, commits } = tools;
  const deleteSome = (sql: Sql, last: number): Promise<number> =>
    atCommit ? deleteRead({ sql, dialect }, scope, last, atCommit) : deleteOldest(sql, scope, last, batchSize);
  const first = await commits.changing([scope], async (sql) => {
    const drop = await indexes.clear(sql, scope);
    const last = await lastSeq(sql, scope);
    return { drop, last, until: await deleteSome(sql, last) };
  });
  await first.drop();
  let { until } = first;
  while (until < first.last) {
    until = await commits.changing([scope], async (sql) => {
      // A search may have begun to build indexes of the records that are left.
      const generations = await indexes.lock(sql, scope);
      const deleted = await deleteSome(sql, first.last);
      await indexes.remove(sql, generations, { after: 0, until: deleted, visible: true });
      return deleted;
    });
    await new Promise((resolve) => setImmediate(resolve));
    await tools.database.settled?.();
  }
}

/** Deletes some of the app's oldest records, none after `last`, and writes what `atCommit` makes of them. As `deleteOldest`. */
async function deleteRead(
  { sql, dialect }: Pick<ChunkTools, 'sql' | 'dialect'>,
  scope: string,
  last: number,
  atCommit: (deleted: readonly StoredRecord[]) => CommitWrite,
): Promise<number> {
  // What is written of a record must be the last that was stored of it.
  const rows = await selectPageRows(sql, scope, { limit: readBatchSize }, dialect.updateLock);
  const { records, next } = await readSome(sql, rows, readBatchSize);
  const deleted = records.filter(({ seq }) => seq <= last);
  const until = next === undefined || next > last ? last : next;
  await deleteUpTo(sql, scope, until);
  await atCommit(deleted)(sql);
  return until;
}

/** Deletes the index rows of records that are gone already. Many records of one app: drops its indexes, which are then rebuilt. */
export async function forgetDeleted(tools: ClearTools, records: readonly DeletedRecord[]): Promise<void> {
  const { indexes, commits } = tools;
  for (const [scope, deleted] of grouped(records, ({ key }) => scopeOf(key))) {
    // Tables cannot be dropped inside the caller's transaction.
    if (deleted.length > batchSize && !(await tools.database.current())) {
      const drop = await commits.changing([scope], (sql) => indexes.clear(sql, scope));
      await drop();
      continue;
    }
    const writes = deleted.map(({ seq }) => ({ before: { seq, id: '', items: {}, creator: null }, after: null }));
    await commits.changing([scope], async (sql) => indexes.write(sql, await indexes.lock(sql, scope), writes));
  }
}
