import { grouped } from '../../common/collections';
import type { Dialect, HostDatabase, Sql } from '../../database';
import type { Indexes } from '../../indexes';
import type { Commits } from '../commits/commits';
import { scopeOf } from '../table/ids';
import { deleteOldest, deleteUpTo, lastSeq, readSome, selectPageRows } from '../table/table';
import type { CommitWrite, DeletedRecord, StoredRecord } from '../types';

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
  const { indexes, commits } = tools;
  const deleteSome = (sql: Sql, last: number): Promise<number> =>
    atCommit ? deleteRead(sql, scope, last, atCommit) : deleteOldest(sql, scope, last, batchSize);
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
  sql: Sql,
  scope: string,
  last: number,
  atCommit: (deleted: readonly StoredRecord[]) => CommitWrite,
): Promise<number> {
  const rows = await selectPageRows(sql, scope, { limit: readBatchSize });
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
