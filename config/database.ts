import { chmodSync } from 'node:fs';
import path from 'node:path';
import type { Core } from '@strapi/strapi';

type Env = Core.Config.Shared.ConfigParams['env'];

/** The used part of a better-sqlite3 connection. */
interface SqliteConnection {
  /** Path of the file. */
  name: string;
  pragma(text: string): unknown;
  prepare(sql: string): unknown;
}

/** Compiled statements kept for a connection, and the length of the longest one: others are not worth the memory. */
const maxStatements = 200;
const maxLength = 2_000;

/**
 * Keeps compiled statements: compiling is half of what a small query costs, and Knex compiles each one every time. A change
 * of the schema clears the cache. A statement with a `*` is not kept, because another process may change its columns.
 */
function keepingStatements(prepare: (sql: string) => unknown): (sql: string) => unknown {
  const kept = new Map<string, unknown>();
  return (sql) => {
    if (/^\s*(create|alter|drop|pragma)/i.test(sql)) kept.clear();
    const known = kept.get(sql);
    if (known) return known;
    const statement = prepare(sql);
    if (sql.length > maxLength || !/^(select|insert|update|delete)\b/i.test(sql) || /(\.|select )\*/i.test(sql))
      return statement;
    if (kept.size >= maxStatements) kept.clear();
    kept.set(sql, statement);
    return statement;
  };
}

/**
 * Takes the file from other users of the machine: it holds records, hashes of passwords and tokens. SQLite makes the files beside it
 * with its mode. What belongs to another user stays as its owner wants it.
 */
function closeToOthers(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      chmodSync(path, 0o600);
    } catch {
      // It is not there, or not this user's.
    }
  }
}

/**
 * Prepares a SQLite file for several requests and several processes. Strapi leaves the journal in its default mode,
 * in which every write waits for two file syncs. And a transaction that has read before it writes cannot wait for
 * another process: SQLite fails it at once ("database is locked"); one that begins with the write lock waits.
 */
function prepareSqlite(connection: SqliteConnection, done: (error: Error | null, connection: unknown) => void): void {
  try {
    closeToOthers(connection.name);
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = NORMAL');
    connection.pragma('busy_timeout = 5000');
    const prepare = keepingStatements(connection.prepare.bind(connection));
    connection.prepare = (sql) => prepare(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql);
    done(null, connection);
  } catch (error) {
    done(error as Error, connection);
  }
}

const ssl = (env: Env) =>
  env.bool('DATABASE_SSL', false) && {
    key: env('DATABASE_SSL_KEY', undefined),
    cert: env('DATABASE_SSL_CERT', undefined),
    ca: env('DATABASE_SSL_CA', undefined),
    capath: env('DATABASE_SSL_CAPATH', undefined),
    cipher: env('DATABASE_SSL_CIPHER', undefined),
    rejectUnauthorized: env.bool('DATABASE_SSL_REJECT_UNAUTHORIZED', true),
  };

const account = (env: Env, port: number) => ({
  host: env('DATABASE_HOST', 'localhost'),
  port: env.int('DATABASE_PORT', port),
  database: env('DATABASE_NAME', 'strapi'),
  user: env('DATABASE_USERNAME', 'strapi'),
  password: env('DATABASE_PASSWORD', 'strapi'),
  ssl: ssl(env),
});

const pool = (env: Env) => ({ min: env.int('DATABASE_POOL_MIN', 2), max: env.int('DATABASE_POOL_MAX', 10) });

/** The databases of Strapi's usual DATABASE_CLIENT; MariaDB is `mysql`. */
const connections: Record<string, (env: Env) => Record<string, unknown>> = {
  sqlite: (env) => ({
    client: 'sqlite',
    connection: { filename: path.resolve(__dirname, '..', '..', env('DATABASE_FILENAME', '.tmp/data.db')) },
    pool: { min: 1, max: 1, afterCreate: prepareSqlite },
    useNullAsDefault: true,
  }),
  postgres: (env) => ({
    client: 'postgres',
    connection: {
      ...account(env, 5432),
      connectionString: env('DATABASE_URL'),
      schema: env('DATABASE_SCHEMA', 'public'),
    },
    pool: pool(env),
  }),
  mysql: (env) => ({ client: 'mysql', connection: account(env, 3306), pool: pool(env) }),
};

const config = ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Database => {
  const client = env('DATABASE_CLIENT', 'sqlite');
  const connection = Object.hasOwn(connections, client) ? connections[client] : undefined;
  if (!connection) {
    throw new Error(`DATABASE_CLIENT is '${client}'; it can be ${Object.keys(connections).join(', ')}.`);
  }
  return {
    connection: {
      ...connection(env),
      acquireConnectionTimeout: env.int('DATABASE_CONNECTION_TIMEOUT', 60000),
    },
  } as Core.Config.Database;
};

export default config;
