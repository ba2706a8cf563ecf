import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Knex } from 'knex';
import { isBusy } from '../../indexes';
import type { ReadConnection } from './database';
import { bound, compiled } from './sqlite-statements';
import { allowSteps, type SqliteConnection, within } from './steps';

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

/** The file of the driver's module, which another process loads too. */
function moduleOf(driver: unknown): string {
  const modules = Object.values(createRequire(resolve('index.js')).cache);
  return modules.find((one) => one?.exports === driver)?.filename ?? 'better-sqlite3';
}
