import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Database } from '@strapi/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSameIds, type SameIdsDatabase } from './output-pieces';

const folder = mkdtempSync(path.join(tmpdir(), 'apps-same-ids-'));
const uid = 'api::note.note';
let db: Database;
let sameIds: ReturnType<typeof createSameIds>;

beforeAll(async () => {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  db = new Database({
    connection: { client: 'sqlite', connection: { filename: path.join(folder, 'data.db') }, useNullAsDefault: true },
    logger: silent,
    settings: { forceMigration: true, migrations: { dir: folder } },
  } as never);
  const attributes = {
    id: { type: 'increments' },
    documentId: { type: 'string', default: () => String(Math.random()) },
  };
  const model = {
    uid,
    singularName: 'note',
    tableName: 'notes',
    attributes,
    lifecycles: {},
    indexes: [],
    foreignKeys: [],
  };
  await db.init({ models: [model] as never });
  await db.schema.sync();
  // Strapi's query engine gets the database by this name.
  Object.assign(globalThis, { strapi: { db } });
  sameIds = createSameIds(db as unknown as SameIdsDatabase);
});
afterAll(async () => {
  await db?.destroy();
  Reflect.deleteProperty(globalThis, 'strapi');
  rmSync(folder, { recursive: true, force: true });
});

const add = () => db.query(uid).create({ data: {} }) as Promise<{ id: number; documentId: string }>;
const rolledBack = async <T>(work: () => Promise<T>): Promise<T> => {
  let result: T | undefined;
  await db
    .transaction(async () => {
      result = await work();
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  return result as T;
};

test('a repeated change creates rows with the ids of its first run, which no other row has taken meanwhile', async () => {
  const both = sameIds.repeatable(async () => [await add(), await add()]);
  const first = await rolledBack(both);
  const other = sameIds.repeatable(add);
  const second = await rolledBack(other);
  const between = await add();
  expect(new Set([...first, second, between].map(({ id }) => id)).size).toBe(4);
  expect(await db.transaction(both)).toEqual(first);
  expect(await rolledBack(other)).toEqual(second);
  expect(await db.transaction(other)).toEqual(second);
  expect((await add()).id).toBeGreaterThan(Math.max(...[...first, second, between].map(({ id }) => id)));
});

test('rows that are created outside of a change keep their ids', async () => {
  const [one, two] = [await add(), await add()];
  expect(two.id).toBe(one.id + 1);
  expect(two.documentId).not.toBe(one.documentId);
});
