import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable } from '../../common/time/awaitable';
import { createSql, isFailure, readerOf, type Sql, translateError } from '../../database';
import { type Access, IndexMissing, type RecordWrite } from '../../indexes';
import type { Claims } from '../commits/claims';
import { afterTransaction } from '../commits/commits';
import { CollisionError, type Position } from '../commits/log';
import { holdRecords, selectRecord } from '../table/table';
import type { CommitRows, CommitWrite, ContentRow, StoredRecord } from '../types';
import { type Part, writeParts } from './commit';
import { checkReads, type Entries, type Entry, flushEntries, lockApps } from './entries';
import { belowSavepoint, IdleTime, idleTimes, type Opened, openForUnit, repeatChange } from './open-transaction';
import {
  type ContentRows,
  checkContent,
  LookAgain,
  type RangeRead,
  type Ranges,
  type Seen,
  scopeOfRange,
} from './reads';
import type { UnitTools } from './transact';

/** How often the commit is tried again when another process has committed between a look at the searches and their lock. */
const MAX_LOOKS = 5;

/** Written records with which a transaction that is open is committed, where there is one writer. */
const MAX_OPENED = 50;

/** The unit transaction that runs the current code, which may then use the unit without waiting for itself. */
const inside = new AsyncLocalStorage<UnitTransaction>();

/**
 * The database transaction of a unit of work: opened for a statement or for the commit, never for as long as logic runs.
 * When it stays idle too long, it is rolled back, and its changes are repeated when it is next opened. See
 * docs/decisions/short-transactions.md. `own`: hashes of the records that this unit has locked.
 */
export class UnitTransaction {
  /** Why the unit cannot be committed: it must run again, even if the work has caught the error. */
  failure: CollisionError | IndexMissing | undefined;
  /** Whether a transaction was opened for this unit, even if it is no longer open. */
  hasOpened = false;

  private readonly entries: Entries;
  private readonly ranges: Ranges;
  private readonly content: ContentRows;
  private readonly claims: Claims;
  private open: Opened | undefined;
  /** The position in the log of commits when it read first. */
  private readAt: Position | undefined;
  /** The apps that it has locked from its beginning. */
  private held: ReadonlySet<string> = new Set();
  /** What was written in it, by scope. */
  private flushed = new Map<string, RecordWrite[]>();
  /** Changes of host content, in order, to repeat in another transaction. */
  private readonly changes: (() => Promise<unknown>)[] = [];
  private readonly idle = new IdleTime(() => {
    // An error is that of the connection, which the next use has too.
    this.queued(() => this.close()).catch(() => undefined);
  });
  private idleTime = idleTimes.usual;
  private ended = false;
  private commits = false;
  private savepoints = 0;
  /** The last use of the transaction, and how many there are that have not ended. */
  private last: Promise<unknown> = Promise.resolve();
  private uses = 0;

  constructor(
    private readonly tools: UnitTools,
    /** What the unit has read and written. */
    { entries, ranges, content, claims }: { entries: Entries; ranges: Ranges; content: ContentRows; claims: Claims },
    /** Writes and rows of other tables, for the end of the transaction. */
    private readonly others: { writes: readonly CommitWrite[]; inserts: readonly CommitRows[] },
    private readonly own: ReadonlySet<string>,
  ) {
    this.entries = entries;
    this.ranges = ranges;
    this.content = content;
    this.claims = claims;
  }

  /** Whether a commit or rollback has begun. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /**
   * Reads with this unit's writes visible: in its transaction if that is open, or if `scope` has pending writes, which are
   * then flushed; else outside.
   */
  async read<T>(work: (access: Access) => Promise<T>, scope?: string): Promise<T> {
    const isPending = () => scope !== undefined && this.entries.pending(scope).length > 0;
    if (!this.open && !isPending()) return this.readOutside(work);
    return this.exclusive(async () => {
      const trx = isPending() ? (await this.begin()).trx : this.open?.trx;
      if (!trx) return this.readOutside(work);
      this.position();
      const access = { sql: createSql(trx, this.tools.dialect), trx };
      return this.idle.spending(() => this.watched(() => work(access)));
    });
  }

  /**
   * Reads by a condition, which is noted before. `isOwn`: this unit's own writes may be among the result; `note` takes what else
   * was found.
   */
  async readRange<T>(
    range: RangeRead,
    read: (access: Access) => Promise<T>,
  ): Promise<{ result: T; isOwn: boolean; note: ReturnType<Ranges['begin']> }> {
    let note: ReturnType<Ranges['begin']> = () => {};
    const result = await this.read(async (access) => {
      // Inside the caller's transaction only the caller can run again.
      const isCallers = this.open ? this.open.joined : access.trx !== undefined;
      if (!isCallers) note = this.ranges.begin(range, access.trx && (await this.seen(range.scope, access.sql)));
      return read(access);
    }, range.scope);
    return { result, isOwn: this.entries.written().some(({ scope }) => scope === range.scope), note };
  }

  /** The record of a hash, in this unit's transaction if that is open, else as last committed. */
  async record(hash: string): Promise<StoredRecord | null> {
    const { loadRecord } = this.tools;
    return (await this.read(({ sql, trx }) => (trx ? selectRecord(sql, hash) : loadRecord(hash)))) ?? null;
  }

  /**
   * Opens the transaction now and locks these records, and the apps of these ranges, until it ends or the unit is slow: for a unit
   * that has collided with other processes repeatedly.
   */
  async hold(hashes: readonly string[]): Promise<void> {
    await this.exclusive(async () => {
      this.idleTime = idleTimes.locking;
      const { trx } = await this.begin();
      const sql = createSql(trx, this.tools.dialect);
      const scopes = new Set(hashes.map(scopeOfRange).filter((scope) => scope !== undefined));
      await this.watched(async () => {
        await lockApps(sql, this.tools.indexes, [], scopes);
        this.held = scopes;
        // Also where there are ranges alone: SQLite locks the database for any change, even of no record.
        await holdRecords(sql, hashes);
      });
    });
  }

  /**
   * Runs a change of host content inside the transaction, and undoes it when it fails. It may run again later.
   * @param read the rows that it changes, as this unit has read them
   */
  async change<T>(work: () => Promise<T>, read: readonly ContentRow[]): Promise<T> {
    const outermost = inside.getStore() !== this;
    const checked = async () => {
      if (read.length > 0) await this.checkContent(read);
      return work();
    };
    return this.exclusive(async () => {
      const result = await this.run(checked);
      if (outermost) this.changes.push(checked);
      return result;
    });
  }

  private async checkContent(rows: readonly ContentRow[]): Promise<void> {
    const { database, dialect } = this.tools;
    const trx = await database.current();
    await this.watched(() => checkContent(createSql(trx ?? database.knex(), dialect), dialect, rows, true));
  }

  /** Runs reads of host content: inside the transaction if it is open or has changed such content, else outside. */
  async alongside<T>(work: () => Promise<T>): Promise<T> {
    const joins = () => this.open !== undefined || this.changes.length > 0;
    if (!joins()) return work();
    return this.exclusive(() => (joins() ? this.run(work, (reading) => this.idle.spending(reading)) : work()));
  }

  commit(): Promise<void> {
    return this.exclusive(() => this.watched(() => this.commitNow()));
  }

  /** Ends a unit that has only read, which has nothing to commit; false for another one. */
  endUnused(): boolean {
    if (this.uses > 0 || this.ended || this.writes()) return false;
    this.ended = true;
    this.ranges.end();
    return true;
  }

  private writes(): boolean {
    const { changes, others, entries } = this;
    return this.open !== undefined || changes.length > 0 || others.writes.length > 0 || entries.written().length > 0;
  }

  /** False when there was nothing left to roll back. */
  async rollback(): Promise<boolean> {
    this.ranges.end();
    if (this.ended) return false;
    this.ended = true;
    await this.last;
    const open = this.take();
    await open?.rollback();
    open?.free();
    return true;
  }

  /** Ends this attempt of the unit: it has read what is no longer true. */
  collide(hash: string): never {
    this.failure ??= new CollisionError([hash]);
    throw this.failure;
  }

  /** Remembers a failure that requires the whole unit to run again. */
  private async watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const lost = isFailure(cause, 'collision') || ((this.open || this.commits) && isFailure(cause, 'missing-table'));
      const hashes = () => this.entries.pending().map((entry) => entry.hash);
      const error = lost ? new CollisionError(hashes(), cause) : cause;
      if (error instanceof CollisionError || error instanceof IndexMissing) this.failure ??= error;
      throw error;
    }
  }

  private async readOutside<T>(work: (access: Access) => Promise<T>): Promise<T> {
    const { database, dialect } = this.tools;
    const current = database.current();
    const trx = current && (await current);
    return this.watched(() => work({ sql: createSql(trx ?? readerOf(database), dialect), trx, runsAgain: true }));
  }

  /** @param measure runs the work and counts its time */
  private async run<T>(
    work: () => Promise<T>,
    measure = (counted: () => Promise<T>): Promise<T> => counted(),
  ): Promise<T> {
    const wasOpen = this.open !== undefined;
    const { trx, run, joined } = await this.begin();
    // The work may read, with which the snapshot of a transaction begins.
    this.position();
    const flushed = this.entries.written().length;
    const isNested = wasOpen || joined;
    const measured = () => measure(() => run(() => inside.run(this, work)));
    try {
      if (!isNested) return await measured();
      // Nested work needs a unique name: MySQL drops a savepoint when its name is used again.
      return await belowSavepoint(trx, `apps_unit_${++this.savepoints}`, measured, (cause) => {
        this.failure ??= new CollisionError([], cause);
      });
    } catch (error) {
      const isLost = isNested && this.entries.written().length !== flushed;
      if (isLost || this.tools.dialect.classify(error as Error) === 'collision')
        this.failure ??= new CollisionError([], error);
      // A transaction opened for this work alone ends before logic receives the error.
      if (!isNested) await this.close();
      throw error;
    }
  }

  private async commitNow(): Promise<void> {
    if (this.ended) throw new Error('the unit of work has ended');
    if (this.writes()) {
      const written = this.entries.written().map((entry) => entry.hash);
      const busy = this.tools.mutex.lockedByOther([...written, ...this.ranges.keys()], this.own);
      if (busy) throw new CollisionError([busy]);
      await this.commitChecked(written.length);
    }
    this.ended = true;
    this.ranges.end();
  }

  private async commitChecked(written: number): Promise<void> {
    // Opened only to read what the unit has written, which then may be more than one transaction should hold, and cannot lock
    // an app alone that others share with it.
    const isShared = () => this.ranges.scopes().some((scope) => !this.held.has(scope));
    const isLong = this.tools.dialect.oneWriter ? written > MAX_OPENED : isShared();
    if (isLong && this.changes.length === 0) await this.close();
    for (let look = 1; ; look += 1) {
      const sql = this.open && createSql(this.open.trx, this.tools.dialect);
      if (this.ranges.length > 0) await this.ranges.compare(sql, () => this.close());
      const isOpened = this.open !== undefined || this.changes.length > 0;
      try {
        return await (isOpened ? this.commitOpened() : this.commitAtOnce(look > 1));
      } catch (error) {
        if (isOpened || !(error instanceof LookAgain) || look === MAX_LOOKS) throw error;
      }
    }
  }

  /** The apps in which no other transaction may write while this one is committed: what it has not found must not be there. */
  private alone(): Set<string> {
    const missing = this.entries.readOnly().filter(({ base }) => base === null);
    return new Set([...this.ranges.scopes(), ...missing.map(({ scope }) => scope)]);
  }

  /** Commits the open transaction, or one in which the changes of host content are repeated. */
  private async commitOpened(): Promise<void> {
    const { trx, commit, free, joined } = await this.opened(false);
    const outer = joined ? trx : undefined;
    const recorded = await writeParts(createSql(trx, this.tools.dialect), this.tools, [this.part(false)], {
      outer,
      isOpened: true,
      earlier: this.flushed,
      publish: async () => new Map(),
    });
    this.take();
    const ended = () => afterTransaction(outer, recorded);
    await commit().catch(this.translate).finally(ended).finally(free);
  }

  /** Commits records alone: their transaction consists of statements, and no other code joins it. */
  private async commitAtOnce(isInsistent: boolean): Promise<void> {
    if (this.failure) throw this.failure;
    this.commits = true;
    await this.tools.commit(this.part(isInsistent)).catch((error) => {
      throw error instanceof CollisionError || error instanceof IndexMissing ? error : this.translate(error);
    });
  }

  /** @param isInsistent whether its searches may run again while the apps are locked */
  private part(isInsistent: boolean): Part {
    return {
      isAlone: this.own.size > 0,
      pending: this.entries.pending(),
      alone: this.alone(),
      ranges: this.ranges,
      claims: this.claims.all(),
      isInsistent,
      check: (sql) => this.complete(sql),
      inserts: this.others.inserts,
      written: () => {
        this.ended = true;
      },
    };
  }

  /** The end of the transaction: a CollisionError when a record has changed that the unit has read. */
  private complete(sql: Sql): Awaitable<void> {
    const [read, content, { writes }] = [this.entries.readOnly(), this.content.all(), this.others];
    // Most units have only created or changed records: a group of a hundred makes no promise for each of them.
    if (read.length + content.length + writes.length === 0) return undefined;
    return this.checkAndWrite(sql, read, content);
  }

  private async checkAndWrite(sql: Sql, read: readonly Entry[], content: readonly ContentRow[]): Promise<void> {
    await checkReads(sql, this.tools.dialect, read);
    await checkContent(sql, this.tools.dialect, content);
    for (const write of this.others.writes) await write(sql);
  }

  /** Opens the transaction if needed and flushes pending writes: it may stay open while logic runs. */
  private async begin(): Promise<Opened> {
    return this.watched(async () => {
      const opened = await this.opened(true);
      const pending = this.entries.pending();
      if (pending.length > 0) await this.flush(createSql(opened.trx, this.tools.dialect), pending);
      return opened;
    });
  }

  /** The open transaction; opens it if needed. `stays`: it may stay open while logic runs. */
  private async opened(stays: boolean): Promise<Opened> {
    if (this.failure) throw this.failure;
    if (this.ended) throw new Error('the unit of work has ended');
    return this.open ?? this.reopen(stays);
  }

  /** The position in the log of commits of a read that begins now in the transaction. */
  private position(): Position {
    const { commits, dialect } = this.tools;
    if (dialect.newest === '') return commits.log.position();
    this.readAt ??= commits.log.position();
    return this.readAt;
  }

  private async seen(scope: string, sql: Sql): Promise<Seen> {
    return { since: this.position(), counts: (await this.tools.commits.counts.seen([scope], sql)).get(scope) };
  }

  private async flush(sql: Sql, pending: readonly Entry[]): Promise<void> {
    const scopes = new Set(pending.map(({ scope }) => scope));
    const isNeeded = (scope: string) => scopes.has(scope) && this.changes.length > 0;
    const alone = new Set([...this.alone()].filter(isNeeded));
    const locked = await lockApps(sql, this.tools.indexes, scopes, alone, this.open?.joined);
    this.position();
    for (const [scope, writes] of await flushEntries(sql, this.tools, pending, locked))
      this.flushed.set(scope, [...(this.flushed.get(scope) ?? []), ...writes]);
  }

  /** Opens the transaction and repeats all changes of an earlier one. */
  private async reopen(stays: boolean): Promise<Opened> {
    this.flushed = new Map();
    this.readAt = undefined;
    const opened = await openForUnit(this.tools, stays || this.changes.length > 0);
    this.open = opened;
    this.ranges.own(opened.trx);
    this.hasOpened = true;
    this.idle.reset(this.idleTime);
    if (this.changes.length > 0) this.position();
    for (const change of this.changes) await repeatChange(opened, this.tools.dialect, () => inside.run(this, change));
    return opened;
  }

  /** Rolls the transaction back: its writes are pending again, and changes will be repeated. */
  private async close(): Promise<void> {
    if (!this.open || this.open.joined) return;
    const { rollback, free } = this.take() as Opened;
    this.idleTime = idleTimes.usual;
    this.entries.unwrite();
    await rollback();
    free();
  }

  /** Hands the open transaction over to the caller, who must end it. */
  private take(): Opened | undefined {
    const { open } = this;
    this.open = undefined;
    this.held = new Set();
    this.idle.stop();
    return open;
  }

  private readonly translate = (error: unknown): never => {
    throw translateError(this.tools.dialect, error);
  };

  /** Serializes all use of the transaction. Between two uses it stays open for the idle time at most. */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    if (inside.getStore() === this) return work();
    return this.queued(async () => {
      this.idle.pause();
      try {
        return await work();
      } finally {
        if (this.open && !this.open.joined && !this.idle.resume()) await this.close();
      }
    });
  }

  /** Runs work after all that is in use before it; at once where nothing is. */
  private queued<T>(work: () => Promise<T>): Promise<T> {
    this.uses += 1;
    const result = this.uses === 1 ? work() : this.last.then(work);
    const end = () => {
      this.uses -= 1;
    };
    this.last = result.then(end, end);
    return result;
  }
}
