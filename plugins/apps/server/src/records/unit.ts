import { AppsError } from '../errors';
import { queryLimits } from '../indexes';
import type { IndexDeclarations, SearchOptions } from '../indexes/types';
import { applyChange, storable } from './change';
import { Entries, type Entry } from './entries';
import { firstFreeId } from './free-id';
import { checkId, generateId, hashOf, scopeOf } from './ids';
import { readRecords, selectPage } from './table';
import type {
  AppKey,
  Items,
  NewRecord,
  PageOptions,
  ReadEnd,
  RecordChange,
  SearchResult,
  StoredRecord,
  UnitOfWork,
} from './types';
import { type UnitTools, UnitTransaction } from './unit-transaction';

/** What is done once, after the commit. */
export type Effect = () => void | Promise<void>;

/** One request's writes; see UnitOfWork. `own`: hashes of the records that it is this unit's turn to write. */
export class RecordUnit implements UnitOfWork {
  private readonly entries = new Entries();
  private effects: Effect[] = [];
  private readonly transaction: UnitTransaction;

  constructor(
    private readonly tools: UnitTools,
    own: ReadonlySet<string>,
  ) {
    this.transaction = new UnitTransaction(tools, this.entries, own);
  }

  /** Why the unit cannot be committed: it must be run again, whatever the work made of the error. */
  get failure() {
    return this.transaction.failure;
  }

  get isOpen(): boolean {
    return this.transaction.isOpen;
  }

  get hasEnded(): boolean {
    return this.transaction.hasEnded;
  }

  /**
   * Begins another request's part in this unit. Returns how to undo what it does; that says false when it cannot be undone,
   * for it is in the database already.
   */
  mark(): () => boolean {
    const restore = this.entries.mark();
    const open = this.isOpen;
    return () => {
      if (this.isOpen !== open) return false;
      restore();
      this.effects = [];
      return true;
    };
  }

  /** See UnitTransaction. */
  hold(hashes: Iterable<string>): Promise<void> {
    return this.transaction.hold([...hashes]);
  }

  async get(key: AppKey, id: string): Promise<StoredRecord | null> {
    return (await this.load(key, id)).current;
  }

  async page(key: AppKey, options: PageOptions): Promise<StoredRecord[]> {
    const sql = await this.transaction.sql(scopeOf(key));
    const limit = options.limit ?? queryLimits.limit;
    const records = await this.transaction.watched(() => selectPage(sql, scopeOf(key), { ...options, limit }));
    return records.map((record) => this.met(key, record));
  }

  async search(
    key: AppKey,
    indexes: IndexDeclarations,
    options: SearchOptions,
    end: ReadEnd = {},
  ): Promise<SearchResult> {
    const scope = scopeOf(key);
    const access = await this.transaction.access(scope);
    const { rows, total } = await this.transaction.watched(() =>
      this.tools.indexes.search(access, scope, indexes, options, end),
    );
    const records = (await readRecords(access.sql, rows)).map((record) => this.met(key, record));
    return total === undefined ? { records } : { records, total };
  }

  async count(
    key: AppKey,
    indexes: IndexDeclarations,
    query?: string,
    names?: Items,
    end: ReadEnd = {},
  ): Promise<number> {
    const scope = scopeOf(key);
    const access = await this.transaction.access(scope);
    return this.transaction.watched(() => this.tools.indexes.count(access, scope, indexes, { query, names }, end));
  }

  async create(key: AppKey, _indexes: IndexDeclarations, record: NewRecord): Promise<StoredRecord> {
    const generated = record.id === undefined;
    const entry = generated
      ? this.entries.seen(key, generateId(), null, false)
      : await this.freeEntry(key, record.id as string, record.whenTaken);
    return this.put(entry, storable(record.items), record.creator);
  }

  async update(key: AppKey, _indexes: IndexDeclarations, id: string, change: RecordChange): Promise<StoredRecord> {
    const entry = await this.load(key, id);
    if (!entry.current) throw new AppsError('NotFoundError', 'There is no such record', { details: { id } });
    entry.current = { ...entry.current, items: applyChange(entry.current.items, change), version: nextVersion(entry) };
    entry.dirty = true;
    return entry.current;
  }

  async rename(key: AppKey, from: string, to: string, whenTaken: 'refuse' | 'number'): Promise<StoredRecord> {
    const entry = await this.load(key, from);
    if (!entry.current || !entry.created)
      throw new AppsError('NotFoundError', 'There is no such new record', { details: { id: from } });
    if (from === to) return entry.current;
    const { items, creator } = entry.current;
    const target = await this.freeEntry(key, to, whenTaken);
    this.remove(entry);
    return this.put(target, items, creator);
  }

  async delete(key: AppKey, id: string): Promise<boolean> {
    const entry = await this.load(key, id);
    if (!entry.current) return false;
    this.remove(entry);
    return true;
  }

  inTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.transaction.run(work);
  }

  async alongside<T>(work: () => Promise<T>): Promise<T> {
    return this.transaction.isOpen ? this.transaction.run(work) : work();
  }

  afterCommit(effect: () => void | Promise<void>): void {
    this.effects.push(effect);
  }

  async commit(): Promise<void> {
    await this.transaction.commit();
    await this.carryOut(this.takeEffects());
  }

  async rollback(): Promise<void> {
    if (await this.transaction.rollback()) this.effects = [];
  }

  /** The effects registered so far, which are from now on the caller's to carry out. */
  takeEffects(): Effect[] {
    const effects = this.effects;
    this.effects = [];
    return effects;
  }

  /** Carries out effects in order; one that fails is told, and keeps no other from being carried out. */
  async carryOut(effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      try {
        await effect();
      } catch (error) {
        this.tools.onError(error);
      }
    }
  }

  /** The entry of a record, read from the database the first time. */
  private async load(key: AppKey, id: string): Promise<Entry> {
    checkId(id);
    const hash = hashOf(key, id);
    const known = this.entries.find(hash);
    if (known) {
      known.read = true;
      return known;
    }
    return this.entries.seen(key, id, await this.transaction.record(hash), true);
  }

  private async freeEntry(key: AppKey, id: string, whenTaken: 'refuse' | 'number' = 'refuse'): Promise<Entry> {
    const entry = await this.load(key, id);
    if (!entry.current) return entry;
    if (whenTaken === 'refuse') throw new AppsError('ConflictError', 'The record id is taken', { details: { id } });
    const known = (hash: string) => {
      const met = this.entries.find(hash);
      return met && met.current !== null;
    };
    const sql = await this.transaction.sql();
    // Another request may take the id between the two looks: a record that is there must never be written over.
    for (let free = entry; ; ) {
      if (!free.current) return free;
      free = await this.load(key, await this.transaction.watched(() => firstFreeId(sql, key, id, known)));
    }
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

  /** The record as this unit sees it, when it was found by a search. */
  private met(key: AppKey, record: StoredRecord): StoredRecord {
    return this.entries.seen(key, record.id, record, false).current ?? record;
  }
}

/** The version that the record will have: one more than before this request. 0 while it is not in the database. */
function nextVersion({ base, before }: Entry): number {
  return base ? (before ?? base).version + 1 : 0;
}
