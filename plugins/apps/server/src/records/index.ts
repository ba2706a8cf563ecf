/**
 * The public interface of records/: records of all apps in the host's database (docs/reference/terms.md#records,
 * docs/reference/transactions.md).
 */

export { createKeptAnswers, isAnsweredBefore, joined } from './answers';
export {
  type ChangedItems,
  type ChangeWatcher,
  changedBy,
  changedByLogic,
  type Provenance,
  provenance,
  RecordChanges,
  type Through,
  throughs,
  watchChanges,
} from './changes';
export { contentScope } from './commits/dependencies';
export { CollisionError } from './commits/log';
export { type WatchedStrapi, watchForeignWrites } from './foreign-writes';
export { createHistory, type Earlier, type History, type HistoryVersion, itemsBefore } from './history';
export { createRecordStore, type RecordStoreOptions } from './store';
export { hashOf, scopeOf } from './table/ids';
export { applyChange, itemsJson, mayNameFiles, storedJson, withOtherItems } from './table/rows';
export type * from './types';
