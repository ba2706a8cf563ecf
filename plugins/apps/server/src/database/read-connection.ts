import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Knex } from 'knex';
import { isBusy } from './dialects';
import { bound, compiled, type Statement } from './sqlite';
import type { ReadConnection, ScanGuard } from './types';

/** The part of a better-sqlite3 connection that is used here. */
export interface SqliteConnection {
  prepare(sql: string): Statement;
  function(name: string, options: { deterministic: boolean }, work: () => number): unknown;
}

/** A condition that is true; SQLite evaluates it for each row that a statement reads. */
export const scanGuard: ScanGuard = 'apps_scan_guard() and ';

/** A statement has exceeded its time. */
export class ScanTimeout extends Error {}

/** Rows between two readings of the clock. */
const stride = 16;

/** When the statement that is running must end, by `performance.now()`: SQLite runs one at a time in a thread. */
let deadline = Number.POSITIVE_INFINITY;
let rows = 0;

const prepared = new WeakSet<SqliteConnection>();

/** Defines the function of the scan guard on the connection. */
export function allowScanGuard(connection: SqliteConnection): void {
  if (prepared.has(connection)) return;
  connection.function('apps_scan_guard', { deterministic: false }, () => {
    rows += 1;
    if (rows % stride === 0 && performance.now() > deadline) throw new ScanTimeout();
    return 1;
  });
  prepared.add(connection);
}

/**
 * Runs a statement that contains the scan guard on the calling thread. ScanTimeout when it takes more than `time` ms: SQLite has no
 * other way to end a statement from within its thread.
 */
export function within<T>(time: number, run: () => T): T {
  deadline = performance.now() + time;
  try {
    return run();
  } finally {
    deadline = Number.POSITIVE_INFINITY;
  }
}

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
      allowScanGuard(file);
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
