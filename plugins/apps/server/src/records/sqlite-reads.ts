import type { Knex } from 'knex';
import { type NearReader, type Statement, tooLong } from '../indexes';
import { WorkerFailure, type Workers } from '../workers';
import type { Gate } from './gate';
import type { LongReadsOptions, Place } from './long-reads';
import type { Reads } from './server-reads';
import type { SqliteInput, SqliteOutput } from './sqlite-task';
import { allowSteps, type SqliteConnection, StepsOver, step, within } from './steps';

/** Milliseconds that a statement may keep the server's thread before it is asked of another process. */
const quickTime = 10;

/** The same where there is no other process: in a transaction, and without a write-ahead log. */
const blockingTime = 250;

/** What is used of Knex's client of SQLite. */
interface Client {
  emit(event: string, what: unknown): void;
  acquireConnection(): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): Promise<void>;
}

type Make = (step: string) => Statement;

/**
 * SQLite: most statements are done at once on the calling thread. One that is not, is asked of a process that can be ended;
 * while others are there, it is not tried at all.
 */
export function sqliteReads({ database, workers }: LongReadsOptions, gate: Gate): Reads {
  const told = (statement: Statement): Statement => {
    database.knex().client.emit('query', { sql: statement.sql, bindings: statement.values });
    return statement;
  };

  const byProcess = (near: NearReader, make: Make, { time: left, signal }: Place, processes: Workers) =>
    gate.pass(async () => {
      const input: SqliteInput = { ...near.file, ...told(make('')) };
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
      const { sql, values } = told(make(step));
      const most = workers ? Math.min(blockingTime, left) : left;
      return refused(() => within(most, () => connection.prepare(sql).all(values)));
    } finally {
      if (!trx) await client.releaseConnection(connection);
    }
  };

  return {
    async read(make, trx, place) {
      const near = trx ? undefined : database.near?.();
      if (!near) return blocking(make, trx, place.time);
      if (!workers) return refused(() => near.within(place.time, make(step)));
      if (gate.idle) {
        try {
          return near.within(Math.min(quickTime, place.time), make(step));
        } catch (error) {
          if (!(error instanceof StepsOver || isBusy(error))) throw error;
        }
      }
      return byProcess(near, make, place, workers);
    },
    async destroy() {
      await workers?.destroy();
    },
  };
}

/** The file's log is being moved: another process can wait for that. */
function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

/** What `read` gives; the error for the requester when it takes too long. */
function refused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof StepsOver ? tooLong(error) : error;
  }
}
