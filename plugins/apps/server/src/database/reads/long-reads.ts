import type { Knex } from 'knex';
import { AppsError, unavailable } from '../../common/errors';
import { createSemaphore, type Semaphore, WorkerFailure, type Workers } from '../../workers';
import { isBusy } from '../dialects';
import { allowScanGuard, ScanTimeout, type SqliteConnection, scanGuard, within } from '../read-connection';
import { tooLong } from '../sql';
import type { HostDatabase, LongReads, ReadConnection, ReadEnd, ScanGuard, Statement } from '../types';
import { type Reads, serverReads } from './server-reads';
import type { SqliteInput, SqliteOutput } from './sqlite-task';

/** Milliseconds that a statement may block the server's thread before another process runs it. */
const QUICK_TIME = 10;

/** Milliseconds that it may block the thread where no other process can run it: in a transaction, or without a write-ahead log. */
export const MAX_BLOCKING_TIME = 250;

/** The part of Knex's client of SQLite that is used here. */
interface Client {
  emit(event: string, what: unknown): void;
  acquireConnection(): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): Promise<void>;
}

type Make = (guard: ScanGuard) => Statement;

/**
 * SQLite: a statement is tried on the calling thread first. One that is not done soon goes to a process that can be ended;
 * while such a process runs another statement, all go there at once.
 */
function sqliteReads({ database, workers }: LongReadsOptions, semaphore: Semaphore): Reads {
  const reported = (statement: Statement): Statement => {
    database.knex().client.emit('query', { sql: statement.sql, bindings: statement.values });
    return statement;
  };

  const byProcess = (
    connection: ReadConnection,
    make: Make,
    { time: left, signal }: StatementLimits,
    processes: Workers,
  ) =>
    semaphore.run(async () => {
      const input: SqliteInput = { ...connection.file, ...reported(make('')) };
      const output = await processes.run('readSqlite', input, { time: left, signal }).catch((error) => {
        throw error instanceof WorkerFailure ? tooLong(error) : error;
      });
      const { rows, error } = output as SqliteOutput;
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return rows;
    }, signal);

  /** On the host's connection, in its transaction if there is one. */
  const blocking = async (make: Make, trx: Knex.Transaction | undefined, left: number) => {
    const client: Client = (trx ?? database.knex()).client;
    const connection = await client.acquireConnection();
    try {
      allowScanGuard(connection);
      const { sql, values } = reported(make(scanGuard));
      const maxTime = workers ? Math.min(MAX_BLOCKING_TIME, left) : left;
      return refused(() => within(maxTime, () => connection.prepare(sql).all(values)));
    } finally {
      if (!trx) await client.releaseConnection(connection);
    }
  };

  return {
    async read(make, trx, limits) {
      const connection = trx ? undefined : database.readConnection?.();
      if (!connection) return blocking(make, trx, limits.time);
      if (!workers) return refused(() => connection.within(limits.time, make(scanGuard)));
      if (semaphore.idle) {
        try {
          return connection.within(Math.min(QUICK_TIME, limits.time), make(scanGuard));
        } catch (error) {
          // Another process can wait while the file's log is being moved.
          if (!(error instanceof ScanTimeout || isBusy(error))) throw error;
        }
      }
      return byProcess(connection, make, limits, workers);
    },
    async destroy() {
      await workers?.destroy();
    },
  };
}

/** The result of `read`; throws the requester's error when it takes too long. */
function refused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ScanTimeout ? tooLong(error) : error;
  }
}

export interface LongReadsOptions {
  database: HostDatabase;
  /** Milliseconds that one statement may run, and that it may wait before that. */
  time: number;
  /** Statements that run at the same time. */
  slots: number;
  /** Processes that read a SQLite file; without them it is read on the calling thread. */
  workers?: Workers | undefined;
  /** Called with the milliseconds that a statement has waited for its turn. */
  waited?: ((time: number) => void) | undefined;
}

/** How long one statement may take (ms), and the signal that ends it earlier. */
export interface StatementLimits {
  time: number;
  signal: AbortSignal;
}

/** Statements that may wait, for each one that may run. */
const MAX_QUEUE_FACTOR = 8;

/**
 * Long reads of the host's database (docs/decisions/long-reads.md): on PostgreSQL and MySQL over separate connections with
 * a time limit; on SQLite in processes that can be ended.
 */
export function createLongReads(options: LongReadsOptions): LongReads {
  const { database, time, slots, waited = () => {} } = options;
  const busy = () => unavailable('The server is busy with other searches, try again soon', 2);
  const semaphore = createSemaphore({ permits: slots, queue: slots * MAX_QUEUE_FACTOR, timeout: time, busy, waited });
  const reads = database.client === 'sqlite' ? sqliteReads(options, semaphore) : serverReads(options, semaphore);
  return {
    searchTime: 2 * time,
    async read(statement, trx, end) {
      const { signal, left, release } = ending(end, time);
      try {
        signal.throwIfAborted();
        return await reads.read(statement, trx, { signal, time: left });
      } finally {
        release();
      }
    },
    destroy: reads.destroy,
  };
}

/** One signal for every reason to end a read early, and how long (ms) it may take at most. */
function ending({ signal, time = Number.POSITIVE_INFINITY }: ReadEnd, maxTime: number) {
  const controller = new AbortController();
  const stop = (message: string) => controller.abort(new AppsError('ServiceUnavailableError', message));
  const leave = () => stop('The request was ended');
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  // The statement's own time counts from its begin; this timer is for an earlier end.
  const timer = Number.isFinite(time) ? setTimeout(() => stop('The time of the request is over'), time) : undefined;
  const release = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  };
  return { signal: controller.signal, left: Math.max(1, Math.min(maxTime, Math.ceil(time))), release };
}
