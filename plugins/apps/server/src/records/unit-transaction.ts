import { AsyncLocalStorage } from 'node:async_hooks';
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

/** Which unit's transaction the running code is inside of: it may use the unit without waiting for itself. */
const inside = new AsyncLocalStorage<UnitTransaction>();

/**
 * The database's side of a unit of work: opened as late as can be, and remembering what only running everything again
 * can mend. `own`: hashes of the records that it is this unit's turn to write.
 */
export class UnitTransaction {
  /** Why the unit cannot be committed: it must be run again, whatever the work made of the error. */
  failure: CollisionError | IndexMissing | undefined;

  private open: OpenTransaction | undefined;
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

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** The connection that sees what this unit has written; flushed first when the scope has pending writes. */
  async sql(scope?: string): Promise<Sql> {
    if (scope !== undefined && this.entries.pending(scope).length) await this.exclusive(() => this.flush());
    const { database, dialect } = this.tools;
    return createSql(this.open?.trx ?? (await database.current()) ?? readerOf(database), dialect);
  }

  /** The record of a hash, as this unit's transaction sees it, or as it is. */
  async record(hash: string): Promise<StoredRecord | null> {
    const { database, dialect } = this.tools;
    const trx = this.open?.trx ?? (await database.current());
    const read = trx ? selectRecord(createSql(trx, dialect), hash) : this.tools.readTogether(hash);
    return (await this.watched(() => read)) ?? null;
  }

  /** Like `sql`, and the transaction that the connection is in. */
  async access(scope: string): Promise<Access> {
    const sql = await this.sql(scope);
    return { sql, trx: this.open?.trx ?? (await this.tools.database.current()) };
  }

  /**
   * Opens the transaction now and keeps these records from being changed by anybody else until it ends: for a unit that
   * has lost against another process again and again.
   */
  async hold(hashes: readonly string[]): Promise<void> {
    await this.exclusive(async () => {
      const { trx } = await this.flush();
      await this.watched(() => holdRecords(createSql(trx, this.tools.dialect), hashes));
    });
  }

  /** Runs `work` inside the transaction; what it wrote is undone when it fails. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    return this.exclusive(async () => {
      const { trx, run } = await this.flush();
      const flushed = this.entries.written().length;
      // Nested work needs a name of its own: MySQL forgets a savepoint when its name is used again.
      const savepoint = `apps_unit_${++this.savepoints}`;
      await trx.raw(`savepoint ${savepoint}`);
      try {
        const result = await run(() => inside.run(this, work));
        await trx.raw(`release savepoint ${savepoint}`);
        return result;
      } catch (error) {
        await this.undo(trx, savepoint, error, flushed);
        throw error;
      }
    });
  }

  async commit(): Promise<void> {
    await this.exclusive(() => this.watched(() => this.commitNow()));
  }

  /** False when there was nothing left to roll back. */
  async rollback(): Promise<boolean> {
    if (this.ended) return false;
    this.ended = true;
    await this.last;
    await this.open?.rollback();
    return true;
  }

  /** Remembers a failure that only running everything again can mend. */
  async watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const lost = isFailure(cause, 'collision') || (this.isOpen && isFailure(cause, 'missing-table'));
      const hashes = () => this.entries.pending().map((entry) => entry.hash);
      const error = lost ? new CollisionError(hashes(), cause) : cause;
      if (error instanceof CollisionError || error instanceof IndexMissing) this.failure ??= error;
      throw error;
    }
  }

  private async commitNow(): Promise<void> {
    if (this.ended) throw new Error('the unit of work has ended');
    const written = this.entries.written().map((entry) => entry.hash);
    if (written.length || this.open) {
      const busy = this.tools.turns.takenByOther(written, this.own);
      if (busy) throw new CollisionError([busy]);
      const { trx, commit } = await this.flush();
      await this.checkReads(createSql(trx, this.tools.dialect));
      this.ended = true;
      await commit().catch(this.translate);
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

  /** Opens the transaction, if it is not yet, and writes what is pending into it. */
  private async flush(): Promise<OpenTransaction> {
    return this.watched(async () => {
      if (this.failure) throw this.failure;
      this.open ??= await openTransaction(this.tools.database).catch(this.translate);
      const pending = this.entries.pending();
      const { dialect, indexes } = this.tools;
      if (pending.length) await flushEntries(createSql(this.open.trx, dialect), dialect, indexes, pending);
      return this.open;
    });
  }

  /** Undoes what failed work has written; when that cannot be, the unit cannot be committed. */
  private async undo(trx: OpenTransaction['trx'], savepoint: string, error: unknown, flushed: number): Promise<void> {
    const collided = this.tools.dialect.classify(error as Error) === 'collision';
    try {
      await trx.raw(`rollback to savepoint ${savepoint}`);
    } catch (cause) {
      this.failure ??= new CollisionError([], cause);
    }
    if (collided || this.entries.written().length !== flushed) this.failure ??= new CollisionError([], error);
  }

  private readonly translate = (error: unknown): never => {
    throw translateError(this.tools.dialect, error);
  };

  /** One at a time: whatever opens, writes to or ends the transaction. */
  private async exclusive<T>(work: () => Promise<T>): Promise<T> {
    if (inside.getStore() === this) return work();
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}
