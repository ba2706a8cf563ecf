import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import type { Client, HostDatabase } from './database';
import { createNearReader } from './near';

/** Where a database is: what knex is given, and the environment that makes the host of the tests use it. */
export interface TestPlace {
  client: Client;
  /** Made in the process that uses it: a configuration with functions cannot be sent to another one. */
  connection: Record<string, unknown>;
  env: Record<string, string>;
}

/** A database of its own for a test, with the records table as Strapi makes it. */
export interface TestDatabase {
  host: HostDatabase;
  knex: Knex;
  place: TestPlace;
  destroy(): Promise<void>;
}

type Server = 'postgres' | 'mysql';

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

/** The databases that answer here; SQLite always does. Another one that does not is said loudly; with CI=true it is an error. */
export async function availableClients(): Promise<Client[]> {
  const answers = await Promise.all((['postgres', 'mysql'] as const).map(answersTo));
  return ['sqlite', ...answers.filter((client) => client !== null)];
}

async function answersTo(client: Server): Promise<Server | null> {
  const knex = connect({ client, connection: adminOf(client), env: {} });
  try {
    await knex.raw('select 1');
    return client;
  } catch (error) {
    const { host, port } = servers[client];
    const message = `${client} does not answer at ${host}:${port}: ITS TESTS DO NOT RUN (${(error as Error).message})`;
    if (process.env.CI === 'true') throw new Error(message);
    console.error(`${'!'.repeat(100)}\n! ${message}\n${'!'.repeat(100)}`);
    return null;
  } finally {
    await knex.destroy();
  }
}

function adminOf(client: Server): Record<string, unknown> {
  return { ...servers[client], ...(client === 'postgres' ? { database: 'postgres' } : {}) };
}

/** Opens a database as the host does. */
export function connect({ client, connection }: TestPlace): Knex {
  return knexFactory({
    client: drivers[client],
    connection,
    pool: client === 'sqlite' ? { min: 1, max: 1, afterCreate: useWriteAheadLog } : { min: 0, max: 10 },
    acquireConnectionTimeout: 20_000,
    useNullAsDefault: client === 'sqlite',
  });
}

function useWriteAheadLog(connection: { pragma(text: string): unknown }, done: (...result: unknown[]) => void): void {
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'busy_timeout = 5000']) connection.pragma(pragma);
  done(null, connection);
}

/** `table: false` leaves the records table to the test. */
export async function createTestDatabase(client: Client, { table = true } = {}): Promise<TestDatabase> {
  const name = `apps_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const { place, drop } = client === 'sqlite' ? createFile(name) : await createOnServer(client, name);
  const knex = connect(place);
  if (table) await createRecordsTable(knex);
  return {
    place,
    knex,
    host: hostOf(knex, client),
    async destroy() {
      await knex.destroy();
      await drop();
    },
  };
}

type Made = { place: TestPlace; drop(): Promise<void> };

function createFile(name: string): Made {
  const folder = mkdtempSync(join(tmpdir(), 'apps-test-'));
  const filename = join(folder, `${name}.db`);
  const env = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: filename };
  return {
    place: { client: 'sqlite', connection: { filename }, env },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function createOnServer(client: Server, name: string): Promise<Made> {
  const ask = async (text: string) => {
    const server = connect({ client, connection: adminOf(client), env: {} });
    await server.raw(text).finally(() => server.destroy());
  };
  await ask(`create database ${name}`);
  const connection: Record<string, unknown> = { ...servers[client], database: name };
  const env = {
    DATABASE_CLIENT: client,
    DATABASE_HOST: String(connection.host),
    DATABASE_PORT: String(connection.port),
    DATABASE_USERNAME: String(connection.user),
    DATABASE_PASSWORD: String(connection.password),
    DATABASE_NAME: name,
  };
  const force = client === 'postgres' ? ' with (force)' : '';
  return { place: { client, connection, env }, drop: () => ask(`drop database ${name}${force}`) };
}

/** What Strapi's schema sync makes of content-types/record/schema.json. */
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

/** Transactions in an asynchronous context, as Strapi's. */
export function hostOf(knex: Knex, client: Client): HostDatabase {
  const context = new AsyncLocalStorage<{ trx: Knex.Transaction | null }>();
  const near = client === 'sqlite' ? createNearReader(() => knex) : undefined;
  return {
    client,
    knex: () => knex,
    near: near?.reader,
    close: near?.close,
    current: async () => context.getStore()?.trx ?? undefined,
    async transaction(work) {
      const current = context.getStore()?.trx;
      if (current) return work(current);
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
    },
  };
}
