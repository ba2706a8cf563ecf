/**
 * The host's database: its dialects, SQL, transactions, and reads that can be ended. It knows no record and no index
 * (docs/decisions/storage-reading.md, docs/decisions/storage-writing.md).
 */
export { COUNTS } from './commit-marks';
export { type Client, type Dialect, dialects, isBusy, isUnavailable, pendingTable, type Row } from './dialects';
export { createLongReads } from './long-reads';
export {
  createGivingWay,
  createSql,
  inTransaction,
  isFailure,
  MAX_SEQ,
  marks,
  OUTAGE,
  readerOf,
  StorageError,
  throughCollisions,
  throughOutage,
  translateError,
  yieldToOthers,
} from './sql';
export { startAlone } from './start-lock';
export { type StrapiDb, statementsOf, strapiDatabase } from './strapi-database';
export type * from './types';
