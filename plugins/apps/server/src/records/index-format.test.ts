import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import type { Items, RecordStore } from './types';

const declared: IndexDeclarations = new Map([
  ['v', 'field'],
  ['w', 'field'],
]);
const key = { site: 'site', app: 'format' };
const records: [id: string, items: Items][] = [
  ['null', { v: null }],
  ['missing', {}],
  ['list', { v: [1] }],
  ['empty', { v: [] }],
  ['object', { v: { a: null } }],
  ['number', { v: 1 }],
  ['text', { v: 'x' }],
  ['both', { v: 2, w: [1] }],
];
const nulls = ['null', 'missing'];
const others = ['list', 'empty', 'object', 'number', 'text', 'both'];

const table: [query: string, found: string[]][] = [
  ['v == null', nulls],
  ['v in any (null)', nulls],
  ['v in any (null, 1)', [...nulls, 'number']],
  ['not (v != null)', nulls],
  ['v != null', others],
  ['not (v == null)', others],
  ['v == null and w == null', nulls],
  ['w == null and v > 1', []],
  ['v != 1', ['both']],
  ['v <= null', []],
];

describe.each(await availableClients())('null, lists and objects in a field index on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const open = (maxSorted?: number) =>
    createRecordStore({ database: database.host, limits: { attempts: 5 }, maxSorted });
  const ids = async (query: string, more = {}) =>
    (await store.search(key, declared, { query, ...more })).records.map(({ id }) => id);

  beforeAll(async () => {
    database = await createTestDatabase(client);
    store = open();
    for (const [id, items] of records) await store.transact((unit) => unit.create(key, { id, items, creator: null }));
  }, 30_000);
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });

  test.each(table)('%s', async (query, found) => {
    expect(await ids(query)).toEqual(found);
    expect(await store.count(key, declared, query)).toBe(found.length);
  });

  test('have the order of null and missing: by creation', async () => {
    const last = ['null', 'missing', 'list', 'empty', 'object'];
    expect(await ids('', { sortIndex: 'v' })).toEqual(['number', 'both', 'text', ...last]);
    expect(await ids('', { sortIndex: 'v', reverse: true })).toEqual(['text', 'both', 'number', ...last]);
    expect(await ids('v == null', { sortIndex: 'v', reverse: true })).toEqual(nulls);
  });

  test('are found after a change of a record', async () => {
    const set = (v: Items[string]) => store.transact((unit) => unit.update(key, 'null', { set: { v } }));
    await set([null]);
    expect(await ids('v == null')).toEqual(['missing']);
    await set(null);
    expect(await ids('v == null')).toEqual(nulls);
  });

  test('indexes of an earlier format are rebuilt before use', async () => {
    const state = (await database.knex('apps_index_states').first('scope', 'state')) as {
      scope: string;
      state: string;
    };
    const [generation] = JSON.parse(state.state);
    await database.knex(`apps_index_${generation.id}_terms`).delete();
    const { format: _, ...old } = generation;
    await database.knex('apps_index_states').update({ state: JSON.stringify([old]) });
    await store.destroy();
    store = open();
    expect(await ids('v == null')).toEqual(nulls);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0, orphanTables: 0 });
  });

  test('are distinguished when the sort index is walked', async () => {
    await store.destroy();
    store = open(1);
    for (const reverse of [true, false]) {
      expect(await ids('v == null', { sortIndex: 'v', reverse })).toEqual(nulls);
      expect(await ids('v != null', { sortIndex: 'v', reverse })).toEqual([
        ...(reverse ? ['text', 'both', 'number'] : ['number', 'both', 'text']),
        'list',
        'empty',
        'object',
      ]);
    }
  });

  test('entries are counted: values of field indexes, keywords, words; none where there is no time', async () => {
    expect(await store.indexSizes(key)).toEqual(sizes({ id: 8, v: 3, w: 0 }));
    const other = { site: 'site', app: 'words' };
    const words: IndexDeclarations = new Map([
      ['t', 'text'],
      ['k', 'keyword'],
    ]);
    const made: Items[] = [{ t: 'one two two', k: ['a', 'b'] }, { t: 'one', k: 'a' }, {}];
    for (const items of made) await store.transact((unit) => unit.create(other, { items, creator: null }));
    expect(await store.indexSizes(other)).toEqual(new Map());
    await store.refresh(other, words, { rebuild: false });
    expect(await store.indexSizes(other)).toEqual(sizes({ id: 3, k: 3, t: 3 }));
    const none = await store.indexSizes(other, { signal: AbortSignal.abort() });
    expect([...none.values()]).toEqual([null, null, null]);
  });
});

const sizes = (entries: Record<string, number>) => new Map(Object.entries(entries));
