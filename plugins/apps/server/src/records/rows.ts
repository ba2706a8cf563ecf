import { AppsError } from '../errors';
import type { IndexedRecord, Row, Sql } from '../indexes';
import { marks } from '../indexes';
import type { Items, StoredRecord } from './types';

/**
 * Bytes of items that one reading brings into memory: records may be a megabyte each and ten thousand of them asked for,
 * but the process is everybody's.
 */
export const mostBytes = 16 * 1024 * 1024;

/**
 * The items of a record `r` and their size, as columns `items` and `bytes` of a statement that gives up to `limit` rows.
 * Items longer than a row's part of `mostBytes` are null: whoever wants them reads them by themselves, one after another.
 */
export function itemColumns(limit: number): string {
  const part = Math.floor(mostBytes / Math.max(1, limit));
  return `case when octet_length(r.items) <= ${part} then r.items end as items, octet_length(r.items) as bytes`;
}

/** How many rows, from the beginning, have no more than `mostBytes` of items together; one at least. */
export function fitting(rows: readonly Row[]): number {
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    bytes += Number(row.bytes);
    if (bytes > mostBytes && at > 0) return at;
  }
  return rows.length;
}

/** Rows with the items that were too long to come along; without those whose record is gone meanwhile. */
export async function withItems(sql: Sql, table: string, rows: readonly Row[]): Promise<Row[]> {
  const missing = rows.filter((row) => row.items === null);
  if (missing.length === 0) return [...rows];
  const ids = missing.map((row) => row.id);
  const found = await sql.rows(`select id, items, version from ${table} where id in (${marks(ids)})`, ids);
  const whole = new Map(found.map((row) => [String(row.id), row]));
  return rows
    .map((row) => (row.items === null ? { ...row, ...whole.get(String(row.id)) } : row))
    .filter((row) => row.items !== null);
}

/** The records of rows, complete. PayloadTooLargeError when they are more than one reading may bring. */
export async function toRecords(sql: Sql, table: string, rows: readonly Row[]): Promise<StoredRecord[]> {
  if (fitting(rows) < rows.length) {
    throw new AppsError(
      'PayloadTooLargeError',
      `The records asked for have more than ${mostBytes / 1024 / 1024} MB together: ask for fewer at a time`,
    );
  }
  return (await withItems(sql, table, rows)).map(toRecord);
}

export function toRecord(row: Row): StoredRecord {
  return {
    id: row.identifier as string,
    items: JSON.parse(row.items as string) as Items,
    creator: row.creator as string | null,
    version: Number(row.version),
    seq: Number(row.id),
  };
}

export function toIndexed(row: Row): IndexedRecord {
  return { seq: Number(row.id), id: row.identifier as string, items: JSON.parse(row.items as string) as Items };
}
