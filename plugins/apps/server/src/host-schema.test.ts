import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '@strapi/database';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from './database/testing/databases';
import { keepTables, type SchemaTable } from './host-schema';

/** Strapi creates the folder of migrations if it is missing. */
const migrations = mkdtempSync(join(tmpdir(), 'apps-migrations-'));
afterAll(() => rmSync(migrations, { recursive: true }));
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Columns of the tables that a release declares, beside their ids; those that begin with `apps_` are the plugin's. */
type Release = Record<string, string[]>;

const older: Release = { apps_jobs: ['name', 'old'], apps_gone: ['name'], articles: ['title', 'old'] };
const newer: Release = { apps_jobs: ['name', 'added'], apps_added: ['name'], articles: ['title'] };

const index = (table: string, column: string) => `${table}_${column}_idx`;

const modelsOf = (release: Release) =>
  Object.entries(release).map(([tableName, columns]) => ({
    uid: tableName,
    singularName: tableName,
    tableName,
    lifecycles: {},
    attributes: Object.fromEntries([
      ['id', { type: 'increments' }],
      ...columns.map((name) => [name, { type: 'string' }]),
    ]),
    indexes: columns.map((name) => ({ name: index(tableName, name), columns: [name] })),
  }));

const table = (name: string, columns: string[] = []): SchemaTable => ({
  name,
  indexes: [],
  foreignKeys: [],
  columns: columns.map((column) => ({ name: column })),
});

describe.each(await availableClients())('the tables of two releases on %s', (client) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase(client, { table: false });
  });
  afterEach(() => database.destroy());

  /** Starts Strapi's database with a release. @param keeps whether the release keeps the tables of others */
  async function start(release: Release, keeps: boolean, removed: SchemaTable[] = []): Promise<string> {
    const { connection } = database.knex.client.config;
    const pool = client === 'sqlite' ? { min: 1, max: 1 } : { min: 0, max: 5 };
    const settings = { client, connection: { ...connection }, useNullAsDefault: true, pool };
    const db = new Database({
      connection: settings,
      logger: silent,
      settings: { forceMigration: true, migrations: { dir: migrations } },
    } as never);
    await db.init({ models: modelsOf(release) as never });
    const names = new Set([...Object.keys(older), ...Object.keys(newer)].filter((name) => name.startsWith('apps_')));
    if (keeps) keepTables(db.schema as never, names, removed);
    const status = await db.schema.sync();
    await db.destroy();
    return status;
  }

  const columns = async (name: string) =>
    (await database.knex.schema.hasTable(name)) &&
    Object.keys(await database.knex(name).columnInfo())
      .filter((column) => column !== 'id')
      .sort();

  const found = async () => {
    const names = ['apps_jobs', 'apps_gone', 'apps_added', 'articles'];
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await columns(name)])));
  };

  const both = { apps_jobs: ['added', 'name', 'old'], apps_gone: ['name'], apps_added: ['name'], articles: ['title'] };

  test.each([
    ['knows this rule', true],
    ['does not know this rule', false],
  ])('an older release that %s and a newer one start by turns, and nothing is removed', async (_what, keeps) => {
    await start(older, keeps);
    await database.knex('apps_jobs').insert({ name: 'a', old: 'b' });
    await start(newer, true);
    expect(await found()).toEqual(both);
    await start(older, keeps);
    expect(await found()).toEqual({ ...both, articles: ['old', 'title'] });
    await start(newer, true);
    expect(await found()).toEqual(both);
    expect(await database.knex('apps_jobs').select('name', 'old', 'added')).toEqual([
      { name: 'a', old: 'b', added: null },
    ]);
  });

  test('a start without a change of the schema compares nothing', async () => {
    await start(older, true);
    expect(await start(older, true)).toBe('UNCHANGED');
    expect(await start(newer, true)).toBe('CHANGED');
    expect(await start(newer, true)).toBe('UNCHANGED');
  });

  test('what no release reads any more is removed', async () => {
    await start(older, true);
    await start(newer, true);
    await start({ ...newer, articles: ['title', 'lead'] }, true, [table('apps_jobs', ['old']), table('apps_gone')]);
    expect(await found()).toEqual({
      apps_jobs: ['added', 'name'],
      apps_gone: false,
      apps_added: ['name'],
      articles: ['lead', 'title'],
    });
  });
});
