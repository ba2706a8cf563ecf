import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Semaphore } from '../../workers';
import { type Dialect, dialects } from '../dialects';
import { tooLong } from '../sql';
import type { LongReads } from '../types';
import type { LongReadsOptions, StatementLimits } from './long-reads';

type Read = (
  statement: Parameters<LongReads['read']>[0],
  trx: Knex.Transaction | undefined,
  limits: StatementLimits,
) => Promise<unknown>;

/** Long reads of one database: see LongReads. */
export interface Reads {
  read: Read;
  destroy(): Promise<void>;
}

/** The part of Knex's clients of PostgreSQL and MySQL that is used here. */
interface Client {
  config: Knex.Config;
  emit(event: string, what: unknown): void;
  raw(sql: string, values: readonly unknown[]): Knex.Raw;
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
  /** Ends the running statement of the connection, or of the session with that id, over another connection that it opens for that. */
  cancelQuery(connection: Connection | { processID: number | undefined }): Promise<unknown>;
  destroy(): Promise<void>;
}
type ClientClass = new (config: Knex.Config) => Client;

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
export function serverReads({ database, time, slots }: LongReadsOptions, semaphore: Semaphore): Reads {
  const dialect = dialects[database.client];
  const { limited, bound } = database.client === 'postgres' ? byTransaction : bySession;
  let own: Client | undefined;

  const clientOf = (): Client => {
    if (own) return own;
    const host = database.knex().client as Client;
    const { afterCreate: prepare = (connection: Connection, done: Done) => done(null, connection) } =
      host.config.pool ?? {};
    const afterCreate = (connection: Connection, done: Done) => {
      limited(connection, dialect, time).then(
        () => prepare(connection, done),
        (error: Error) => done(error, connection),
      );
    };
    own = new (host.constructor as ClientClass)({
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
  bound(client: Client, connection: Connection, time: number): Promise<Bounded>;
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
