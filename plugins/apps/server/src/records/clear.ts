import { type Dialect, type HostDatabase, type Indexes, inTransaction } from '../indexes';
import { deleteOldest, lastSeq } from './table';

/** Records deleted in one transaction: SQLite has one connection, and others are to get their turn. */
const batchSize = 5_000;

/**
 * Deletes all records that the app has when this begins, oldest first, and its indexes. Records that are created
 * meanwhile stay. More than a batch is more than one transaction: what breaks off has deleted some, and can be run again.
 */
export async function clearRecords(
  tools: { database: HostDatabase; dialect: Dialect; indexes: Indexes },
  scope: string,
): Promise<void> {
  const { indexes } = tools;
  const first = await inTransaction(tools, async (sql) => {
    const drop = await indexes.clear(sql, scope);
    const last = await lastSeq(sql, scope);
    return { drop, last, until: await deleteOldest(sql, scope, last, batchSize) };
  });
  await first.drop();
  let { until } = first;
  while (until < first.last) {
    until = await inTransaction(tools, async (sql) => {
      // A search may have begun to build indexes anew, of what is left.
      const generations = await indexes.lock(sql, scope);
      const deleted = await deleteOldest(sql, scope, first.last, batchSize);
      await indexes.remove(sql, generations, deleted);
      return deleted;
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}
