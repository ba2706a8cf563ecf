import type { Items, Json } from '../../../shared/json';
import type { IndexCheck, IndexDeclarations, Progress, ReadEnd, SearchOptions } from '../indexes/types';

/** The app whose records are meant: records belong to a site's app, whichever theme holds its folder. */
export interface AppKey {
  site: string;
  app: string;
}

/** Which record is meant. */
export interface RecordAddress {
  key: AppKey;
  id: string;
}

/** A record as stored. `items` never contains `id`. */
export interface StoredRecord {
  readonly id: string;
  readonly items: Items;
  /** Identity of the creator (`Requester.identity`), null if anonymous. Not an item. */
  readonly creator: string | null;
  /** Grows with every write of the record; the ETag is made of it. 0 for one that is not committed yet. */
  readonly version: number;
  /** Order of creation in the app; for cursors. 0 for one that is not committed yet. */
  readonly seq: number;
}

/** A change of a record. Items not named stay (contract, section 4, operation 10). */
export interface RecordChange {
  set?: Items;
  unset?: string[];
  /** Added atomically to numbers; a missing item starts at 0. Another type of value: BadRequestError. */
  inc?: Record<string, number>;
}

export interface PageOptions {
  limit?: number;
  offset?: number;
  /** `seq` after which the page begins. */
  after?: number;
}

/** What both the store and a unit of work can be asked. */
export interface RecordReader {
  /** The record, or null. Bad ids: BadRequestError. */
  get(key: AppKey, id: string): Promise<StoredRecord | null>;
  /** Records in order of creation. */
  page(key: AppKey, options: PageOptions): Promise<StoredRecord[]>;
  /**
   * Records that match, in the order of contract section 9. Bad query, unknown index: BadRequestError with position and reason. One that
   * takes too long, or when too many others do, or that comes to its `end`: ServiceUnavailableError.
   */
  search(key: AppKey, indexes: IndexDeclarations, options: SearchOptions, end?: ReadEnd): Promise<SearchResult>;
  /** Number of records that match (all, without a query). */
  count(key: AppKey, indexes: IndexDeclarations, query?: string, names?: Items, end?: ReadEnd): Promise<number>;
}

export interface SearchResult {
  records: StoredRecord[];
  /** Number of all matches; only when `withTotal` was asked for. */
  total?: number;
}

/** An id to be chosen: by the service (undefined), or the given one, refused (409) or numbered (`-1`, `-2` …) when taken. */
export interface NewRecord {
  id?: string;
  whenTaken?: 'refuse' | 'number';
  items: Items;
  creator: string | null;
}

/**
 * Everything one request writes, as one transaction (architecture.md, "Two decisions").
 * Reads happen outside a transaction and remember the versions they saw; writes stay in memory, seen by the unit's
 * own reads; `commit` writes them in one short transaction that checks those versions.
 */
export interface UnitOfWork extends RecordReader {
  create(key: AppKey, indexes: IndexDeclarations, record: NewRecord): Promise<StoredRecord>;
  /** Applies a change; NotFoundError when there is no such record. Returns the record as it now is in this unit. */
  update(key: AppKey, indexes: IndexDeclarations, id: string, change: RecordChange): Promise<StoredRecord>;
  /** Gives a record that this unit has created, and not committed, another id (same `whenTaken` rules). */
  rename(key: AppKey, from: string, to: string, whenTaken: 'refuse' | 'number'): Promise<StoredRecord>;
  /** True when there was such a record. */
  delete(key: AppKey, id: string): Promise<boolean>;
  /**
   * Runs `work`, a change of host content, inside this unit's database transaction, opened now if it is not yet, so that
   * Strapi's own document and query services join it. Pending writes are flushed first. The transaction is rolled back when
   * the unit does not go on soon: `work` then runs again, with what it must leave the same way, when the transaction is next
   * opened, at the commit at the latest. Of a `work` that fails nothing is left, and it is not run again.
   */
  inTransaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs reads of Strapi's own services: inside this unit's transaction if one is open or the unit has changed host content,
   * for they would wait for it otherwise (SQLite has one connection) and miss what it wrote; else as they are.
   */
  alongside<T>(work: () => Promise<T>): Promise<T>;
  /** Registers an effect outside the database: runs once, after the commit, in order; never after a rollback. */
  afterCommit(effect: () => void | Promise<void>): void;
  /** Writes everything. ConflictError when a version read or written has changed meanwhile, or an id is taken. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A record that is gone; `seq` was its row in the records table. */
export interface DeletedRecord {
  seq: number;
  key: AppKey;
}

/** Front of the room: records of all apps in the host's database. */
export interface RecordStore extends RecordReader {
  /** Makes the store's own tables, which the first use does otherwise; inside a transaction of the host's code that fails. */
  prepare(): Promise<void>;
  /**
   * Runs `work` in a fresh unit of work and commits; on a collision with another request runs it again from the start,
   * up to `limits.attempts` times, then ConflictError. Any other error rolls back and is thrown on.
   * @param about the record that the work is to write, if that is known: works about the same record that come at the
   *   same time then share a unit and its commit, one after the other
   */
  transact<T>(work: (unit: UnitOfWork) => Promise<T>, about?: RecordAddress): Promise<T>;
  /** All of an app's records in order of creation, in batches; memory stays flat. */
  stream(key: AppKey, options?: PageOptions): AsyncIterable<StoredRecord[]>;
  /** All or nothing, in bounded memory; returns how many were made. Taken id: ConflictError; nothing is made. */
  createMany(key: AppKey, indexes: IndexDeclarations, records: AsyncIterable<NewRecord>): Promise<number>;
  /** Deletes all records and index rows of an app (operation 9), many of them in several transactions. */
  clear(key: AppKey): Promise<void>;
  /** Deletes the index rows of records that were deleted by other means than this store. */
  forgetDeleted(records: readonly DeletedRecord[]): Promise<void>;
  /** Re-declares and rebuilds the indexes (operation 12); returns the sorted names, `id` among them. */
  refresh(key: AppKey, indexes: IndexDeclarations, options: { rebuild: boolean }): Promise<string[]>;
  /** Compares all records with their index rows, in all apps; `repair`: mends what is wrong. Others may go on working. */
  check(options: { repair: boolean }): Promise<IndexCheck>;
  /** How far the building of the app's indexes is, by whichever process; null when none are being built. */
  progress(key: AppKey): Promise<Progress | null>;
  /** Stops background work. */
  destroy(): Promise<void>;
}

export type { Items, Json, ReadEnd };
