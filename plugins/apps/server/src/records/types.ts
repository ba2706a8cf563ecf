import type { Items, Json } from '../../../shared/json';
import type { ReadEnd } from '../database';
import type { Place } from '../indexes';
import type { IndexCheck, IndexDeclarations, Progress, SearchOptions } from '../indexes/types';
import type { CommitWrite, KeptAnswer, KeptAnswers, KeptRequest } from './answers';
import type { Claim } from './commits/claims';
import type { Dependencies, KeptReads, KnownCommits, ReadMark, UnitReads } from './commits/dependencies';

/** An app of a site: records belong to it, independent of the theme that holds its folder. */
export interface AppKey {
  site: string;
  app: string;
}

/** The address of one record. */
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
  /** Grows with every write of the record; the ETag derives from it. 0 for a record that is not committed yet. */
  readonly version: number;
  /** Order of creation in the app; for cursors. 0 for a record that is not committed yet. */
  readonly seq: number;
}

/** A change of a record. Items that it does not name stay (docs/reference/json-interface.md#items). */
export interface RecordChange {
  set?: Items;
  unset?: string[];
  /** Added atomically to numbers; a missing item starts at 0. Another type of value: BadRequestError. */
  inc?: Record<string, number>;
  /** Null: the record has no creator any more. */
  creator?: null;
}

export interface PageOptions {
  limit?: number;
  offset?: number;
  /** `seq` after which the page begins. */
  after?: number;
  only?: Only | undefined;
}

/** Only some records of an app, by the plugin's own indexes. */
export interface Only extends Pick<SearchOptions, 'creator' | 'confirmed'> {
  /** Those of the app. */
  indexes: IndexDeclarations;
}

/** A row of the host's content, as a query has found it. */
export interface ContentRow {
  readonly table: string;
  readonly id: number;
  readonly documentId: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/** The reads that both the store and a unit of work offer. */
export interface RecordReader {
  /** The record, or null; with `creator`, only one that this identity has made. Bad ids: BadRequestError. */
  get(key: AppKey, id: string, creator?: string): Promise<StoredRecord | null>;
  /** Records in order of creation. */
  page(key: AppKey, options: PageOptions): Promise<RecordPage>;
  /**
   * Records that match, in the order of docs/reference/search.md#order. Bad query, unknown index: BadRequestError with
   * position and reason. A search that takes too long, finds the queue full, or reaches its `end`: ServiceUnavailableError.
   */
  search(key: AppKey, indexes: IndexDeclarations, options: SearchOptions, end?: ReadEnd): Promise<SearchResult>;
  /** Number of records that match (all, without a query). */
  count(
    key: AppKey,
    indexes: IndexDeclarations,
    query?: string,
    options?: Pick<SearchOptions, 'names' | 'creator' | 'block' | 'place' | 'confirmed'>,
    end?: ReadEnd,
  ): Promise<number>;
}

/** Fewer records than were asked for are no sign of the end: some may have been deleted while they were read. */
export interface RecordPage {
  records: StoredRecord[];
  /** `seq` after which the next page begins; undefined at the end. */
  next: number | undefined;
}

export interface SearchResult {
  records: StoredRecord[];
  /** How many were found, with those that were deleted before their items were read. */
  found: number;
  /** Number of all matches; only when `withTotal` was asked for. */
  total?: number;
}

/** `id`: undefined for a generated one. A given id that is taken is refused (409) or numbered (`-1`, `-2` …). */
export interface NewRecord {
  id?: string;
  whenTaken?: 'refuse' | 'number';
  items: Items;
  creator: string | null;
}

/** Rows of the records table, both ends included (`StoredRecord.seq`). */
export type SeqRange = readonly [first: number, last: number];

/** What is written with a bulk creation. */
export interface ManyOptions {
  /** Whether they are those of an export, which may have more items than new ones, and longer names. */
  restores?: boolean;
  /** A write in the transaction that makes the records visible, which may be many; its ranges have no other record of the app. */
  atCommit?: (ranges: readonly SeqRange[]) => CommitWrite;
}

/** Records of a bulk creation: a stream, which is read to its end first, or batches that can be read more than once. */
export type NewRecords = AsyncIterable<NewRecord> | { read(): AsyncIterable<NewRecord[]> };

/**
 * All writes of a request, as one transaction (docs/reference/transactions.md#one-transaction). Reads run outside of it
 * and remember the versions they saw; writes stay in memory, visible to the unit's own reads; the commit writes them in
 * one short transaction that checks those versions.
 */
export interface UnitOfWork extends RecordReader {
  create(key: AppKey, record: NewRecord): Promise<StoredRecord>;
  /** Applies a change and returns the changed record. NotFoundError when there is no such record. */
  update(key: AppKey, id: string, change: RecordChange): Promise<StoredRecord>;
  /** Gives a record that this unit has created, and not committed, another id (same `whenTaken` rules). */
  rename(key: AppKey, from: string, to: string, whenTaken: 'refuse' | 'number'): Promise<StoredRecord>;
  /** The record before this work has changed it; null if it has created it, and where there is none. */
  original(key: AppKey, id: string): Promise<StoredRecord | null>;
  /** True when there was such a record. */
  delete(key: AppKey, id: string): Promise<boolean>;
  /**
   * Runs `work`, a change of host content, inside this unit's database transaction, which it opens when needed, so that
   * Strapi's own document and query services join it. Pending writes are flushed first. The transaction is rolled back when
   * the unit stays idle: `work` then runs again when the transaction is next opened, at the commit at the latest, and must
   * have the same effect. A `work` that fails is undone, and does not run again.
   * @param documentId the document that it changes, if it is known: a collision when that was changed since it was read. The result
   *   names one that it creates
   */
  inTransaction<T>(work: () => Promise<T>, documentId?: string): Promise<T>;
  /**
   * Runs reads of Strapi's own services: inside this unit's transaction if one is open or the unit has changed host content,
   * because they would otherwise wait for it (SQLite has one connection) and miss its writes; else without a transaction.
   */
  alongside<T>(work: () => Promise<T>): Promise<T>;
  /**
   * What it has read of records so far, alone: the works of a group share it. Null when it has written, or read in a
   * transaction.
   */
  reads(): UnitReads | null;
  /**
   * The number of records in a place as last committed, without this unit's changes; where it is known without counting that there
   * are less than `enough`, or as many, some such number. Unlike a count it is no part of what was read: `claim` says what must hold of
   * it at the commit.
   */
  countPlace(key: AppKey, indexes: IndexDeclarations, place: Place, enough: number): Promise<PlaceCount>;
  /** The first records of a place in order of creation that come after a `seq`, as last committed; their ids. */
  firstInPlace(
    key: AppKey,
    indexes: IndexDeclarations,
    place: Place,
    page: { limit: number; after: number },
  ): Promise<Pick<StoredRecord, 'id' | 'seq'>[]>;
  /** What must hold when this unit is committed: it runs again where it does not. */
  claim(key: AppKey, claim: Claim): void;
  /** Notes content that was read: a commit that writes collides when it was changed since. */
  noteContent(row: ContentRow): void;
  /** Registers a write of another table, as part of the commit's transaction: when it fails, nothing is stored. */
  atCommit(write: CommitWrite): void;
  /** Registers rows of another table for the commit's transaction; those of all units that are committed together are one insert. */
  insertAtCommit(rows: CommitRows): void;
  /** Registers an effect outside the database. It runs once, after the commit, in order; never after a rollback. */
  afterCommit(effect: () => void | Promise<void>): void;
  /** Reports later reads and writes to the observer. */
  observe(observer: UnitObserver): void;
}

/** Rows that are inserted with a commit; all of one table name the same columns. */
export interface CommitRows {
  table: string;
  columns: readonly string[];
  rows: readonly unknown[][];
}

/** The number of records in a place; `isExact`: false where it is only on the same side of what was asked. */
export interface PlaceCount {
  count: number;
  isExact: boolean;
}

/** The condition of a search or a count, as it was asked. */
export interface ReadCondition extends Pick<SearchOptions, 'query' | 'names' | 'creator' | 'block' | 'confirmed'> {
  indexes: IndexDeclarations;
  /** Whether only the number of matches was read. */
  isCount: boolean;
}

/** Receives the reads and writes of a work. A write counts only when the unit is committed. */
export interface UnitObserver {
  /**
   * One record was read; without an id, any of the app's, or any that `creator` has made: a page, a search or a count.
   * @param condition of a search or a count
   */
  onRead?(key: AppKey, id?: string, creator?: string, condition?: ReadCondition): void;
  /** A record that `creator` has made was created, changed, renamed to this id or deleted. */
  onWrite?(key: AppKey, id: string, creator: string | null): void;
  /** Items of a record before and after a change; null where there is no record. Comes after `onWrite`, not for renaming. */
  onItems?(key: AppKey, before: Items | null, after: Items | null, record: Pick<StoredRecord, 'id' | 'creator'>): void;
  /** A record that this work has created has another id. Comes after `onWrite`. */
  onRename?(key: AppKey, from: string, to: string): void;
}

/** A deleted record; `seq` was its row in the records table. */
export interface DeletedRecord {
  seq: number;
  key: AppKey;
}

/** The public interface of records/: records of all apps in the host's database. */
export interface RecordStore extends RecordReader {
  /** Whether what was read once would be read again. */
  readonly dependencies: Dependencies;
  /** Creates the store's own tables. Otherwise the first use does, which fails inside a transaction of the host's code. */
  prepare(): Promise<void>;
  /**
   * Runs `work` in a new unit of work and commits it; after a collision with another request runs it again from the start,
   * up to `limits.attempts` times, then ConflictError. Any other error rolls back and is rethrown.
   * @param about the record that the work will write, if known: concurrent works about the same record then share a unit
   *   and its commit, one after the other
   */
  transact<T>(work: (unit: UnitOfWork) => Promise<T>, about?: RecordAddress): Promise<T>;
  /** All records of an app in order of creation, in batches of bounded size. */
  stream(key: AppKey, options?: PageOptions): AsyncIterable<StoredRecord[]>;
  /** All records that match, in order of creation, in batches of bounded size. Errors are those of `search`. */
  streamMatches(
    key: AppKey,
    indexes: IndexDeclarations,
    search: Pick<SearchOptions, 'query' | 'names' | 'creator'>,
  ): AsyncIterable<StoredRecord[]>;
  /** Those of the files, by document id, that records of the app name. The first call for an app builds an index of them. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<Set<string>>;
  /** Records of the app that name a file, by its document id; a batch of them at most. Builds an index as `namedFiles`. */
  recordsWithFile(key: AppKey, documentId: string): Promise<StoredRecord[]>;
  /** Creates all records or none, in bounded memory; returns their number. Taken id: ConflictError. */
  createMany(key: AppKey, records: NewRecords, options?: ManyOptions): Promise<number>;
  /**
   * Deletes all records and index rows of an app (operation 9); many records need several transactions.
   * @param atCommit a write in each of them, of the records that it deletes
   */
  clear(key: AppKey, atCommit?: (deleted: readonly StoredRecord[]) => CommitWrite): Promise<void>;
  /** Deletes the index rows of records that other code has deleted. */
  forgetDeleted(records: readonly DeletedRecord[]): Promise<void>;
  /** Re-declares and rebuilds the indexes (operation 12); returns the sorted names, `id` among them. */
  refresh(key: AppKey, indexes: IndexDeclarations, options: { rebuild: boolean }): Promise<string[]>;
  /** Compares all records of all apps with their index rows; `repair` corrects them. Other requests may run meanwhile. */
  check(options: { repair: boolean }): Promise<IndexCheck>;
  /** Progress of building the app's indexes, in any process; null when none are being built. */
  progress(key: AppKey): Promise<Progress | null>;
  /** The app's indexes that searches can use at once; the first search builds the others. */
  completeIndexes(key: AppKey): Promise<IndexDeclarations>;
  /** The number of entries of each of these indexes; null where counting takes longer than a search may. */
  indexSizes(key: AppKey, end?: ReadEnd): Promise<ReadonlyMap<string, number | null>>;
  /** Stops background work. */
  destroy(): Promise<void>;
}

export type {
  Claim,
  CommitWrite,
  Dependencies,
  Items,
  Json,
  KeptAnswer,
  KeptAnswers,
  KeptReads,
  KeptRequest,
  KnownCommits,
  Place,
  ReadEnd,
  ReadMark,
  UnitReads,
};
