import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Knex } from 'knex';
import { withoutPauses } from '../../common/time/pace';
import { createSql, dialects, isBusy, type Row, readerOf } from '../../indexes';
import type { Workers } from '../../workers';
import { postgresStatements } from './postgres-statements';
import { createServerSessions } from './server-sessions';
import { bound, compiled, createLog, sqliteTransactions } from './sqlite';
import {
  allowSteps,
  type Client,
  type HostDatabase,
  type ReadConnection,
  type SqliteConnection,
  within,
} from './steps';

/** The part of better-sqlite3, as loaded by Knex, that is used here. */
interface File extends SqliteConnection {
  pragma(text: string, options?: { simple: boolean }): unknown;
  close(): void;
}

interface SqliteClient {
  driver: new (filename: string, options: { fileMustExist: boolean; timeout: number }) => File;
  config: { connection?: { filename?: unknown } };
}

/**
 * A second, read-only connection to a SQLite file. On Strapi's only one, all requests wait for the open transaction, and
 * Knex makes forty promises for a statement of 10 µs. It reads the last committed state, and needs a write-ahead log:
 * without one, readers and writers lock each other out. See docs/decisions/storage-reading.md.
 * @returns the connection, undefined while there is none, and how to close it
 */
export function createReadConnection(knex: () => Knex): { connection(): ReadConnection | undefined; close(): void } {
  let file: File | null | undefined;
  let statementOf: ReturnType<typeof compiled>;

  const reading: ReadConnection = {
    get file() {
      const { driver, config } = knex().client as SqliteClient;
      return { path: resolve(String(config.connection?.filename)), driver: moduleOf(driver) };
    },
    within(time, { sql, values }) {
      if (!file) throw new Error('the connection is closed');
      const statement = statementOf(sql);
      knex().client.emit('query', { sql, bindings: values });
      return within(time, () => statement.all(values));
    },
    async raw(sql, values) {
      if (!file) return knex().raw(sql, values as Knex.RawBinding[]);
      try {
        // Knex reports each query to its listeners in this way.
        knex().client.emit('query', { sql, bindings: values });
        return statementOf(sql).all(values.map(bound));
      } catch (error) {
        // The log is being recovered or moved: Strapi's connection waits for that without blocking this process.
        if (isBusy(error)) return knex().raw(sql, values as Knex.RawBinding[]);
        throw error;
      }
    },
  };

  return {
    connection() {
      if (file === undefined) {
        file = open(knex().client as SqliteClient);
        if (file) statementOf = compiled(file);
      }
      return file ? reading : undefined;
    },
    close() {
      file?.close();
      file = null;
    },
  };
}

/** Null where a second connection would not see the same data, or would block writers. */
function open({ driver: Driver, config }: SqliteClient): File | null {
  const filename = config.connection?.filename;
  if (typeof filename !== 'string' || filename === '' || filename.startsWith(':')) return null;
  try {
    const file = new Driver(filename, { fileMustExist: true, timeout: 0 });
    if (file.pragma('journal_mode', { simple: true }) === 'wal') {
      file.pragma('query_only = on');
      allowSteps(file);
      return file;
    }
    file.close();
  } catch {
    // Strapi's own connection reports what is wrong with the file.
  }
  return null;
}

const modulesOfDrivers = new WeakMap<object, string>();

/** The file of the driver's module, which another process loads too. */
function moduleOf(driver: object): string {
  const known = modulesOfDrivers.get(driver);
  if (known !== undefined) return known;
  const modules = Object.values(createRequire(resolve('index.js')).cache);
  const file = modules.find((one) => one?.exports === driver)?.filename ?? 'better-sqlite3';
  modulesOfDrivers.set(driver, file);
  return file;
}

/** Milliseconds for which a process may copy SQLite's write-ahead log. */
const COPY_TIME = 10_000;

/** A connection of Knex's pool; one with this mark is discarded instead of used. */
interface NewConnection {
  __knex__disposed?: unknown;
}

/** The part of `strapi.db` that is used here. */
export interface StrapiDb {
  connection: Knex;
  dialect: { client: string; initialize?(connection: NewConnection): Promise<void> };
  inTransaction(): boolean;
  transaction(): Promise<{ get(): Knex.Transaction }>;
  transaction<T>(work: (tools: { trx: Knex.Transaction }) => Promise<T>): Promise<T>;
}

/**
 * Strapi prepares a new connection without handling a failure: a PostgreSQL server that goes away during these
 * statements would end the process by an unhandled rejection.
 */
function surviveLostConnections({ dialect }: StrapiDb): void {
  const initialize = dialect.initialize?.bind(dialect);
  if (!initialize) return;
  dialect.initialize = (connection) =>
    initialize(connection).catch((error) => {
      connection.__knex__disposed ??= error;
    });
}

/**
 * The host's database for the record store; transactions are Strapi's own, so that its services join them.
 * @param workers processes with the task `copySqliteLog`
 * @param directConnection address of the PostgreSQL server behind a pooler, for what needs a session of its own
 */
export function strapiDatabase(
  db: StrapiDb,
  workers?: Pick<Workers, 'run'>,
  directConnection: string | null = null,
): HostDatabase {
  surviveLostConnections(db);
  const client = db.dialect.client as Client;
  const reading = client === 'sqlite' ? createReadConnection(() => db.connection) : undefined;
  const sessions = client === 'postgres' ? createServerSessions(() => db.connection, directConnection) : undefined;
  const direct = sessions && postgresStatements(() => db.connection, sessions.arePooled);
  const log = createLog(
    workers &&
      (async () => {
        const file = reading?.connection()?.file;
        if (file) await workers.run('copySqliteLog', file, { time: COPY_TIME, group: 'log' });
      }),
  );
  const file = client === 'sqlite' ? sqliteTransactions(() => db.connection, log) : undefined;
  const write = (file ?? direct)?.write;
  const transaction: HostDatabase['transaction'] = async (work) => {
    if (db.inTransaction()) return db.transaction(({ trx }) => work(trx));
    let end: Promise<unknown> | undefined;
    const result = await db.transaction(({ trx }) => {
      end = trx.executionPromise;
      end.catch(() => undefined);
      return work(trx);
    });
    // Knex resolves `commit()` even when COMMIT failed: only this promise rejects then.
    await end;
    return result;
  };
  return {
    client,
    knex: () => db.connection,
    readConnection: reading?.connection,
    reader: direct?.reader,
    ...(file && { dataVersion: file.dataVersion, mayLag: file.mayLag }),
    settled: log.copied,
    close: reading?.close,
    ...(sessions && { openSession: sessions.open }),
    // Within a transaction, asking for another one gives the current one.
    current: async () => (db.inTransaction() ? (await db.transaction()).get() : undefined),
    transaction,
    write: (work) => (write && !db.inTransaction() ? withoutPauses(() => write(work)) : transaction(work)),
  };
}

/**
 * Runs statements with `?` for their values: in the transaction that the caller is in, else where records are read. Errors are
 * those of Sql.
 */
export function statementsOf(database: HostDatabase): (sql: string, values: readonly unknown[]) => Promise<Row[]> {
  const dialect = dialects[database.client];
  return async (sql, values) => createSql((await database.current()) ?? readerOf(database), dialect).rows(sql, values);
}
