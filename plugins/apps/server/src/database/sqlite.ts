import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { unavailable } from '../common/errors';
import { FairMutex } from '../common/time/mutex';
import { recordWork, requestTime, within } from '../common/time/pace';
import { isBusy } from './dialects';
import type { Reader } from './types';

/** A compiled statement of better-sqlite3. */
export interface Statement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  all(values: readonly unknown[]): unknown[];
  run(values: readonly unknown[]): unknown;
}

/** Compiled statements kept for a connection, and the length of the longest one: longer ones are not worth the memory. */
const MAX_STATEMENTS = 200;
const MAX_LENGTH = 2_000;

/** A value as Knex gives it to the driver, which takes neither dates nor booleans. */
export const bound = (value: unknown): unknown => {
  if (value instanceof Date) return value.valueOf();
  return typeof value === 'boolean' ? Number(value) : value;
};

/**
 * Compiles statements on a connection; those that it has compiled lately are kept, but for `t.*`, whose columns another process
 * may change.
 */
export function compiled(connection: { prepare(sql: string): Statement }): (sql: string) => Statement {
  const statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    if (sql.length <= MAX_LENGTH && !sql.includes('.*')) statements.set(sql, statement);
    return statement;
  };
}

/** The part of a better-sqlite3 connection that is used here. */
interface WriteConnection {
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
  acquireConnection(): Promise<WriteConnection>;
  releaseConnection(connection: WriteConnection): Promise<unknown>;
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
  const known = new WeakMap<WriteConnection, (sql: string) => Statement>();
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
  let last: WriteConnection | undefined;
  let version: Statement | undefined;
  /** How many connections there were: each counts from its own beginning. */
  let opened = 0;
  return {
    dataVersion: () =>
      last?.open && version
        ? opened * 2 ** 32 + Number((version.all([]) as { data_version: number }[])[0]?.data_version)
        : undefined,
    isInTransaction: () => last?.open === true && last.inTransaction,
    async acquire() {
      const client = knex().client as SqliteClient;
      const time = client.config.acquireConnectionTimeout ?? ACQUIRE_TIMEOUT;
      const free = await mutex.lock(requestTime(), { time, error: busy });
      try {
        const connection = await client.acquireConnection();
        if (connection !== last) {
          opened += 1;
          version = connection.prepare('pragma data_version');
        }
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
async function begin(connection: WriteConnection, lock: () => unknown): Promise<void> {
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

/** Pages of the write-ahead log, of 4 kB each, that are to be copied into the file: as many as SQLite has by default. */
const MANY = 1_000;
/** Pages from which on a commit copies them itself: the log stays bounded without another process too. */
const MAX_PAGES = 8_000;

/** Milliseconds after a failed copy in which no other is asked for. */
const PAUSE = 10_000;

/** Milliseconds for which a writer waits for a copy. */
const MAX_WAIT = 2_000;

/** The first SQLite that counts the pages of the log without copying them. */
const COUNTS = 3.051;

/** The part of a better-sqlite3 connection that is used here. */
interface Connection {
  pragma(text: string, options?: { simple: boolean }): unknown;
  prepare(sql: string): { all(values: readonly unknown[]): unknown[] };
}

/** Counts the pages of a connection's log. A pragma that takes effect when it runs, not when it is prepared. */
type Count = ReturnType<Connection['prepare']>;

export interface SqliteLog {
  /** Runs `work`, which commits a transaction on the connection. */
  committing(connection: Connection, work: () => unknown): void;
  /** Resolves when the log is not being copied, after `MAX_WAIT` milliseconds at the latest: long searches may have all processes. */
  copied(): Promise<void>;
}

/**
 * Leaves it to others to copy the write-ahead log into the file. SQLite does so in the commit that makes the log long: with two
 * file syncs, which held the thread for 15 to 85 ms. See docs/decisions/bulk-on-sqlite.md.
 * @param copy copies the log on another thread or process; undefined without one
 */
export function createLog(copy: (() => Promise<unknown>) | undefined): SqliteLog {
  const counts = new WeakMap<Connection, Count | null>();
  let copying: Promise<void> | undefined;
  let pausesUntil = 0;

  /** Null where the pages cannot be counted. From now on commits of Strapi's own too leave a log of up to MAX_PAGES. */
  const countOf = (connection: Connection): Count | null => {
    const known = counts.get(connection);
    if (known !== undefined) return known;
    const count = canCount(connection) ? connection.prepare('pragma wal_checkpoint(NOOP)') : null;
    if (count) connection.pragma(`wal_autocheckpoint = ${MAX_PAGES}`);
    counts.set(connection, count);
    return count;
  };

  const start = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch {
      pausesUntil = performance.now() + PAUSE;
    } finally {
      copying = undefined;
    }
  };

  return {
    committing(connection, work) {
      const count = copy && performance.now() >= pausesUntil ? countOf(connection) : null;
      work();
      if (!copy || !count) return;
      const { log, left } = pagesOf(count);
      // A log that others could not keep short is the next commit's, which needs the lock for it.
      if (!copying && left > MANY && log < MAX_PAGES) copying = start(copy);
    },
    async copied() {
      if (copying) await within(copying, MAX_WAIT);
    },
  };
}

function canCount(connection: Connection): boolean {
  const [row] = connection.prepare('select sqlite_version() as version').all([]) as { version: string }[];
  const [major = 0, minor = 0] = String(row?.version).split('.').map(Number);
  return major + minor / 1_000 >= COUNTS;
}

/** Pages of the log, and those of them that are not in the file. */
function pagesOf(count: Count): { log: number; left: number } {
  const [counted] = count.all([]) as { log: number; checkpointed: number }[];
  return counted ? { log: counted.log, left: counted.log - counted.checkpointed } : { log: 0, left: 0 };
}
