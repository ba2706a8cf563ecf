import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Dialect, dialects, type LongReads, tooLong } from '../../indexes';
import type { Semaphore } from '../../workers';
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
  /** Ends the running statement of the connection, over another connection that it opens for that. */
  cancelQuery(connection: Connection): Promise<unknown>;
  destroy(): Promise<void>;
}
type ClientClass = new (config: Knex.Config) => Client;

interface Connection {
  query(sql: string, done: (error: Error | null) => void): void;
}

/** Milliseconds between two attempts to cancel a statement. */
const cancelPause = 200;

type Done = (error: Error | null, connection: Connection) => void;

/** PostgreSQL, MySQL and MariaDB: connections apart from the host's, so that short statements find those free. */
export function serverReads({ database, time, slots }: LongReadsOptions, semaphore: Semaphore): Reads {
  const dialect = dialects[database.client];
  let own: Client | undefined;

  const clientOf = (): Client => {
    if (own) return own;
    const host = database.knex().client as Client;
    const { afterCreate: prepare = (connection: Connection, done: Done) => done(null, connection) } =
      host.config.pool ?? {};
    const afterCreate = (connection: Connection, done: Done) => {
      limitConnection(connection, dialect, time).then(
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
    // Repeated: a cancel that arrives before its statement has no effect.
    const cancelUntilDone = async () => {
      while (!isDone) {
        await client.cancelQuery(connection).catch(() => undefined);
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

/** Bounds the time (ms) and the processors of the connection's later statements. */
async function limitConnection(connection: Connection, dialect: Dialect, time: number): Promise<void> {
  const run = (sql: string) =>
    new Promise<void>((resolve, reject) =>
      connection.query(sql, (error) => {
        if (error) reject(error);
        else resolve();
      }),
    );
  await firstOf(dialect.timeLimit(time), run);
  for (const statement of dialect.oneProcessor) await run(statement);
}

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
