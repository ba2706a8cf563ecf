import { describe, expect, test } from 'vitest';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import { availableClients, hostOf, type TestDatabase } from './testing/databases';
import { declared, from, limits, useStore } from './testing/stores';
import type { NewRecord, RecordStore } from './types';

describe.each(await availableClients())('indexes of records on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });

  test('indexes are right for existing records and for new declarations, and are rebuilt after clear', async () => {
    const key = newApp();
    for (const [id, total] of [
      ['a', 3],
      ['b', 1],
      ['c', null],
    ] as const)
      await create(key, id, { total, tags: [id, 'all'], color: id });
    const ids = async (indexes: IndexDeclarations, query: string, sortIndex?: string) =>
      (await store.search(key, indexes, { query, sortIndex })).records.map((record) => record.id);
    expect(await ids(declared, 'total > 0', 'total')).toEqual(['b', 'a']);
    const more: IndexDeclarations = new Map([...declared, ['color', 'field']]);
    await create(key, 'd', { color: 'd' });
    expect(await ids(more, "color > 'b'")).toEqual(['c', 'd']);
    expect(await ids(new Map([['total', 'keyword']]), '3 in total')).toEqual(['a']);
    expect(await ids(declared, "'all' in tags and total < 3")).toEqual(['b']);
    expect(await store.refresh(key, more, { rebuild: false })).toEqual([
      'author',
      'body',
      'color',
      'id',
      'tags',
      'total',
    ]);
    expect(await ids(more, "color == 'd'")).toEqual(['d']);
    expect(await store.refresh(key, declared, { rebuild: true })).toEqual(['author', 'body', 'id', 'tags', 'total']);
    expect(await ids(declared, 'total == null')).toEqual(['c', 'd']);
    expect(await store.progress(key)).toBeNull();
    await store.clear(key);
    expect(await ids(declared, 'not total == 7')).toEqual([]);
    await create(key, 'a', { total: 7 });
    expect(await ids(declared, 'total == 7')).toEqual(['a']);
    await database.knex('apps_records').where({ app: key.app }).delete();
    await create(key, 'z', { total: 7 });
    const fresh = createRecordStore({ database: hostOf(database.knex, client), limits });
    const found = await fresh.search(key, declared, { query: 'total == 7' });
    expect(found.records.map((record) => record.id)).toEqual(['z']);
  }, 20_000);

  test('records that other code writes while the process runs are found soon', async () => {
    const key = newApp();
    for (const id of ['a', 'b']) await create(key, id, { total: 1 });
    expect(await store.count(key, declared, 'total == 1')).toBe(2);
    // Like an import: all records are removed and inserted with other numbers.
    const rows = await database.knex('apps_records').where({ app: key.app });
    await database.knex('apps_records').where({ app: key.app }).delete();
    for (const { id: _, ...row } of rows) await database.knex('apps_records').insert({ ...row, items: '{"total":2}' });
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await store.count(key, declared, 'total == 2')).toBe(2);
    expect(await store.count(key, declared, 'total == 1')).toBe(0);
  }, 30_000);

  test('records written while the indexes are being built are found', async () => {
    const key = newApp();
    await store.createMany(
      key,
      from(
        Array.from(
          { length: 2000 },
          (_, at): NewRecord => ({ id: `r${at}`, items: { total: at, body: 'alpha beta' }, creator: null }),
        ),
      ),
    );
    const building = store.refresh(key, declared, { rebuild: true });
    for (let at = 0; at < 40; at++) {
      await store.transact((unit) => unit.update(key, `r${at * 50}`, { set: { total: -1 } }));
      await create(key, `n${at}`, { total: -2 });
      await store.transact((unit) => unit.delete(key, `r${at * 50 + 1}`));
    }
    await building;
    expect(await store.count(key, declared, 'total == -1')).toBe(40);
    expect(await store.count(key, declared, 'total == -2')).toBe(40);
    expect(await store.count(key, declared, 'total >= 0')).toBe(2000 - 80);
    expect(await store.count(key, declared, "'alpha' in body")).toBe(2000 - 40);
  }, 60_000);
});
