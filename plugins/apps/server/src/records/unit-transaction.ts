import { AsyncLocalStorage } from 'node:async_hooks';
import { isAppsError } from '../errors';
import {
  type Access,
  createSql,
  type Dialect,
  type HostDatabase,
  type Indexes,
  IndexMissing,
  isFailure,
  readerOf,
  type Sql,
  translateError,
} from '../indexes';
import { CollisionError } from './collision';
import type { Entries } from './entries';
import { flushEntries } from './flush';
import { IdleTime } from './idle-time';
import type { Turns } from './queue';
import { holdRecords, lockVersions, selectRecord } from './table';
import { type OpenTransaction, openTransaction } from './transaction';
import type { StoredRecord } from './types';

export interface UnitTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
  turns: Turns;
  /** Reads a record outside any transaction, together with others that are asked for at the same time; by its hash. */
  readTogether(hash: string): Promise<StoredRecord | undefined>;
  /** Told of an effect after the commit that failed. */
  onError(error: unknown): void;
}

/** `joined`: it is the transaction of the code that called, which alone may end it. `free` lets the next unit open one. */
type Opened = OpenTransaction & { joined: boolean; free(): void };

/**
 * Milliseconds that a transaction stays open while logic runs or reads, all such times together: enough for logic that goes
 * straight on, and what a request may wait for logic that does not. `locking`: for a unit that keeps records locked.
 */
const idleTimes = { usual: 50, locking: 200 };

/**
 * SQLite has one connection. Units that may keep it while logic runs take turns, so that the requests between them wait for
 * one of them at most.
 */
const connectionTurn = 'connection';

/** Which unit's transaction the running code is inside of: it may use the unit without waiting for itself. */
const inside = new AsyncLocalStorage<UnitTransaction>();

/**
 * The database's side of a unit of work: a transaction that is opened for a statement or for the commit, never for as long
 * as logic runs. When logic does not go on soon, the transaction is rolled back; what was done in it is done again when it
 * is next opened. See docs/decisions/short-transactions.md. `own`: hashes of the records that it is this unit's turn to
 * write.
 */
export class UnitTransaction {
  /** Why the unit cannot be committed: it must be run again, whatever the work made of the error. */
  failure: CollisionError | IndexMissing | undefined;
  /** Whether a transaction was opened for this unit, even if it is no longer open. */
  hasOpened = false;

  private open: Opened | undefined;
  /** Changes of host content, in order, to be repeated in another transaction. */
  private readonly changes: (() => Promise<unknown>)[] = [];
  private readonly idle = new IdleTime(() => {
    this.last = this.last.then(() => this.close());
  });
  private idleTime = idleTimes.usual;
  private ended = false;
  private savepoints = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly tools: UnitTools,
    private readonly entries: Entries,
    private readonly own: ReadonlySet<string>,
  ) {}

  /** Whether it was committed or rolled back, or that has been tried. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /**
   * Reads where this unit's writes are seen: in its transaction if that is open, or if `scope` has pending writes, which
   * are then flushed; else outside.
   */
  async read<T>(work: (access: Access) => Promise<T>, scope?: string): Promise<T> {
    const isPending = () => scope !== undefined && this.entries.pending(scope).length > 0;
    if (!this.open && !isPending()) return this.readOutside(work);
    return this.exclusive(async () => {
      const trx = isPending() ? (await this.begin()).trx : this.open?.trx;
      if (!trx) return this.readOutside(work);
      const access = { sql: createSql(trx, this.tools.dialect), trx };
      return this.idle.spending(() => this.watched(() => work(access)));
    });
  }

  /** The record of a hash, as this unit's transaction sees it, or as it is. */
  async record(hash: string): Promise<StoredRecord | null> {
    const { readTogether } = this.tools;
    return (await this.read(({ sql, trx }) => (trx ? selectRecord(sql, hash) : readTogether(hash)))) ?? null;
  }

  /**
   * Opens the transaction now and keeps these records from being changed by others, until it ends or the unit is slow: for
   * a unit that has lost against another process again and again.
   */
  async hold(hashes: readonly string[]): Promise<void> {
    await this.exclusive(async () => {
      this.idleTime = idleTimes.locking;
      const { trx } = await this.begin();
      await this.watched(() => holdRecords(createSql(trx, this.tools.dialect), hashes));
    });
  }

  /** Runs a change of host content inside the transaction, now and perhaps again; it is undone when it fails. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    const outermost = inside.getStore() !== this;
    return this.exclusive(async () => {
      const result = await this.run(work);
      if (outermost) this.changes.push(work);
      return result;
    });
  }

  /** Runs reads of host content: inside the transaction if it is open or has changed such content, else as they are. */
  async alongside<T>(work: () => Promise<T>): Promise<T> {
    const joins = () => this.open !== undefined || this.changes.length > 0;
    if (!joins()) return work();
    return this.exclusive(() => (joins() ? this.run(work, (reading) => this.idle.spending(reading)) : work()));
  }

  async commit(): Promise<void> {
    await this.exclusive(() => this.watched(() => this.commitNow()));
  }

  /** False when there was nothing left to roll back. */
  async rollback(): Promise<boolean> {
    if (this.ended) return false;
    this.ended = true;
    await this.last;
    const open = this.take();
    await open?.rollback();
    open?.free();
    return true;
  }

  /** Remembers a failure that only running everything again can mend. */
  private async watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const lost = isFailure(cause, 'collision') || (this.open && isFailure(cause, 'missing-table'));
      const hashes = () => this.entries.pending().map((entry) => entry.hash);
      const error = lost ? new CollisionError(hashes(), cause) : cause;
      if (error instanceof CollisionError || error instanceof IndexMissing) this.failure ??= error;
      throw error;
    }
  }

  private async readOutside<T>(work: (access: Access) => Promise<T>): Promise<T> {
    const { database, dialect } = this.tools;
    const trx = await database.current();
    return this.watched(() => work({ sql: createSql(trx ?? readerOf(database), dialect), trx }));
  }

  /** @param measure how the time of the work itself is counted */
  private async run<T>(
    work: () => Promise<T>,
    measure = (counted: () => Promise<T>): Promise<T> => counted(),
  ): Promise<T> {
    const wasOpen = this.open !== undefined;
    const { trx, run, joined } = await this.begin();
    const flushed = this.entries.written().length;
    // Nested work needs a name of its own: MySQL forgets a savepoint when its name is used again.
    const savepoint = wasOpen || joined ? `apps_unit_${++this.savepoints}` : undefined;
    if (savepoint) await trx.raw(`savepoint ${savepoint}`);
    try {
      const result = await measure(() => run(() => inside.run(this, work)));
      if (savepoint) await trx.raw(`release savepoint ${savepoint}`);
      return result;
    } catch (error) {
      if (this.tools.dialect.classify(error as Error) === 'collision') this.failure ??= new CollisionError([], error);
      // A transaction that was opened for this work alone is gone before logic hears of the failure.
      if (savepoint) await this.undo(trx, savepoint, error, flushed);
      else await this.close();
      throw error;
    }
  }

  private async commitNow(): Promise<void> {
    if (this.ended) throw new Error('the unit of work has ended');
    const written = this.entries.written().map((entry) => entry.hash);
    if (written.length || this.changes.length || this.open) {
      const busy = this.tools.turns.takenByOther(written, this.own);
      if (busy) throw new CollisionError([busy]);
      const { trx, commit, free } = await this.begin(false);
      await this.checkReads(createSql(trx, this.tools.dialect));
      this.ended = true;
      this.take();
      await commit().catch(this.translate).finally(free);
    }
    this.ended = true;
  }

  private async checkReads(sql: Sql): Promise<void> {
    const read = this.entries.readOnly();
    if (read.length === 0) return;
    const hashes = read.map((entry) => entry.hash);
    const versions = await lockVersions(sql, this.tools.dialect, hashes);
    const changed = read.filter((entry) => entry.base?.version !== versions.get(entry.hash));
    if (changed.length) throw new CollisionError(changed.map((entry) => entry.hash));
  }

  /** The transaction, opened if it is not, with all that is pending written into it. `stays`: perhaps while logic runs. */
  private async begin(stays = true): Promise<Opened> {
    return this.watched(async () => {
      if (this.failure) throw this.failure;
      if (this.ended) throw new Error('the unit of work has ended');
      const opened = this.open ?? (await this.reopen(stays));
      const pending = this.entries.pending();
      const { dialect, indexes } = this.tools;
      if (pending.length) await flushEntries(createSql(opened.trx, dialect), dialect, indexes, pending);
      return opened;
    });
  }

  /** Opens the transaction, and makes all changes again that were made in an earlier one. */
  private async reopen(stays: boolean): Promise<Opened> {
    const { database, turns } = this.tools;
    const joined = (await database.current()) !== undefined;
    const queues = database.client === 'sqlite' && !joined && (stays || this.changes.length > 0);
    const free = queues ? await turns.take([connectionTurn]) : () => {};
    const transaction = await openTransaction(database).catch((error) => {
      free();
      return this.translate(error);
    });
    const opened = { ...transaction, joined, free };
    this.open = opened;
    this.hasOpened = true;
    this.idle.reset(this.idleTime);
    for (const change of this.changes) await this.repeat(opened, change);
    return opened;
  }

  /** Makes a change again. What fails now, and did not before, was changed by another request meanwhile. */
  private async repeat(opened: Opened, change: () => Promise<unknown>): Promise<void> {
    try {
      await opened.run(() => inside.run(this, change));
    } catch (cause) {
      const error = translateError(this.tools.dialect, cause);
      throw isAppsError(error, 'ServiceUnavailableError') ? error : new CollisionError([], cause);
    }
    // Strapi's own work hardly ever waits on SQLite: without this, many changes would keep the thread from all else.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends the transaction without a trace: what was written in it is pending again, and changes are made again. */
  private async close(): Promise<void> {
    if (!this.open || this.open.joined) return;
    const { rollback, free } = this.take() as Opened;
    this.idleTime = idleTimes.usual;
    this.entries.unwrite();
    await rollback();
    free();
  }

  /** The open transaction, which is from now on the caller's to end. */
  private take(): Opened | undefined {
    const { open } = this;
    this.open = undefined;
    this.idle.stop();
    return open;
  }

  /** Undoes what failed work has written; when that cannot be, the unit cannot be committed. */
  private async undo(trx: Opened['trx'], savepoint: string, error: unknown, flushed: number): Promise<void> {
    try {
      await trx.raw(`rollback to savepoint ${savepoint}`);
    } catch (cause) {
      this.failure ??= new CollisionError([], cause);
    }
    if (this.entries.written().length !== flushed) this.failure ??= new CollisionError([], error);
  }

  private readonly translate = (error: unknown): never => {
    throw translateError(this.tools.dialect, error);
  };

  /** One at a time: whatever opens, uses or ends the transaction. Between two of them it may only stay open for a while. */
  private async exclusive<T>(work: () => Promise<T>): Promise<T> {
    if (inside.getStore() === this) return work();
    const result = this.last.then(async () => {
      this.idle.pause();
      try {
        return await work();
      } finally {
        if (this.open && !this.open.joined && !this.idle.resume()) await this.close();
      }
    });
    this.last = result.catch(() => undefined);
    return result;
  }
}
