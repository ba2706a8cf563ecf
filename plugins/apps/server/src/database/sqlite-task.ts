import { setPriority } from 'node:os';

/** A statement for a SQLite file, and the file of the driver's module, which belongs to the host and not to the plugin. */
export interface SqliteInput {
  path: string;
  driver: string;
  sql: string;
  values: unknown[];
}

/** The rows, or the error that SQLite gave. */
export interface SqliteOutput {
  rows: unknown[];
  error?: { code: string; message: string };
}

interface Connection {
  pragma(text: string): unknown;
  prepare(sql: string): { all(values: readonly unknown[]): unknown[] };
  close(): void;
}
type Driver = new (path: string, options: { fileMustExist: boolean; readonly: boolean; timeout: number }) => Connection;

/** A nice value of Unix; Node.js maps it on other systems. */
const lowerPriority = 10;

let opened: { path: string; connection: Connection } | undefined;

/** The task of a worker process: reads a SQLite file over a connection that it keeps. */
export function readSqlite({ path, driver, sql, values }: SqliteInput): SqliteOutput {
  try {
    const { connection } = opened?.path === path ? opened : open(path, driver);
    // Structured clone makes plain arrays of Buffers.
    const bound = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
    return { rows: connection.prepare(sql).all(bound) };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    return { rows: [], error: { code: String(code), message: String(message) } };
  }
}

function open(path: string, driver: string): { path: string; connection: Connection } {
  opened?.connection.close();
  opened = undefined;
  opened = { path, connection: connect(path, driver, true) };
  return opened;
}

function connect(path: string, driver: string, readonly: boolean): Connection {
  // The server's own thread has priority.
  setPriority(lowerPriority);
  const Driver = require(driver) as Driver;
  return new Driver(path, { fileMustExist: true, readonly, timeout: 1_000 });
}

/** Attempts to copy all of a log to which others add meanwhile: only then does the next writer begin it again. */
const MAX_COPIES = 5;

/** The task of a worker process: copies the write-ahead log of a file into it, as far as no reader needs the pages of the file. */
export function copySqliteLog({ path, driver }: Pick<SqliteInput, 'path' | 'driver'>): null {
  const connection = connect(path, driver, false);
  try {
    for (let copies = 0; copies < MAX_COPIES; copies += 1) {
      connection.pragma('wal_checkpoint(PASSIVE)');
      const [left] = connection.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
      if (left?.log === left?.checkpointed) break;
    }
  } finally {
    connection.close();
  }
  return null;
}
