import { randomBytes } from 'node:crypto';
import { AppsError } from '../../common/errors';
import { MAX_SEQ, pendingTable, type Sql } from '../../database';
import { recordsTable } from '../table/table';

/** A range of ids of the records table, whose records no reader sees as long as the range is stored. */
export interface PendingBatch {
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
export async function reserve(sql: Sql, scope: string, count: number): Promise<PendingBatch> {
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
export async function keepAlive(sql: Sql, { first, owner }: PendingBatch): Promise<boolean> {
  const text = `update ${pendingTable} set at = ? where first = ? and owner = ?`;
  return (await sql.change(text, [Date.now(), first, owner])) === 1;
}

/** Makes the records of a batch visible, or ends one whose records are gone; false when it is no longer the owner's. */
export async function release(sql: Sql, { first, owner }: PendingBatch): Promise<boolean> {
  return (await sql.change(`delete from ${pendingTable} where first = ? and owner = ?`, [first, owner])) === 1;
}

/** Batches whose owners have not been heard of. */
export async function selectAbandoned(sql: Sql): Promise<PendingBatch[]> {
  const text = `select ${columns} from ${pendingTable} where at < ? order by first`;
  return (await sql.rows(text, [Date.now() - ABANDONED_AFTER])).map(toBatch);
}

/** Takes an abandoned batch over; null when its owner, or another process, has been faster. */
export async function claim(sql: Sql, batch: PendingBatch): Promise<PendingBatch | null> {
  const owner = randomBytes(16).toString('hex');
  const text = `update ${pendingTable} set owner = ?, at = ? where first = ? and owner = ? and at < ?`;
  const now = Date.now();
  const taken = await sql.change(text, [owner, now, batch.first, batch.owner, now - ABANDONED_AFTER]);
  return taken === 1 ? { ...batch, owner } : null;
}

/** The record of the range after `after` that ends a part of `count` records; the end of the range when there are fewer. */
export async function endOfPart(sql: Sql, { last }: PendingBatch, after: number, count: number): Promise<number> {
  const text = `select id from ${recordsTable.name} where id > ? and id <= ? order by id limit 1 offset ?`;
  const [row] = await sql.rows(text, [after, last, count - 1]);
  return row ? Number(row.id) : last;
}

/** Deletes the records of the range after `after` up to `until`. */
export async function deletePart(sql: Sql, after: number, until: number): Promise<void> {
  await sql.change(`delete from ${recordsTable.name} where id > ? and id <= ?`, [after, until]);
}
