import { AsyncLocalStorage } from 'node:async_hooks';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { createCommitMarks } from '../commit-marks';
import { type Client, dialects } from '../dialects';
import { createServerSessions, postgresStatements } from '../postgres';
import { createReadConnection } from '../read-connection';
import { createLog, sqliteTransactions } from '../sqlite';
import type { HostDatabase } from '../types';

/** How to connect to a database: Knex's connection, and the environment with which the host of the tests uses it. */
export interface TestAddress {
  client: Client;
  /** Plain data: a configuration with functions cannot be sent to another process. */
  connection: Record<string, unknown>;
  env: Record<string, string>;
}

/** A separate database for a test, with the records table as Strapi creates it. */
export interface TestDatabase {
  host: HostDatabase;
  knex: Knex;
  address: TestAddress;
  destroy(): Promise<void>;
}

export type Server = 'postgres' | 'mysql';

/** The servers at their usual local addresses, or by TEST_POSTGRES_HOST, _PORT, _USER and _PASSWORD, TEST_MYSQL_… */
const servers: Record<Server, Record<string, unknown>> = {
  postgres: serverOf('POSTGRES', 5432, 'postgres'),
  mysql: serverOf('MYSQL', 3306, 'root'),
};
const drivers: Record<Client, string> = { sqlite: 'better-sqlite3', postgres: 'pg', mysql: 'mysql2' };

function serverOf(name: string, port: number, user: string): Record<string, unknown> {
  const env = (part: string) => process.env[`TEST_${name}_${part}`];
  const password = env('PASSWORD') ?? '';
  return { host: env('HOST') ?? '127.0.0.1', port: Number(env('PORT') ?? port), user: env('USER') ?? user, password };
}

/**
 * The databases that answer here, or those that TEST_DATABASES names, separated by commas. Logs the ones left out; with
 * CI=true that is an error. Throws for an unknown name, and when a named database does not answer.
 */
export async function availableClients(): Promise<Client[]> {
  const wanted = wantedClients();
  const answers = await Promise.all(wanted.map((client) => (client === 'sqlite' ? client : answersTo(client))));
  return answers.filter((client) => client !== null);
}

/** TEST_DATABASES, or all. */
export function wantedClients(names = process.env.TEST_DATABASES, isCi = process.env.CI === 'true'): Client[] {
  const all = Object.keys(drivers) as Client[];
  if (!names) return all;
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.find((name) => !all.includes(name as Client));
  if (unknown !== undefined) throw new Error(`TEST_DATABASES names "${unknown}"; it can name ${all.join(', ')}`);
  const left = all.filter((client) => !wanted.includes(client));
  if (left.length > 0 && isCi)
    throw new Error(`CI=true tests all databases: TEST_DATABASES leaves out ${left.join(', ')}`);
  if (left.length > 0) shout(`TEST_DATABASES leaves out ${left.join(', ')}: THEIR TESTS DO NOT RUN`);
  return all.filter((client) => wanted.includes(client));
}

function shout(message: string): void {
  console.error(`${'!'.repeat(100)}\n! ${message}\n${'!'.repeat(100)}`);
}

async function answersTo(client: Server): Promise<Server | null> {
  const knex = connect({ client, connection: adminOf(client), env: {} });
  try {
    await knex.raw('select 1');
    return client;
  } catch (error) {
    const { host, port } = servers[client];
    const message = `${client} does not answer at ${host}:${port}: ITS TESTS DO NOT RUN (${(error as Error).message})`;
    if (process.env.CI === 'true' || process.env.TEST_DATABASES) throw new Error(message);
    shout(message);
    return null;
  } finally {
    await knex.destroy();
  }
}

function adminOf(client: Server): Record<string, unknown> {
  return { ...servers[client], ...(client === 'postgres' ? { database: 'postgres' } : {}) };
}

/** A connection of the driver of SQLite. */
interface FileConnection {
  pragma(text: string, options?: { simple: boolean }): unknown;
}

/** The connection of each opened file. */
const fileConnections = new WeakMap<Knex, FileConnection>();

/** Opens a database as the host does. */
export function connect({ client, connection }: TestAddress): Knex {
  const useWriteAheadLog = (file: FileConnection, done: (...result: unknown[]) => void) => {
    for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'busy_timeout = 5000']) file.pragma(pragma);
    fileConnections.set(knex, file);
    done(null, file);
  };
  const knex = knexFactory({
    client: drivers[client],
    connection,
    pool: client === 'sqlite' ? { min: 1, max: 1, afterCreate: useWriteAheadLog } : { min: 0, max: 10 },
    acquireConnectionTimeout: 20_000,
    useNullAsDefault: client === 'sqlite',
  });
  return knex;
}

/** `table: false` leaves the records table to the test. A template, a file or the name of a database, is copied instead. */
export async function createTestDatabase(
  client: Client,
  { table = true, template }: { table?: boolean; template?: string } = {},
): Promise<TestDatabase> {
  const name = `apps_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const { address, drop } =
    client === 'sqlite' ? createFile(name, template) : await createOnServer(client, name, template);
  const knex = connect(address);
  if (table && template === undefined) await createRecordsTable(knex);
  return {
    address,
    knex,
    host: hostOf(knex, client),
    async destroy() {
      await knex.destroy();
      await drop();
    },
  };
}

type Made = { address: TestAddress; drop(): Promise<void> };

function createFile(name: string, template?: string): Made {
  const folder = mkdtempSync(join(tmpdir(), 'apps-test-'));
  const filename = join(folder, `${name}.db`);
  if (template !== undefined) copyFileSync(template, filename);
  const env = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: filename };
  return {
    address: { client: 'sqlite', connection: { filename }, env },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a statement on a server, outside of a database of the tests. */
async function ask(client: Server, text: string): Promise<void> {
  const server = connect({ client, connection: adminOf(client), env: {} });
  await server.raw(text).finally(() => server.destroy());
}

/** Deletes a database of a server, if there is one of this name. */
export async function dropDatabase(client: Server, name: string): Promise<void> {
  await ask(client, `drop database if exists ${name}${client === 'postgres' ? ' with (force)' : ''}`);
}

/** An empty database of this name on a server, or a copy of another one. */
export async function createOnServer(client: Server, name: string, template?: string): Promise<Made> {
  const copied = client === 'postgres' && template !== undefined ? ` template ${template}` : '';
  await ask(client, `create database ${name}${copied}`);
  if (client === 'mysql' && template !== undefined) await copyTables(template, name);
  const connection: Record<string, unknown> = { ...servers[client], database: name };
  const env = {
    DATABASE_CLIENT: client,
    DATABASE_HOST: String(connection.host),
    DATABASE_PORT: String(connection.port),
    DATABASE_USERNAME: String(connection.user),
    DATABASE_PASSWORD: String(connection.password),
    DATABASE_NAME: name,
  };
  return { address: { client, connection, env }, drop: () => dropDatabase(client, name) };
}

/** MySQL cannot copy a database: each of its tables is made again. */
async function copyTables(from: string, to: string): Promise<void> {
  const connection = { ...servers.mysql, database: to };
  const knex = connect({ client: 'mysql', connection, env: {} });
  try {
    // One connection: tables refer to others that come later.
    await knex.transaction(async (trx) => {
      await trx.raw('set foreign_key_checks = 0');
      const [tables] = await trx.raw(
        'select table_name as name from information_schema.tables where table_schema = ?',
        from,
      );
      for (const { name } of tables) {
        const [[made]] = await trx.raw('show create table ??.??', [from, name]);
        await trx.raw(made['Create Table']);
        await trx.raw('insert into ?? select * from ??.??', [name, from, name]);
      }
    });
  } finally {
    await knex.destroy();
  }
}

/** The table that Strapi's schema sync creates from content-types/record/schema.json. */
async function createRecordsTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('apps_records', (table) => {
    table.increments('id');
    for (const column of ['document_id', 'hash', 'scope', 'site', 'app', 'identifier', 'creator']) table.string(column);
    table.text('items', 'longtext');
    table.integer('version');
    for (const column of ['created_at', 'updated_at', 'published_at'])
      table.datetime(column, { useTz: false, precision: 6 });
    table.unique(['hash'], { indexName: 'apps_records_hash_uq' });
    table.index(['scope', 'id'], 'apps_records_scope_ix');
  });
}

function dataVersion(knex: Knex): number | undefined {
  const file = fileConnections.get(knex);
  return file && Number(file.pragma('data_version', { simple: true }));
}

/**
 * A database whose transactions have an asynchronous context, like Strapi's.
 * @param isSecond whether it is a second connection of this process to a SQLite file. A statement that waits for the lock of
 *   the other one blocks the thread, in which the other one would have to go on: Knex's transactions leave it the time.
 */
export function hostOf(knex: Knex, client: Client, isSecond = false): HostDatabase {
  const context = new AsyncLocalStorage<{ trx: Knex.Transaction | null }>();
  const reading = client === 'sqlite' ? createReadConnection(() => knex) : undefined;
  const sessions = client === 'postgres' ? createServerSessions(() => knex, null) : undefined;
  const direct = sessions && postgresStatements(() => knex, sessions.arePooled);
  const marks = client === 'sqlite' ? undefined : createCommitMarks(() => direct?.reader ?? knex, dialects[client]);
  const transact: HostDatabase['transaction'] = async (work) => {
    const trx = await knex.transaction();
    const store: { trx: Knex.Transaction | null } = { trx };
    try {
      const result = await context.run(store, () => work(trx));
      store.trx = null;
      await trx.commit();
      return result;
    } catch (error) {
      store.trx = null;
      if (!trx.isCompleted()) await trx.rollback();
      throw error;
    }
  };
  const certain = marks?.certain(transact) ?? transact;
  const ofFile = client === 'sqlite' && !isSecond && sqliteTransactions(() => knex, createLog(undefined)).write;
  const write = ofFile || (direct && marks?.certain(direct.write));
  const transaction: HostDatabase['transaction'] = (work) => {
    const current = context.getStore()?.trx;
    return current ? work(current) : certain(work);
  };
  return {
    client,
    knex: () => knex,
    marks,
    readConnection: reading?.connection,
    reader: direct?.reader,
    ...(client === 'sqlite' && { dataVersion: () => dataVersion(knex) }),
    close: reading?.close,
    ...(sessions && { openSession: sessions.open }),
    current() {
      const trx = context.getStore()?.trx;
      return trx ? Promise.resolve(trx) : undefined;
    },
    transaction,
    write: (work) => (write && !context.getStore()?.trx ? write(work) : transaction(work)),
  };
}
