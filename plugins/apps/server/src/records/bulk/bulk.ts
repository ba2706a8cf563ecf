import { spool } from '../../common/spool';
import { createSql } from '../../indexes';
import { storable, withoutId } from '../table/change';
import { recordsTable } from '../table/table';
import type { AppKey, ManyOptions, NewRecord, RecordStore } from '../types';
import { insertMany, type ManyTools } from './create-many';

interface BulkOptions {
  /** Receives an error after the commit. */
  onError(error: unknown): void;
  /** For what is too large for memory; by default the system's. */
  temporaryDirectory: string | undefined;
}

/** New records after which the database's statistics are out of date. */
const ANALYZE_AFTER = 5_000;

/** Makes `RecordStore.createMany`. */
export function createBulk(tools: ManyTools, { onError, temporaryDirectory }: BulkOptions): RecordStore['createMany'] {
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
