import { describe, expect, test } from 'vitest';
import { createSql, readerOf } from '../database';
import { dialects } from '../database/dialects';
import { availableClients, hostOf, type TestDatabase } from '../database/testing/databases';
import { MAX_FIELD_INDEXES, searchMatcher } from '../indexes';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import { declared, from, limits, useStore } from './testing/stores';
import type { NewRecord, RecordStore } from './types';

describe.each(await availableClients())('indexes of records on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });

  /** A store whose searches wait for indexes that take long to be built. */
  const patient = () => createRecordStore({ database: hostOf(database.knex, client), limits, timeout: 60_000 });

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

  test('a text whose words are too many is stored, and found by the first of them', async () => {
    const key = newApp();
    const body = `first ${'\ufdfa '.repeat(250_000)} last`;
    await create(key, 'before', { body });
    const found = async (query: string) =>
      (await patient().search(key, declared, { query })).records.map(({ id }) => id);
    expect(await found("'first الله' in body")).toEqual(['before']);
    await create(key, 'after', { body });
    expect(await found("'first' in body")).toEqual(['before', 'after']);
    expect(await found("'last' in body")).toEqual([]);
    const isMatch = searchMatcher(declared, { query: "'first' in body and not 'last' in body" });
    expect(isMatch({ id: 'x', items: { body }, creator: null })).toBe(true);
  }, 120_000);

  test('the index of creators is made for existing records when it is needed, and stays when others are declared', async () => {
    const key = newApp();
    const make = (id: string, creator: string | null) =>
      store.transact((unit) => unit.create(key, { id, items: { total: 1, creator: 'user:x' }, creator }));
    const own = async (from: RecordStore, indexes: IndexDeclarations, creator: string, query = '') =>
      (await from.search(key, indexes, { query, creator })).records.map(({ id }) => id);
    await make('before', 'user:x');
    await make('other', 'user:y');
    await make('nobody', null);
    // Index tables as they were made before: without creators.
    expect(await store.count(key, declared, 'total == 1')).toBe(3);
    const more: IndexDeclarations = new Map([...declared, ['color', 'field']]);
    expect(await own(store, declared, 'user:x', 'total == 1')).toEqual(['before']);
    await make('after', 'user:x');
    const fresh = createRecordStore({ database: hostOf(database.knex, client), limits });
    expect(await own(fresh, declared, 'user:x')).toEqual(['before', 'after']);
    expect(await own(fresh, more, 'user:y', 'color == null')).toEqual(['other']);
    for (const rebuild of [false, true]) {
      expect(await store.refresh(key, declared, { rebuild })).not.toContain('@creator');
      const tables = await database.knex('apps_index_states').select('state');
      expect(tables.filter(({ state }) => String(state).includes('@creator'))).toHaveLength(1);
      expect(await own(fresh, declared, 'user:x')).toEqual(['before', 'after']);
    }
    expect([...(await store.completeIndexes(key)).keys()]).not.toContain('@creator');
    expect([...(await store.indexSizes(key)).keys()]).not.toContain('@creator');
    await expect(store.search(key, declared, { query: "@creator == 'user:x'" })).rejects.toThrow();
    await store.transact(async (unit) => {
      await unit.delete(key, 'after');
      await unit.create(key, { id: 'after', items: {}, creator: 'user:y' });
      expect(
        (await unit.page(key, { only: { creator: 'user:y', indexes: declared } })).records.map(({ id }) => id),
      ).toEqual(['other', 'after']);
    });
    expect(await own(store, declared, 'user:x')).toEqual(['before']);
    expect(await store.count(key, declared, undefined, { creator: 'user:y' })).toBe(2);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 30_000);

  test.each([
    [40, 300],
    [MAX_FIELD_INDEXES, 300],
    // A row of InnoDB holds keys of this length itself.
    [MAX_FIELD_INDEXES, 39],
  ])(
    'an app may have %i indexes of the type field for texts of %i characters, and then as many others',
    async (count, length) => {
      const key = newApp();
      const fields = (prefix: string) =>
        new Map(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'field' as const]));
      const items = (prefix: string, text: string) =>
        Object.fromEntries([...fields(prefix).keys()].map((name) => [name, text.repeat(length)]));
      await create(key, 'before', items('f', 'a'));
      const { search } = patient();
      const found = async (indexes: IndexDeclarations, query: string, sortIndex?: string) =>
        (await search(key, indexes, { query, sortIndex, creator: 'user:1' })).records.map(({ id }) => id);
      const last = count - 1;
      const names = { a: 'a'.repeat(length), b: 'b'.repeat(length) };
      expect(await found(fields('f'), `f0 == '${names.a}' and f${last} < '${names.b}'`)).toEqual(['before']);
      await create(key, 'after', items('f', 'b'));
      expect(await found(fields('f'), `f${last} >= '${names.a}'`, `f${last}`)).toEqual(['before', 'after']);
      await create(key, 'other', items('g', 'a'));
      expect(await found(fields('g'), `g${last} == '${names.a}'`)).toEqual(['other']);
      expect(await found(fields('f'), `f0 == '${names.b}'`)).toEqual(['after']);
    },
    120_000,
  );

  test('the files that records name are known by an index, whatever way the records were written', async () => {
    const key = newApp();
    const file = (documentId: string) => ({ id: 1, documentId, name: 'a', url: '/a', mime: 'a/b', size: 1 });
    const all = ['old', 'one', 'list', 'deep', 'bulk', 'many', 'changed', 'none'];
    const named = async () => [...(await store.namedFiles(key, all))].sort();
    await create(key, 'old', { cv: file('old'), title: 'none', ref: { documentId: 'none' } });
    // Index tables as they were made before: without files.
    expect(await store.count(key, declared, 'total == null')).toBe(1);
    expect(await named()).toEqual(['old']);
    expect(await store.namedFiles(newApp(), all)).toEqual(new Set());

    await create(key, 'one', { cv: file('one'), more: [file('list'), { entries: [file('deep')] }] });
    await Promise.all(Array.from({ length: 30 }, (_, at) => create(key, `many${at}`, { cv: file('many') })));
    const bulk = Array.from({ length: 1_200 }, (_, at) => ({
      id: `b${at}`,
      items: { cv: file('bulk') },
      creator: null,
    }));
    await store.createMany(key, from(bulk));
    await store.transact((unit) => unit.update(key, 'old', { set: { cv: file('changed') } }));
    expect(await named()).toEqual(['bulk', 'changed', 'deep', 'list', 'many', 'one']);
    expect(await store.namedFiles(key, [])).toEqual(new Set());
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });

    await store.transact((unit) => unit.delete(key, 'one'));
    await store.transact((unit) => unit.update(key, 'old', { unset: ['cv'] }));
    const [row] = await database.knex('apps_records').where({ app: key.app, identifier: 'many0' }).select('id');
    await database.knex('apps_records').where({ id: row.id }).delete();
    await store.forgetDeleted([{ seq: Number(row.id), key }]);
    expect(await named()).toEqual(['bulk', 'many']);
    for (const rebuild of [false, true]) {
      expect(await store.refresh(key, declared, { rebuild })).not.toContain('@files');
      expect(await named()).toEqual(['bulk', 'many']);
    }
    expect([...(await store.completeIndexes(key)).keys()]).not.toContain('@files');
    expect([...(await store.indexSizes(key)).keys()]).not.toContain('@files');
    await store.clear(key);
    expect(await named()).toEqual([]);
  }, 60_000);

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

  test('a search survives that another process replaces the index between its statements', async () => {
    const key = newApp();
    await create(key, 'a', { total: 1, colour: 'red' });
    expect(await store.count(key, declared, 'total == 1')).toBe(1);
    const more: IndexDeclarations = new Map([...declared, ['colour', 'field']]);
    let replaced = 0;
    const reader = {
      async raw(text: string, values: readonly unknown[]) {
        // The state of the index is read, its tables are not yet.
        if (text.includes('lastentry') && replaced++ === 0) await store.count(key, more, "colour == 'red'");
        return readerOf(database.host).raw(text, values as never);
      },
    };
    const other = createRecordStore({
      database: { ...database.host, readConnection: () => reader as never, reader },
      limits,
    });
    expect(await other.count(key, declared, 'total == 1')).toBe(1);
    expect(replaced).toBeGreaterThan(0);
    await other.destroy();
  });

  test('an index whose tables are gone is built again', async () => {
    const key = newApp();
    await create(key, 'a', { total: 1 });
    expect(await store.count(key, declared, 'total == 1')).toBe(1);
    for (const table of await indexTables(key)) await database.knex.schema.dropTable(table);
    expect(await store.count(key, declared, 'total == 1')).toBe(1);
  });

  /** The tables of the indexes that an app has now. */
  async function indexTables({ site, app }: { site: string; app: string }): Promise<string[]> {
    const [{ scope }] = await database.knex('apps_records').where({ site, app }).select('scope');
    const [{ state }] = await database.knex('apps_index_states').where({ scope }).select('state');
    const ids = (JSON.parse(state) as { id: string }[]).map(({ id }) => id);
    const sql = createSql(database.knex, dialects[client]);
    const names = (await sql.rows(dialects[client].tableNames)).map(({ name }) => String(name));
    return names.filter((name) => ids.some((id) => name.includes(id)));
  }

  test('a work that needs a new index ends for the build, and runs again from its start', async () => {
    const key = newApp();
    await create(key, 'a', { total: 1 });
    const begun: number[] = [];
    const found = await store.transact(async (unit) => {
      begun.push(performance.now());
      const { records } = await unit.search(key, declared, { query: 'total == 1' });
      return records.map(({ id }) => id);
    });
    expect([found, begun.length]).toEqual([['a'], 2]);
    await store.transact(async (unit) => {
      begun.push(performance.now());
      await unit.count(key, declared, 'total == 1');
    });
    expect(begun).toHaveLength(3);
  });

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
