/**
 * The public interface of records/: records of all apps in the host's database (docs/reference/terms.md#records,
 * docs/reference/transactions.md).
 */

export { createKeptAnswers, isAnsweredBefore, joined } from './answers';
export { type ChangedItems, type ChangeWatcher, RecordChanges, watchChanges } from './changes';
export { CollisionError } from './commits/commits';
export { contentScope } from './commits/dependencies';
export { type WatchedStrapi, watchForeignWrites } from './foreign-writes';
export { createHistory, type Earlier, type History, type HistoryVersion, itemsBefore } from './history';
export { changedBy, changedByLogic, type Provenance, provenance, type Through, throughs } from './provenance';
export { createRecordStore, type RecordStoreOptions } from './store';
export { hashOf, scopeOf } from './table/ids';
export { applyChange, itemsJson, mayNameFiles, storedJson, withOtherItems } from './table/rows';
export type * from './types';
