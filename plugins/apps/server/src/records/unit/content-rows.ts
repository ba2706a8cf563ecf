import { grouped } from '../../common/collections';
import { type Dialect, marks, type Sql } from '../../indexes';
import { CollisionError } from '../commits/commits';
import type { ContentRow } from '../types';

/** Rows of the host's content that a unit of work has read: a commit that writes finds them as they were. */
export class ContentRows {
  private rows = new Map<string, ContentRow>();
  /** Documents that the unit itself has changed. */
  private own = new Set<string>();

  /** What was read first counts. */
  add(row: ContentRow): void {
    if (this.own.has(row.documentId)) return;
    const key = `${row.table} ${row.id}`;
    if (!this.rows.has(key)) this.rows.set(key, row);
  }

  all(): ContentRow[] {
    return [...this.rows.values()];
  }

  of(documentId: string): ContentRow[] {
    return this.all().filter((row) => row.documentId === documentId);
  }

  /** From now on a document is as the unit has left it. */
  change(documentId: string): void {
    this.own.add(documentId);
    for (const [key, row] of this.rows) if (row.documentId === documentId) this.rows.delete(key);
  }

  /** Saves the state; returns a function that restores it. */
  mark(): () => void {
    const [rows, own] = [new Map(this.rows), new Set(this.own)];
    return () => {
      this.rows = rows;
      this.own = own;
    };
  }
}

/**
 * Locks rows against changes until the transaction ends. CollisionError when one was changed or deleted since it was read.
 * @param changes whether the transaction is to change them: two that shared a lock would wait for each other
 */
export async function checkContent(
  sql: Sql,
  dialect: Dialect,
  rows: readonly ContentRow[],
  changes = false,
): Promise<void> {
  for (const [table, read] of grouped(rows, (row) => row.table)) {
    const ids = read.map(({ id }) => id);
    const text = `select id, updated_at from ${dialect.quoted(table)} where id in (${marks(ids)}) order by id${changes ? dialect.updateLock : dialect.shareLock}`;
    const now = new Map((await sql.rows(text, ids)).map((row) => [Number(row.id), timeOf(row.updated_at)]));
    const changed = read.find(({ id, updatedAt }) => now.get(id) !== updatedAt);
    if (changed) throw new CollisionError([`content:${changed.documentId}`]);
  }
}

/** Milliseconds since 1970 of a time as a database's driver gives it. */
function timeOf(value: unknown): number {
  return new Date(value as Date | number | string).getTime();
}
