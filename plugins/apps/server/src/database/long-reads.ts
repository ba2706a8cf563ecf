import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { AppsError, unavailable } from '../common/errors';
import { createSemaphore, type Semaphore, WorkerFailure, type Workers } from '../workers';
import { type Dialect, dialects, isBusy } from './dialects';
import { allowScanGuard, ScanTimeout, type SqliteConnection, scanGuard, within } from './read-connection';
import { tooLong } from './sql';
import type { SqliteInput, SqliteOutput } from './sqlite-task';
import type { HostDatabase, LongReads, ReadConnection, ReadEnd, ScanGuard, Statement } from './types';

type Read = (
  statement: Parameters<LongReads['read']>[0],
  trx: Knex.Transaction | undefined,
  limits: StatementLimits,
) => Promise<unknown>;

/** Long reads of one database: see LongReads. */
interface Reads {
  read: Read;
  destroy(): Promise<void>;
}

/** The part of Knex's clients of PostgreSQL and MySQL that is used here. */
interface ServerClient {
  config: Knex.Config;
  emit(event: string, what: unknown): void;
  raw(sql: string, values: readonly unknown[]): Knex.Raw;
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
  /** Ends the running statement of the connection, or of the session with that id, over another connection that it opens for that. */
  cancelQuery(connection: Connection | { processID: number | undefined }): Promise<unknown>;
  destroy(): Promise<void>;
}
type ServerClass = new (config: Knex.Config) => ServerClient;

interface Connection {
  query(sql: string, done: (error: Error | null, result?: unknown) => void): void;
}

/** Milliseconds between two attempts to cancel a statement. */
const cancelPause = 200;

type Done = (error: Error | null, connection: Connection) => void;

/** A connection whose next statement is bounded. */
interface Bounded {
  /** Ends that statement, over another connection. */
  cancel(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** PostgreSQL, MySQL and MariaDB: connections apart from the host's, so that short statements find those free. */
function serverReads({ database, time, slots }: LongReadsOptions, semaphore: Semaphore): Reads {
  const dialect = dialects[database.client];
  const { limited, bound } = database.client === 'postgres' ? byTransaction : bySession;
  let own: ServerClient | undefined;

  const clientOf = (): ServerClient => {
    if (own) return own;
    const host = database.knex().client as ServerClient;
    const { afterCreate: prepare = (connection: Connection, done: Done) => done(null, connection) } =
      host.config.pool ?? {};
    const afterCreate = (connection: Connection, done: Done) => {
      limited(connection, dialect, time).then(
        () => prepare(connection, done),
        (error: Error) => done(error, connection),
      );
    };
    own = new (host.constructor as ServerClass)({
      ...host.config,
      pool: { min: 1, max: slots, afterCreate } as Knex.PoolConfig,
    });
    return own;
  };

  const alone: Read = async (statement, _trx, { time: left, signal }) => {
    const client = clientOf();
    const connection = await client.acquireConnection();
    let isDone = false;
    let cancelled: Promise<void> | undefined;
    let bounded: Bounded | undefined;
    // Repeated: a cancel that arrives before its statement has no effect.
    const cancelUntilDone = async () => {
      while (!isDone) {
        await bounded?.cancel().catch(() => undefined);
        for (let waited = 0; !isDone && waited < cancelPause; waited += 10) await pause(10);
      }
    };
    const cancel = () => {
      cancelled ??= cancelUntilDone();
    };
    const late = left < time ? setTimeout(cancel, left) : undefined;
    try {
      signal.throwIfAborted();
      signal.addEventListener('abort', cancel, { once: true });
      bounded = await bound(client, connection, time);
      const { sql, values } = statement('');
      // Knex reports each query to its listeners in this way.
      database.knex().client.emit('query', { sql, bindings: values });
      return await client.raw(sql, values).connection(connection);
    } catch (error) {
      signal.throwIfAborted();
      throw cancelled ? tooLong(error) : error;
    } finally {
      isDone = true;
      clearTimeout(late);
      signal.removeEventListener('abort', cancel);
      // A cancel that arrives late would end the connection's next statement.
      await cancelled;
      await bounded?.end().catch(() => undefined);
      await client.releaseConnection(connection);
    }
  };

  const inside: Read = async (statement, trx, { time: left }) => {
    const transaction = trx as Knex.Transaction;
    const limit = (maxTime: number | null) => firstOf(dialect.timeLimit(maxTime), (sql) => transaction.raw(sql));
    await limit(left);
    try {
      const { sql, values } = statement('');
      return await transaction.raw(sql, values as Knex.RawBinding[]);
    } finally {
      // After a failure PostgreSQL refuses all statements: the rollback resets the limit.
      await limit(null).catch(() => undefined);
    }
  };

  return {
    read: (statement, trx, limits) =>
      trx ? inside(statement, trx, limits) : semaphore.run(() => alone(statement, trx, limits), limits.signal),
    async destroy() {
      await own?.destroy();
    },
  };
}

const run = (connection: Connection, sql: string): Promise<unknown> =>
  new Promise((resolve, reject) => connection.query(sql, (error, result) => (error ? reject(error) : resolve(result))));

/** How the time (ms) and the processors of statements are bounded: when a connection is made, and before each statement. */
interface Bounds {
  limited(connection: Connection, dialect: Dialect, time: number): Promise<void>;
  bound(client: ServerClient, connection: Connection, time: number): Promise<Bounded>;
}

/** MySQL and MariaDB: each connection is a session, which keeps its limits. */
const bySession: Bounds = {
  async limited(connection, dialect, time) {
    await firstOf(dialect.timeLimit(time), (sql) => run(connection, sql));
    for (const statement of dialect.oneProcessor) await run(connection, statement);
  },
  bound: async (client, connection) => ({ cancel: () => client.cancelQuery(connection), end: async () => {} }),
};

/** PostgreSQL: limits of a transaction, because a pooler gives the session to others after it, and tells a process id of its own. */
const byTransaction: Bounds = {
  async limited() {},
  async bound(client, connection, time) {
    const { timeLimit, oneProcessor } = dialects.postgres;
    const begin = ['begin read only', ...timeLimit(time), ...oneProcessor, 'select pg_backend_pid() as pid'].join('; ');
    const results = (await run(connection, begin)) as { rows: { pid: number }[] }[];
    const processID = results.at(-1)?.rows[0]?.pid;
    return { cancel: () => client.cancelQuery({ processID }), end: () => run(connection, 'rollback') };
  },
};

/** Runs the statements until one succeeds. */
async function firstOf(statements: readonly string[], run: (sql: string) => PromiseLike<unknown>): Promise<unknown> {
  const [statement = '', ...others] = statements;
  try {
    return await run(statement);
  } catch (error) {
    if (others.length === 0) throw error;
    return firstOf(others, run);
  }
}

/** Milliseconds that a statement may block the server's thread before another process runs it. */
const QUICK_TIME = 10;

/** Milliseconds that it may block the thread where no other process can run it: in a transaction, or without a write-ahead log. */
export const MAX_BLOCKING_TIME = 250;

/** The part of Knex's client of SQLite that is used here. */
interface SqliteClient {
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
    const client: SqliteClient = (trx ?? database.knex()).client;
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

interface LongReadsOptions {
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
interface StatementLimits {
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
