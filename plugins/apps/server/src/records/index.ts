/** Front of the room: records of all apps in the host's database (contract, sections 2, 4, 8 and 9). */

export { isUnavailable } from '../indexes';
export type { Client, HostDatabase } from './database';
export { type WatchedStrapi, watchForeignWrites } from './foreign-writes';
export { checkId, maxIdLength } from './ids';
export { createRecordStore, type RecordStoreOptions } from './store';
export { type StrapiDb, strapiDatabase } from './strapi-database';
export type * from './types';
