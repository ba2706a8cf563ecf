import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Knex } from 'knex';
import type { NearReader } from './database';
import { allowSteps, type SqliteConnection, within } from './steps';

/** What is used of better-sqlite3, which Knex has loaded. */
interface File extends SqliteConnection {
  pragma(text: string, options?: { simple: boolean }): unknown;
  close(): void;
}

interface SqliteClient {
  driver: new (filename: string, options: { fileMustExist: boolean; timeout: number }) => File;
  config: { connection?: { filename?: unknown } };
}

/** Compiled statements kept, and the length of the longest one: others are not worth the memory. */
const maxStatements = 200;
const maxLength = 2_000;

/**
 * A second connection to a SQLite file, for reading only. Strapi has one, on which everybody waits for whoever has a
 * transaction open, and on which Knex makes forty promises for a statement of 10 µs. It reads what was committed last, and
 * needs a write-ahead log: without one, readers and writers lock each other out. See docs/decisions/storage-reading.md.
 * @returns how to read, undefined while there is no such connection, and how to close it
 */
export function createNearReader(knex: () => Knex): { reader(): NearReader | undefined; close(): void } {
  let file: File | null | undefined;
  const statements = new Map<string, ReturnType<File['prepare']>>();

  const statementOf = (connection: File, sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    if (sql.length > maxLength) return statement;
    if (statements.size >= maxStatements) statements.clear();
    statements.set(sql, statement);
    return statement;
  };

  const reader: NearReader = {
    get file() {
      const { driver, config } = knex().client as SqliteClient;
      return { path: resolve(String(config.connection?.filename)), driver: moduleOf(driver) };
    },
    within(time, { sql, values }) {
      if (!file) throw new Error('the connection is closed');
      const statement = statementOf(file, sql);
      knex().client.emit('query', { sql, bindings: values });
      return within(time, () => statement.all(values));
    },
    async raw(sql, values) {
      if (!file) return knex().raw(sql, values as Knex.RawBinding[]);
      try {
        // As Knex reports each query to its listeners.
        knex().client.emit('query', { sql, bindings: values });
        return statementOf(file, sql).all(values);
      } catch (error) {
        // Somebody mends or moves the log: Strapi's connection waits for it without keeping this process from all else.
        if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY'))
          return knex().raw(sql, values as Knex.RawBinding[]);
        throw error;
      }
    },
  };

  return {
    reader() {
      if (file === undefined) file = open(knex().client as SqliteClient);
      return file ? reader : undefined;
    },
    close() {
      file?.close();
      file = null;
      statements.clear();
    },
  };
}

/** Null where a second connection would not see the same data, or would be in the way. */
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
    // Strapi's own connection tells what is wrong with the file.
  }
  return null;
}

/** The file of the module that is loaded as the driver: another process loads the same. */
function moduleOf(driver: unknown): string {
  const modules = Object.values(createRequire(resolve('index.js')).cache);
  return modules.find((one) => one?.exports === driver)?.filename ?? 'better-sqlite3';
}
