import type { Knex } from 'knex';
import { isBusy, type ReadConnection, type Statement, tooLong } from '../../indexes';
import { type Semaphore, WorkerFailure, type Workers } from '../../workers';
import { allowSteps, type SqliteConnection, StepsOver, step, within } from '../database/steps';
import type { LongReadsOptions, StatementLimits } from './long-reads';
import type { Reads } from './server-reads';
import type { SqliteInput, SqliteOutput } from './sqlite-task';

/** Milliseconds that a statement may block the server's thread before another process runs it. */
const QUICK_TIME = 10;

/** Milliseconds that it may block the thread where no other process can run it: in a transaction, or without a write-ahead log. */
const MAX_BLOCKING_TIME = 250;

/** The part of Knex's client of SQLite that is used here. */
interface Client {
  emit(event: string, what: unknown): void;
  acquireConnection(): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): Promise<void>;
}

type Make = (step: string) => Statement;

/**
 * SQLite: a statement is tried on the calling thread first. One that is not done soon goes to a process that can be ended;
 * while such a process runs another statement, all go there at once.
 */
export function sqliteReads({ database, workers }: LongReadsOptions, semaphore: Semaphore): Reads {
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
      allowSteps(connection);
      const { sql, values } = reported(make(step));
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
      if (!workers) return refused(() => connection.within(limits.time, make(step)));
      if (semaphore.idle) {
        try {
          return connection.within(Math.min(QUICK_TIME, limits.time), make(step));
        } catch (error) {
          // Another process can wait while the file's log is being moved.
          if (!(error instanceof StepsOver || isBusy(error))) throw error;
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
    throw error instanceof StepsOver ? tooLong(error) : error;
  }
}
