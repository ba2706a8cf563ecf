import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { AppsError, unavailable } from '../common/errors';
import { FairMutex } from '../common/time/mutex';
import { requestTime, shortWork } from '../common/time/pace';
import {
  createGivingWay,
  createSql,
  type Dialect,
  type HostDatabase,
  inTransaction,
  MAX_SEQ,
  pendingTable,
  readerOf,
  type Sql,
} from '../database';
import type { Indexes, RecordWrite } from '../indexes';
import { recordsTable } from './table/table';

/** A range of ids of the records table, whose records no reader sees as long as the range is stored. */
interface PendingBatch {
  readonly first: number;
  readonly last: number;
  readonly scope: string;
  /** Who may write it or publish it: the process that removes what an ended one has left takes it over. */
  readonly owner: string;
}

/** Milliseconds without a sign of its owner after which a batch is abandoned. */
export const ABANDONED_AFTER = 10_000;

const columns = 'first, last, scope, owner';
const sequence = 'sqlite_sequence where name = ?';

const toBatch = (row: Record<string, unknown>): PendingBatch => ({
  first: Number(row.first),
  last: Number(row.last),
  scope: row.scope as string,
  owner: row.owner as string,
});

/** Creates the table of pending batches; call it outside of transactions. */
export async function createPendingTable(sql: Sql): Promise<void> {
  await sql.change(
    `create table if not exists ${pendingTable} (first integer not null primary key, last integer not null, scope varchar(64) not null, owner varchar(32) not null, at bigint not null)`,
  );
}

/** Reserves the next `count` ids of the records table for a batch, and hides them. They are never used again. */
async function reserve(sql: Sql, scope: string, count: number): Promise<PendingBatch> {
  const { name } = recordsTable;
  const [row] = await sql.rows(`select seq from ${sequence}`, [name]);
  const first = Number(row?.seq ?? 0) + 1;
  const last = first + count - 1;
  if (last > MAX_SEQ)
    throw new AppsError('PayloadTooLargeError', `The table of records has only ${MAX_SEQ - first + 1} ids left`);
  const text = row
    ? 'update sqlite_sequence set seq = ? where name = ?'
    : 'insert into sqlite_sequence (seq, name) values (?, ?)';
  await sql.change(text, [last, name]);
  const owner = randomBytes(16).toString('hex');
  await sql.insert(pendingTable, [...columns.split(', '), 'at'], [[first, last, scope, owner, Date.now()]]);
  return { first, last, scope, owner };
}

/** Says that the owner is alive; false when the batch is no longer its own. */
async function keepAlive(sql: Sql, { first, owner }: PendingBatch): Promise<boolean> {
  const text = `update ${pendingTable} set at = ? where first = ? and owner = ?`;
  return (await sql.change(text, [Date.now(), first, owner])) === 1;
}

/** Makes the records of a batch visible, or ends one whose records are gone; false when it is no longer the owner's. */
async function release(sql: Sql, { first, owner }: PendingBatch): Promise<boolean> {
  return (await sql.change(`delete from ${pendingTable} where first = ? and owner = ?`, [first, owner])) === 1;
}

/** Batches whose owners have not been heard of. */
async function selectAbandoned(sql: Sql): Promise<PendingBatch[]> {
  const text = `select ${columns} from ${pendingTable} where at < ? order by first`;
  return (await sql.rows(text, [Date.now() - ABANDONED_AFTER])).map(toBatch);
}

/** Takes an abandoned batch over; null when its owner, or another process, has been faster. */
async function claim(sql: Sql, batch: PendingBatch): Promise<PendingBatch | null> {
  const owner = randomBytes(16).toString('hex');
  const text = `update ${pendingTable} set owner = ?, at = ? where first = ? and owner = ? and at < ?`;
  const now = Date.now();
  const taken = await sql.change(text, [owner, now, batch.first, batch.owner, now - ABANDONED_AFTER]);
  return taken === 1 ? { ...batch, owner } : null;
}

/** The record of the range after `after` that ends a part of `count` records; the end of the range when there are fewer. */
async function endOfPart(sql: Sql, { last }: PendingBatch, after: number, count: number): Promise<number> {
  const text = `select id from ${recordsTable.name} where id > ? and id <= ? order by id limit 1 offset ?`;
  const [row] = await sql.rows(text, [after, last, count - 1]);
  return row ? Number(row.id) : last;
}

/** Deletes the records of the range after `after` up to `until`. */
async function deletePart(sql: Sql, after: number, until: number): Promise<void> {
  await sql.change(`delete from ${recordsTable.name} where id > ? and id <= ?`, [after, until]);
}

interface BatchTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
}

interface WritingTools extends BatchTools {
  /**
   * Runs a transaction that gives the time at which it began, and a pause after it. All batches of the process take turns: with a
   * pause of its own for each, eight of them would leave no time to others.
   */
  step<T extends { began: number }>(transaction: () => Promise<T>): Promise<T>;
}

/** Records that are written by several transactions, and become visible together. Only where a database has one writer. */
export interface Batch {
  /**
   * Writes the parts with their index rows, in transactions that each take about `sliceTime`.
   * @param insert inserts a part with the ids from `first`, and returns what it has written
   */
  write<T>(
    parts: readonly (readonly T[])[],
    insert: (sql: Sql, part: readonly T[], first: number) => Promise<RecordWrite[]>,
  ): Promise<void>;
  /** Makes all records visible when the transaction is committed. ServiceUnavailableError when the batch has been given up. */
  publish(sql: Sql): Promise<void>;
}

/** Begins a batch of up to `count` records of an app. */
type BeginBatch = (scope: string, count: number) => Promise<Batch>;

export interface Batches {
  /**
   * Runs `work`, which begins batches and publishes all of them in one transaction. When it rejects, what they have written is
   * deleted; what cannot be deleted stays invisible, and is deleted later.
   */
  together<T>(work: (begin: BeginBatch) => Promise<T>): Promise<T>;
  /** Whether this process has so many invisible records that a read which passes over them takes long. */
  isLoaded(): boolean;
  /** Deletes the batches that ended processes have left; one that has shown a sign of life lately is left alone. */
  sweep(): Promise<void>;
}

/** New records that are written by one transaction, also where others wait for it, and the characters of their items. */
const MAX_AT_ONCE = 200;
const MAX_TEXT_AT_ONCE = 256 * 1024;
/** Records of which no more is known than their number: each may be as large as a request. */
const FEW = 10;

/** Whether new records of an app are to be a batch. @param texts the characters of their items; they are not always read */
export function isMany(records: number, texts: Iterable<number>): boolean {
  if (records > MAX_AT_ONCE) return true;
  if (records <= FEW) return false;
  let sum = 0;
  for (const text of texts) {
    sum += text;
    if (sum > MAX_TEXT_AT_ONCE) return true;
  }
  return false;
}

/** Invisible records that a read passes over in some milliseconds. */
const MANY = 20_000;

/** Records and bytes of a part, which is written at once. */
const MAX_PART = 50;
const MAX_PART_BYTES = 64 * 1024;
/** Milliseconds that a transaction is to take, with its commit. */
const sliceTime = 20;
/** Records that the first transaction of a removal deletes; later ones take about `sliceTime` each. */
const firstRemoval = 200;
const MAX_REMOVAL = 5_000;

/** Divides records into parts of a batch. */
export async function partsOf<T>(records: readonly T[], bytesOf: (record: T) => number): Promise<T[][]> {
  const parts: T[][] = [];
  let bytes = 0;
  for (const record of records) {
    const own = await shortWork(() => bytesOf(record));
    bytes += own;
    const part = parts.at(-1);
    if (part && part.length < MAX_PART && bytes <= MAX_PART_BYTES) part.push(record);
    else {
      parts.push([record]);
      bytes = own;
    }
  }
  return parts;
}

/**
 * Batches of records on SQLite, whose one writer others would wait for: see docs/decisions/bulk-on-sqlite.md.
 * @param onError receives the error of a removal, which is tried again later
 */
export function createBatches(shared: BatchTools, onError: (error: unknown) => void): Batches {
  const { database, dialect } = shared;
  const tools: WritingTools = { ...shared, step: createSteps(shared) };
  const outside = AsyncLocalStorage.snapshot();
  /** The batches that this process writes or removes, by their first ids. */
  const own = new Map<number, PendingBatch>();

  const remove = async (batch: PendingBatch): Promise<void> => {
    own.set(batch.first, batch);
    try {
      await removeBatch(tools, batch);
    } catch (error) {
      onError(error);
    } finally {
      own.delete(batch.first);
    }
  };

  return {
    async together(work) {
      const begun: PendingBatch[] = [];
      try {
        return await work(async (scope, count) => {
          const pending = await inTransaction(tools, (sql) => reserve(sql, scope, count));
          own.set(pending.first, pending);
          begun.push(pending);
          return batchOf(tools, pending);
        });
      } catch (error) {
        for (const pending of begun) await remove(pending);
        throw error;
      } finally {
        for (const { first } of begun) own.delete(first);
      }
    },

    isLoaded: () => [...own.values()].reduce((sum, { first, last }) => sum + last - first + 1, 0) > MANY,

    async sweep() {
      const abandoned = await outside(() => selectAbandoned(createSql(readerOf(database), dialect)));
      for (const batch of abandoned.filter(({ first }) => !own.has(first))) {
        const claimed = await inTransaction(tools, (sql) => claim(sql, batch));
        if (claimed) await remove(claimed);
      }
    },
  };
}

function createSteps({ database, dialect }: BatchTools): WritingTools['step'] {
  const mutex = new FairMutex();
  const giveWay = createGivingWay(dialect);
  return async (transaction) => {
    const free = await mutex.lock(requestTime());
    try {
      const result = await transaction();
      await giveWay(result.began);
      await database.settled?.();
      return result;
    } finally {
      free();
    }
  };
}

const interrupted = () => unavailable('Storing the records was interrupted, nothing was stored. Try again', 2);

function batchOf(tools: WritingTools, pending: PendingBatch): Batch {
  let next = pending.first;
  // The commit takes its part of the time, more of it the more of the indexes' pages have changed.
  let writeTime = sliceTime / 2;
  return {
    async write(parts, insert) {
      for (let at = 0; at < parts.length; ) {
        const from = { parts: parts.slice(at), next, time: writeTime };
        const slice = await tools.step(async () => {
          const written = await inTransaction(tools, (sql) => writeSlice(tools, sql, pending, from, insert));
          return { ...written, time: performance.now() - written.began };
        });
        at += slice.parts;
        next = slice.next;
        const pace = sliceTime / Math.max(1, slice.time);
        writeTime = Math.min(sliceTime, Math.max(1, writeTime * Math.min(1.5, pace)));
      }
    },
    async publish(sql) {
      if (!(await release(sql, pending))) throw interrupted();
    },
  };
}

/** Writes parts until the time for them is over, one at least. */
async function writeSlice<T>(
  { indexes }: BatchTools,
  sql: Sql,
  batch: PendingBatch,
  from: { parts: readonly (readonly T[])[]; next: number; time: number },
  insert: (sql: Sql, part: readonly T[], first: number) => Promise<RecordWrite[]>,
): Promise<{ parts: number; next: number; began: number }> {
  // Here the wait for the connection is over.
  const began = performance.now();
  if (!(await keepAlive(sql, batch))) throw interrupted();
  // Read in each transaction: meanwhile the indexes may have been built, or dropped.
  const generations = await indexes.lock(sql, batch.scope);
  let { next } = from;
  let done = 0;
  for (const part of from.parts) {
    if (next + part.length - 1 > batch.last) throw new Error('more records than were counted');
    await indexes.write(sql, generations, await insert(sql, part, next));
    next += part.length;
    done += 1;
    if (performance.now() - began > from.time) break;
  }
  return { parts: done, next, began };
}

/** Deletes the records of a batch with their index rows, then the batch. */
async function removeBatch(tools: WritingTools, batch: PendingBatch): Promise<void> {
  const { indexes } = tools;
  let size = firstRemoval;
  for (let after = batch.first - 1; after < batch.last; ) {
    const deleteSome = async (sql: Sql) => {
      const began = performance.now();
      // Published, or taken over.
      if (!(await keepAlive(sql, batch))) return { until: batch.last, began };
      const generations = await indexes.lock(sql, batch.scope);
      const end = await endOfPart(sql, batch, after, size);
      await deletePart(sql, after, end);
      await indexes.remove(sql, generations, { after, until: end, visible: false });
      return { until: end, began };
    };
    const part = await tools.step(async () => {
      const deleted = await inTransaction(tools, deleteSome);
      return { ...deleted, time: performance.now() - deleted.began };
    });
    after = part.until;
    const pace = sliceTime / Math.max(1, part.time);
    size = Math.round(Math.min(MAX_REMOVAL, Math.max(1, size * Math.min(2, pace))));
  }
  await inTransaction(tools, (sql) => release(sql, batch));
}
