import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { unavailable } from '../../common/errors';
import { FairMutex } from '../../common/time/fair-queue';
import { recordWork, requestTime } from '../../common/time/pace';
import { isBusy, type Reader } from '../../indexes';
import type { SqliteLog } from './sqlite-log';
import { bound, compiled, type Statement } from './sqlite-statements';

/** The part of a better-sqlite3 connection that is used here. */
interface Connection {
  readonly open: boolean;
  readonly inTransaction: boolean;
  pragma(text: string, options?: { simple: boolean }): unknown;
  prepare(sql: string): Statement;
}

export interface SqliteTransactions {
  /**
   * Runs `work` in a transaction that locks the file for writing at once; nothing but its connection may be used in it, because
   * all others wait for it. Rejects with the driver's error after a rollback.
   */
  write<T>(work: (connection: Reader) => Promise<T>): Promise<T>;
  /** A number that changes with each commit of another connection; undefined before the first transaction, and after the last. */
  dataVersion(): number | undefined;
  /** Whether the number may be older: a transaction that has only read sees no commit of others. */
  mayLag(): boolean;
}

interface SqliteClient {
  config: { acquireConnectionTimeout?: number };
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<unknown>;
  emit(event: 'query', query: { sql: string; bindings: readonly unknown[] }): void;
}

/** Milliseconds between two attempts to lock a file that another process writes, at most. */
const MAX_PAUSE = 10;

/** Milliseconds that a transaction waits for the connection: as long as Knex waits by default. */
const ACQUIRE_TIMEOUT = 60_000;

const busy = () => unavailable('The server is busy, try again soon', 1);

/**
 * Makes transactions on Knex's own connection to a SQLite file that run their statements on the driver. Knex makes a client
 * for each transaction, and forty promises for a statement of 10 µs: half of the time of storing a record. See
 * docs/decisions/storage-writing.md.
 */
export function sqliteTransactions(knex: () => Knex, log: SqliteLog): SqliteTransactions {
  const known = new WeakMap<Connection, (sql: string) => Statement>();
  const connections = createConnections(knex);
  let isLocked = false;

  const write: SqliteTransactions['write'] = async (work) => {
    const { client, connection, release } = await connections.acquire();
    const begun = performance.now();
    const statementOf = known.get(connection) ?? compiled(connection);
    known.set(connection, statementOf);
    const run = (sql: string, bindings: readonly unknown[] = []) => {
      // Knex reports each query to its listeners in this way.
      client.emit('query', { sql, bindings });
      const statement = statementOf(sql);
      const values = bindings.map(bound);
      return statement.reader ? statement.all(values) : statement.run(values);
    };
    try {
      await begin(connection, () => run('BEGIN IMMEDIATE'));
      isLocked = true;
      const result = await work({ raw: async (sql, values) => run(sql, values) });
      log.committing(connection, () => run('COMMIT'));
      return result;
    } catch (error) {
      if (connection.inTransaction) run('ROLLBACK');
      throw error;
    } finally {
      isLocked = false;
      recordWork(performance.now() - begun);
      await release();
    }
  };
  const { dataVersion, isInTransaction } = connections;
  return { write, dataVersion, mayLag: () => !isLocked && isInTransaction() };
}

/**
 * Knex's only connection. One transaction at a time waits for it: Knex serves requests in their order, and with a hundred
 * transactions before it each statement of Strapi's would wait for all of them. A transaction waits as long as Knex waits for a
 * connection; one that has waited longer never begins.
 */
function createConnections(knex: () => Knex) {
  const mutex = new FairMutex();
  let last: Connection | undefined;
  /** How many connections there were: each counts from its own beginning. */
  let opened = 0;
  return {
    dataVersion: () =>
      last?.open ? opened * 2 ** 32 + Number(last.pragma('data_version', { simple: true })) : undefined,
    isInTransaction: () => last?.open === true && last.inTransaction,
    async acquire() {
      const client = knex().client as SqliteClient;
      const time = client.config.acquireConnectionTimeout ?? ACQUIRE_TIMEOUT;
      const free = await mutex.lock(requestTime(), { time, error: busy });
      try {
        const connection = await client.acquireConnection();
        if (connection !== last) opened += 1;
        last = connection;
        const release = () => client.releaseConnection(connection).finally(free);
        return { client, connection, release };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

/** Locks the file within the connection's own timeout. SQLite would block the thread while another process writes. */
async function begin(connection: Connection, lock: () => unknown): Promise<void> {
  const timeout = Number(connection.pragma('busy_timeout', { simple: true }));
  const until = performance.now() + timeout;
  for (;;) {
    connection.pragma('busy_timeout = 0');
    try {
      lock();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    } finally {
      connection.pragma(`busy_timeout = ${timeout}`);
    }
    await pause(1 + Math.random() * MAX_PAUSE);
  }
}
