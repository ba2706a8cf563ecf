import { AppsError, notFound } from '../../common/errors';
import { spanned } from '../../common/spans';
import { createSql, readerOf } from '../../database';
import { type Access, type Place, placeValues, searchMatcher } from '../../indexes';
import type { IndexDeclarations, SearchOptions } from '../../indexes/types';
import { type Claim, Claims } from '../commits/claims';
import type { ScopeReads, UnitReads } from '../commits/dependencies';
import { checkId, firstFreeId, generateId, hashOf, scopeOf } from '../table/ids';
import { applyChange, storable } from '../table/rows';
import { ofCreator, readPage, readRecords, selectTaken } from '../table/table';
import type {
  AppKey,
  CommitRows,
  CommitWrite,
  ContentRow,
  Items,
  NewRecord,
  PageOptions,
  PlaceCount,
  ReadEnd,
  RecordChange,
  RecordPage,
  SearchResult,
  StoredRecord,
  UnitOfWork,
} from '../types';
import { Entries, type Entry, nextVersion } from './entries';
import { ContentRows, type Found, type RangeRead, Ranges } from './reads';
import type { UnitTools } from './transact';
import { UnitTransaction } from './unit-transaction';

/** Runs once, after the commit. */
export type Effect = () => void | Promise<void>;

/** Maximum reads of one app with which a changed record is compared; with more of them any change of the app counts. */
const MAX_KEPT_READS = 200;

/** The part of a range read that follows from a search. @param options must be right: the search itself refuses others */
function rangeOf(declared: IndexDeclarations, options: SearchOptions): Pick<RangeRead, 'name' | 'has'> {
  const { query, names, creator, block, place, confirmed } = options;
  return {
    name: JSON.stringify([query, names, creator, block, place, confirmed]),
    has: searchMatcher(declared, options),
  };
}

/** For a search that runs again: the time that was left for the first one is over. */
const withoutTime = ({ signal }: ReadEnd): ReadEnd => (signal ? { signal } : {});

/**
 * The unit of work of a request or of a group of requests; see UnitOfWork, and UnitView for the view of one work. `own`:
 * hashes of the records that this unit has locked.
 */
export class SharedUnit implements Omit<UnitOfWork, 'observe'> {
  private readonly entries = new Entries();
  private effects: Effect[] = [];
  /** Writes of other tables. */
  private readonly writes: CommitWrite[] = [];
  private readonly inserts: CommitRows[] = [];
  private readonly ranges: Ranges;
  private readonly content = new ContentRows();
  private readonly claims = new Claims();
  private readonly transaction: UnitTransaction;

  constructor(
    private readonly tools: UnitTools,
    own: ReadonlySet<string>,
  ) {
    this.ranges = new Ranges(tools.commits.log, tools.commits.counts);
    this.transaction = new UnitTransaction(
      tools,
      { entries: this.entries, ranges: this.ranges, content: this.content, claims: this.claims },
      { writes: this.writes, inserts: this.inserts },
      own,
    );
  }

  /** Why the unit cannot be committed: it must run again, even if the work has caught the error. */
  get failure() {
    return this.transaction.failure;
  }

  /** Whether it has opened a transaction, so that its changes are no longer in memory alone. */
  get hasOpened(): boolean {
    return this.transaction.hasOpened;
  }

  get hasEnded(): boolean {
    return this.transaction.hasEnded;
  }

  /**
   * Begins the part of the next request in this unit. Returns a function that undoes it, or returns false when a
   * transaction was opened meanwhile.
   */
  mark(): () => boolean {
    const restore = this.entries.mark();
    const opened = this.hasOpened;
    const { length } = this.writes;
    const inserts = this.inserts.length;
    const ranges = this.ranges.length;
    const restoreContent = this.content.mark();
    const restoreClaims = this.claims.mark();
    return () => {
      if (this.hasOpened !== opened) return false;
      restore();
      this.writes.length = length;
      this.inserts.length = inserts;
      this.ranges.restore(ranges);
      restoreContent();
      restoreClaims();
      this.effects = [];
      return true;
    };
  }

  /** See UnitTransaction. */
  hold(hashes: Iterable<string>): Promise<void> {
    return this.transaction.hold([...hashes]);
  }

  async get(key: AppKey, id: string, creator?: string): Promise<StoredRecord | null> {
    return ofCreator((await this.load(key, id)).current, creator);
  }

  async original(key: AppKey, id: string): Promise<StoredRecord | null> {
    return (await this.load(key, id)).before;
  }

  async page(key: AppKey, options: PageOptions): Promise<RecordPage> {
    const { after = 0, only } = options;
    const isWanted = only && searchMatcher(only.indexes, only);
    const { indexes } = this.tools;
    const scope = scopeOf(key);
    const read = (access: Access) => readPage(indexes, access, scope, options);
    const range: RangeRead = {
      scope,
      name: JSON.stringify(['page', only?.creator, only?.confirmed]),
      asks: JSON.stringify([after, options.offset, options.limit]),
      has: (record) => (record.seq === 0 || record.seq > after) && (isWanted === undefined || isWanted(record)),
      isCount: false,
      again: async (access = this.outside()) => read(access),
    };
    const { records, next } = await this.readRange(range, read, (found) => found);
    return { records: records.map((record) => this.merge(key, record)), next };
  }

  async search(
    key: AppKey,
    indexes: IndexDeclarations,
    options: SearchOptions,
    end: ReadEnd = {},
  ): Promise<SearchResult> {
    const scope = scopeOf(key);
    const { indexes: made } = this.tools;
    const { sortIndex, reverse, offset, limit, withTotal } = options;
    const range: RangeRead = {
      scope,
      ...rangeOf(indexes, options),
      asks: JSON.stringify([sortIndex, reverse, offset, limit, withTotal]),
      isCount: false,
      again: async (access = this.outside()) => {
        const { rows, total } = await made.search(access, scope, indexes, options, withoutTime(end), 'versions');
        return { records: rows.map(({ id, version }) => ({ seq: Number(id), version: Number(version) })), total };
      },
    };
    const { read, found, total } = await this.readRange(
      range,
      async (access) => {
        const { rows, total } = await made.search(access, scope, indexes, options, end);
        return { read: await readRecords(access.sql, rows), found: rows.length, total };
      },
      ({ read, total }) => ({ records: read, total }),
    );
    const records = read.map((record) => this.merge(key, record));
    return { records, found, ...(total !== undefined && { total }) };
  }

  async count(
    key: AppKey,
    indexes: IndexDeclarations,
    query?: string,
    options: Pick<SearchOptions, 'names' | 'creator' | 'block' | 'place' | 'confirmed'> = {},
    end: ReadEnd = {},
  ): Promise<number> {
    const scope = scopeOf(key);
    const counting = { query, ...options };
    const read = (access: Access, until: ReadEnd) => this.tools.indexes.count(access, scope, indexes, counting, until);
    const toFound = (total: number) => ({ records: [], total });
    const range: RangeRead = {
      scope,
      ...rangeOf(indexes, { query, ...options }),
      asks: '',
      isCount: true,
      again: async (access = this.outside()) => toFound(await read(access, withoutTime(end))),
    };
    return this.readRange(range, (access) => read(access, end), toFound);
  }

  async countPlace(key: AppKey, indexes: IndexDeclarations, place: Place, enough: number): Promise<PlaceCount> {
    const scope = scopeOf(key);
    const { bounds, counts, log } = this.tools.commits;
    const bound = bounds.get(scope, place);
    // Where that is no longer right, the claim says so.
    if (bound && bound.most < enough) return { count: bound.most, isExact: false };
    const others = bound ? (await counts.look([scope])).get(scope) : counts.known(scope);
    if (bound && bound.least >= enough && bound.counts === others) return { count: bound.least, isExact: false };
    const position = log.position();
    let isCommitted = false;
    const stored = await this.transaction.read((access) => {
      isCommitted = access.trx === undefined;
      return this.tools.indexes.count(access, scope, indexes, { place }, {});
    });
    // What was written in the open transaction was found too.
    const has = (record: StoredRecord | null) =>
      record !== null && placeValues(place.index, record).includes(place.value) ? 1 : 0;
    if (isCommitted && log.isQuiet(position, scope)) bounds.learn(scope, place, stored, others);
    const written = this.entries.written().filter((entry) => entry.written && entry.scope === scope);
    const count = written.reduce((sum, entry) => sum - has(entry.base) + has(entry.stored), stored);
    return { count, isExact: true };
  }

  async firstInPlace(
    key: AppKey,
    indexes: IndexDeclarations,
    place: Place,
    { limit, after }: { limit: number; after: number },
  ): Promise<Pick<StoredRecord, 'id' | 'seq'>[]> {
    const search = { place, limit, after };
    const { rows } = await this.transaction.read((access) =>
      this.tools.indexes.search(access, scopeOf(key), indexes, search, {}),
    );
    return rows.map(({ id, identifier }) => ({ id: String(identifier), seq: Number(id) }));
  }

  claim(key: AppKey, claim: Claim): void {
    this.claims.add(scopeOf(key), claim);
  }

  async create(key: AppKey, record: NewRecord): Promise<StoredRecord> {
    const generated = record.id === undefined;
    const entry = generated
      ? this.entries.seen(key, generateId(), null, false)
      : await this.freeEntry(key, record.id as string, record.whenTaken);
    return this.put(entry, storable(record.items), record.creator);
  }

  /** @param onChange gets the items before and after */
  async update(
    key: AppKey,
    id: string,
    change: RecordChange,
    onChange?: (before: Items | null, after: Items | null) => void,
  ): Promise<StoredRecord> {
    const entry = await this.load(key, id);
    if (!entry.current) throw notFound('There is no such record', { id });
    const { items: before } = entry.current;
    const { creator = entry.current.creator } = change;
    const items = applyChange(entry.current.items, change);
    entry.current = { ...entry.current, items, creator, version: nextVersion(entry) };
    entry.dirty = true;
    onChange?.(before, entry.current.items);
    return entry.current;
  }

  async rename(key: AppKey, from: string, to: string, whenTaken: 'refuse' | 'number'): Promise<StoredRecord> {
    const entry = await this.load(key, from);
    if (!entry.current || !entry.created) throw notFound('There is no such new record', { id: from });
    if (from === to) return entry.current;
    const { items, creator } = entry.current;
    const target = await this.freeEntry(key, to, whenTaken);
    this.remove(entry);
    return this.put(target, items, creator);
  }

  /** @param onDelete gets the items of the record */
  async delete(
    key: AppKey,
    id: string,
    onDelete?: (before: Items | null, after: Items | null) => void,
  ): Promise<boolean> {
    const entry = await this.load(key, id);
    if (!entry.current) return false;
    onDelete?.(entry.current.items, null);
    this.remove(entry);
    return true;
  }

  reads(): UnitReads | null {
    const isWriting = this.hasOpened || this.writes.length > 0 || this.effects.length > 0;
    if (isWriting || this.entries.written().length > 0) return null;
    const ids = new Map<string, Set<string>>();
    for (const { scope, id } of this.entries.readOnly()) ids.set(scope, (ids.get(scope) ?? new Set()).add(id));
    const ranges = this.ranges.reads();
    const reads = new Map<string, ScopeReads | 'any'>();
    for (const scope of new Set([...ids.keys(), ...ranges.keys()])) {
      const read = { ids: ids.get(scope) ?? new Set<string>(), ranges: ranges.get(scope) ?? [] };
      reads.set(scope, read.ids.size + read.ranges.length > MAX_KEPT_READS ? 'any' : read);
    }
    return reads;
  }

  async inTransaction<T>(work: () => Promise<T>, documentId?: string): Promise<T> {
    const result = await this.transaction.change(work, documentId === undefined ? [] : this.content.of(documentId));
    const created = typeof result === 'object' && result !== null && Object.hasOwn(result, 'documentId');
    if (created) this.content.change(String((result as { documentId?: unknown }).documentId));
    if (documentId !== undefined) this.content.change(documentId);
    return result;
  }

  noteContent(row: ContentRow): void {
    this.content.add(row);
  }

  alongside<T>(work: () => Promise<T>): Promise<T> {
    return this.transaction.alongside(work);
  }

  atCommit(write: CommitWrite): void {
    this.writes.push(write);
  }

  insertAtCommit(rows: CommitRows): void {
    this.inserts.push(rows);
  }

  afterCommit(effect: () => void | Promise<void>): void {
    this.effects.push(effect);
  }

  /** Writes everything. ConflictError when a version read or written has changed meanwhile, or an id is taken. */
  async commit(): Promise<void> {
    if (!this.transaction.endUnused())
      await spanned(
        'commit',
        () => ({}),
        () => this.transaction.commit(),
      );
    const effects = this.takeEffects();
    if (effects.length > 0) await this.carryOut(effects);
  }

  /** A read by a condition, which must find the same at the commit. */
  private async readRange<T>(
    range: RangeRead,
    read: (access: Access) => Promise<T>,
    toFound: (result: T) => Found,
  ): Promise<T> {
    const { result, isOwn, note } = await this.transaction.readRange(range, read);
    note(isOwn ? undefined : toFound(result));
    return result;
  }

  /** For a search that runs again before the commit. */
  private outside(): Access {
    const { database, dialect } = this.tools;
    return { sql: createSql(readerOf(database), dialect), trx: undefined, runsAgain: true };
  }

  async rollback(): Promise<void> {
    if (await this.transaction.rollback()) this.effects = [];
  }

  /** Hands the registered effects over to the caller, who must run them. */
  takeEffects(): Effect[] {
    const effects = this.effects;
    this.effects = [];
    return effects;
  }

  /** Runs effects in order; reports the error of one that fails and continues. */
  async carryOut(effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      try {
        await effect();
      } catch (error) {
        this.tools.onError(error);
      }
    }
  }

  /** The entry of a record; reads the database the first time. */
  private async load(key: AppKey, id: string): Promise<Entry> {
    checkId(id);
    const hash = hashOf(key, id);
    const known = this.entries.find(hash);
    if (known) {
      // One that this unit has created is not in the database: its id is checked when it is stored.
      known.read ||= !known.created;
      return known;
    }
    return this.entries.seen(key, id, await this.transaction.record(hash), true);
  }

  private async freeEntry(key: AppKey, id: string, whenTaken: 'refuse' | 'number' = 'refuse'): Promise<Entry> {
    const entry = await this.load(key, id);
    if (!entry.current && !(await this.isReserved(entry))) return entry;
    // Created by another since this unit has found none.
    if (!entry.base && !entry.current && (await this.transaction.record(entry.hash)))
      this.transaction.collide(entry.hash);
    if (whenTaken === 'refuse') throw new AppsError('ConflictError', 'The record id is taken', { details: { id } });
    const known = (hash: string) => {
      const met = this.entries.find(hash);
      return met && (met.base || met.current) ? met.current !== null : undefined;
    };
    // Another request may take the id between the two reads: an existing record must never be overwritten.
    for (;;) {
      const free = await this.load(key, await this.transaction.read(({ sql }) => firstFreeId(sql, key, id, known)));
      if (!free.current) return free;
    }
  }

  /** Whether a record of a pending batch has the id of an entry for which there is no visible record. */
  private async isReserved({ base, hash }: Entry): Promise<boolean> {
    if (base || !this.tools.dialect.oneWriter) return false;
    return (await this.transaction.read(({ sql }) => selectTaken(sql, [hash]))).has(hash);
  }

  private put(entry: Entry, items: Items, creator: string | null): StoredRecord {
    entry.current = { id: entry.id, items, creator, version: nextVersion(entry), seq: entry.base?.seq ?? 0 };
    Object.assign(entry, { dirty: true, created: true });
    this.entries.last(entry);
    return entry.current;
  }

  private remove(entry: Entry): void {
    entry.current = null;
    entry.created = false;
    entry.dirty = entry.base !== null;
  }

  /** Merges a search hit into the identity map. */
  private merge(key: AppKey, record: StoredRecord): StoredRecord {
    return this.entries.seen(key, record.id, record, false).current ?? record;
  }
}
