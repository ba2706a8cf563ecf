import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '@strapi/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import schema from '../content-types/record/schema.json';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from '../records/store';
import { type StrapiDb, strapiDatabase } from './strapi-database';
import { availableClients, createTestDatabase, type TestDatabase } from './testing/databases';

const declared: IndexDeclarations = new Map([
  ['total', 'field'],
  ['body', 'text'],
]);
/** Strapi creates the folder of migrations if it is missing. */
const migrations = mkdtempSync(join(tmpdir(), 'apps-migrations-'));
afterAll(() => rmSync(migrations, { recursive: true }));
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const key = { site: 'site', app: 'app' };

/** The models that Strapi's core makes of the content type, and one that is added and removed. */
const models = (other: boolean) => [
  {
    uid: 'plugin::apps.record',
    singularName: 'record',
    tableName: schema.collectionName,
    attributes: {
      id: { type: 'increments' },
      documentId: { type: 'string' },
      ...schema.attributes,
      createdAt: { type: 'datetime' },
      updatedAt: { type: 'datetime' },
      publishedAt: { type: 'datetime' },
    },
    indexes: schema.indexes,
    lifecycles: {},
  },
  ...(other
    ? [
        {
          uid: 'other',
          singularName: 'other',
          tableName: 'others',
          attributes: { id: { type: 'increments' }, name: { type: 'string' } },
          lifecycles: {},
        },
      ]
    : []),
];

async function start(database: TestDatabase, client: string, other: boolean): Promise<Database> {
  const { connection } = database.knex.client.config;
  const settings = {
    client,
    connection: { ...connection },
    useNullAsDefault: true,
    pool: client === 'sqlite' ? { min: 1, max: 1 } : { min: 0, max: 5 },
  };
  const db = new Database({
    connection: settings,
    logger: silent,
    settings: { forceMigration: true, migrations: { dir: migrations } },
  } as never);
  await db.init({ models: models(other) as never });
  await db.schema.sync();
  return db;
}

describe.each(await availableClients())("Strapi's database on %s", (client) => {
  let database: TestDatabase;
  let db: Database;

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    db = await start(database, client, false);
  }, 60_000);
  afterAll(async () => {
    await db?.destroy();
    await database.destroy();
  });

  const open = () =>
    createRecordStore({ database: strapiDatabase(db as unknown as StrapiDb), limits: { attempts: 3 } });

  test('records and indexes outlive restarts, with and without a changed schema', async () => {
    const first = open();
    await first.transact((unit) =>
      unit.create(key, { id: 'a', items: { total: 1, body: 'Hello' }, creator: 'user:1' }),
    );
    expect(await first.count(key, declared, 'total == 1')).toBe(1);
    const tables = async () =>
      (await db.dialect.schemaInspector.getTables()).filter((name) => name.startsWith('apps_')).sort();
    const before = await tables();
    expect(before).toHaveLength(7);
    for (const other of [false, true, false]) {
      await db?.destroy();
      db = await start(database, client, other);
      expect(await tables()).toEqual(before);
      const store = open();
      expect(await store.get(key, 'a')).toMatchObject({ items: { total: 1, body: 'Hello' }, creator: 'user:1' });
      expect(await store.count(key, declared, "'hello' in body")).toBe(1);
    }
  }, 60_000);

  test('ids are unique in the database itself', async () => {
    const [row] = await db.connection('apps_records').select();
    const { id: _, ...copy } = row;
    await expect(db.connection('apps_records').insert(copy)).rejects.toThrow();
  });

  test("reads and writes of Strapi's services in a unit are part of its transaction", async () => {
    const store = open();
    const records = () => db.query('plugin::apps.record');
    const attempt = store.transact(async (unit) => {
      await unit.create(key, { id: 'b', items: {}, creator: null });
      expect(await unit.inTransaction(() => records().count({}))).toBe(2);
      await unit.inTransaction(() => records().updateMany({ where: { identifier: 'b' }, data: { creator: 'other' } }));
      throw new Error('stop');
    });
    await expect(attempt).rejects.toThrow('stop');
    expect(await records().count({})).toBe(1);
    await db.transaction(async () => {
      await store.transact((unit) => unit.create(key, { id: 'c', items: {}, creator: null }));
      expect(await store.get(key, 'c')).toMatchObject({ id: 'c', version: 1 });
      expect(await store.count(key, declared)).toBe(2);
    });
    expect(await store.count(key, declared)).toBe(2);
  }, 30_000);
});
