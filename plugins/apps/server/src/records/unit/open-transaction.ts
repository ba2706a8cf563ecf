import { AsyncLocalStorage } from 'node:async_hooks';
import { isAppsError } from '../../common/errors';
import { type Dialect, type HostDatabase, type Transaction, translateError } from '../../database';
import { CollisionError } from '../commits/log';
import type { UnitTools } from './transact';

/** A transaction that stays open between calls. */
interface OpenTransaction {
  trx: Transaction;
  /** Runs `work` in the transaction's asynchronous context: Strapi's services join it. */
  run<T>(work: () => T): T;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/**
 * Opens a transaction that ends by a call. The host's database takes a callback: here it waits for that call, and a
 * snapshot of its asynchronous context lets later calls run inside the transaction.
 */
function openTransaction(database: HostDatabase): Promise<OpenTransaction> {
  return new Promise((resolve, reject) => {
    let commit: () => void;
    let abandon: (reason: unknown) => void;
    const end = new Promise<void>((ended, failed) => {
      commit = ended;
      abandon = failed;
    });
    const closed = database.transaction((trx) => {
      const snapshot = AsyncLocalStorage.snapshot();
      resolve({
        trx,
        run: (work) => snapshot(work),
        commit() {
          commit();
          return closed;
        },
        async rollback() {
          abandon(new Error('rolled back'));
          await closed.catch(() => undefined);
        },
      });
      return end;
    });
    closed.catch(reject);
  });
}

/** `joined`: the transaction belongs to the calling code, which alone may end it. `free` lets the next unit open one. */
export type Opened = OpenTransaction & { joined: boolean; free(): void };

/**
 * SQLite has one connection. Units that may keep it while logic runs lock it one by one, so that other requests wait for at
 * most one of them.
 */
const CONNECTION_KEY = 'connection';

/** Opens the transaction of a unit, or joins that of the calling code. `stays`: it may stay open while logic runs. */
export async function openForUnit({ database, dialect, mutex }: UnitTools, stays: boolean): Promise<Opened> {
  const joined = database.current() !== undefined;
  const queues = database.client === 'sqlite' && !joined && stays;
  const free = queues ? await mutex.lock([CONNECTION_KEY]) : () => {};
  const transaction = await openTransaction(database).catch((error) => {
    free();
    throw translateError(dialect, error);
  });
  return { ...transaction, joined, free };
}

/** Repeats a change of host content. When it fails now, another request has changed the content meanwhile. */
export async function repeatChange(opened: Opened, dialect: Dialect, change: () => Promise<unknown>): Promise<void> {
  try {
    await opened.run(change);
  } catch (cause) {
    const error = translateError(dialect, cause);
    throw isAppsError(error, 'ServiceUnavailableError') ? error : new CollisionError([], cause);
  }
  // Strapi's code hardly ever yields on SQLite: without this, many changes would block the thread.
  await new Promise((resolve) => setImmediate(resolve));
}

/** Runs work and undoes its writes when it fails; `lost` receives the error when they cannot be undone. */
export async function belowSavepoint<T>(
  trx: Opened['trx'],
  savepoint: string,
  work: () => Promise<T>,
  lost: (cause: unknown) => void,
): Promise<T> {
  await trx.raw(`savepoint ${savepoint}`);
  try {
    const result = await work();
    await trx.raw(`release savepoint ${savepoint}`);
    return result;
  } catch (error) {
    await trx.raw(`rollback to savepoint ${savepoint}`).catch(lost);
    throw error;
  }
}

/**
 * Milliseconds that a transaction stays open while logic runs or reads, in sum: enough for logic that continues at once,
 * and short enough for a request that waits for slow logic. `locking`: for a unit that keeps records locked.
 */
export const idleTimes = { usual: 50, locking: 200 };

/**
 * How long a transaction may stay open without a write. Time passes between `resume` and `pause`, and during `spending`;
 * when none is left, `expired` is called once.
 */
export class IdleTime {
  private left = 0;
  private since = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly expired: () => void) {}

  /** Sets the remaining time, in milliseconds, and stops the clock. */
  reset(milliseconds: number): void {
    this.stop();
    this.left = milliseconds;
  }

  /** Stops the clock: the transaction is in use. */
  pause(): void {
    if (this.timer === undefined) return;
    this.left -= performance.now() - this.since;
    this.stop();
  }

  /** Starts the clock: the transaction is idle. False when no time is left, so that it must end at once. */
  resume(): boolean {
    if (this.left <= 0) return false;
    this.since = performance.now();
    this.timer = setTimeout(this.expired, this.left);
    return true;
  }

  /** Runs work whose duration counts as idle, while the clock is stopped. */
  async spending<T>(work: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    try {
      return await work();
    } finally {
      this.left -= performance.now() - begin;
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
