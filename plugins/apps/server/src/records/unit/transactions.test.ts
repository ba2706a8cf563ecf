import { describe, expect, test } from 'vitest';
import { availableClients, type TestDatabase } from '../../database/testing/databases';
import { declared, useStore } from '../testing/stores';
import type { RecordStore } from '../types';

describe.each(await availableClients())('transactions of records on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });

  test('a unit sees its own writes in every read, other units only after its commit', async () => {
    const key = newApp();
    await create(key, 'old', { total: 1, author: 'a' });
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'new', items: { total: 5, author: 'a' }, creator: null });
      await unit.update(key, 'old', { set: { total: 9 } });
      expect((await unit.get(key, 'old'))?.items.total).toBe(9);
      const found = await unit.search(key, declared, {
        query: "author == 'a' and total > 2",
        sortIndex: 'total',
        reverse: true,
      });
      expect(found.records.map((record) => record.id)).toEqual(['old', 'new']);
      expect((await unit.page(key, {})).records.map((record) => record.id)).toEqual(['old', 'new']);
      if (client !== 'sqlite') expect((await store.get(key, 'old'))?.items.total).toBe(1);
      expect(await unit.delete(key, 'old')).toBe(true);
      expect(await unit.delete(key, 'old')).toBe(false);
      expect(await unit.count(key, declared, 'total > 0')).toBe(1);
      expect(await unit.count(key, declared)).toBe(1);
      expect((await unit.rename(key, 'new', 'renamed', 'refuse')).id).toBe('renamed');
      await unit.update(key, 'renamed', { set: { body: 'Hello world' } });
    });
    const { records } = await store.search(key, declared, { query: "'hello' in body" });
    expect(records.map(({ id, items, version }) => ({ id, items, version }))).toEqual([
      { id: 'renamed', items: { total: 5, author: 'a', body: 'Hello world' }, version: 1 },
    ]);
    expect(await store.get(key, 'old')).toBeNull();
  });

  test('an error rolls back everything and runs no effect; a commit runs them in order', async () => {
    const key = newApp();
    const effects: string[] = [];
    const attempt = store.transact(async (unit) => {
      unit.afterCommit(() => void effects.push('never'));
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await unit.inTransaction(async () => {});
      throw new Error('stop');
    });
    await expect(attempt).rejects.toThrow('stop');
    expect(await store.get(key, 'a')).toBeNull();
    await store.transact(async (unit) => {
      unit.afterCommit(async () => void effects.push('one'));
      unit.afterCommit(() => {
        effects.push('two');
        throw new Error('contained');
      });
      unit.afterCommit(() => void effects.push('three'));
      await unit.create(key, { id: 'a', items: {}, creator: null });
    });
    expect(effects).toEqual(['one', 'two', 'three']);
  });

  test('host writes join the transaction; only those of failed work are undone', async () => {
    const key = newApp();
    await database.knex.schema.createTable(`host_${key.app}`, (table) => void table.string('name'));
    const insert = async (name: string) => {
      const trx = await database.host.current();
      await (trx as NonNullable<typeof trx>)(`host_${key.app}`).insert({ name });
    };
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await unit.inTransaction(() => insert('kept'));
      await expect(
        unit.inTransaction(async () => {
          await insert('undone');
          throw new Error('contained');
        }),
      ).rejects.toThrow('contained');
      await unit.inTransaction(async () => {
        await insert('nested');
        expect(await unit.inTransaction(async () => unit.count(key, declared))).toBe(1);
      });
    });
    expect(await database.knex(`host_${key.app}`).pluck('name')).toEqual(['kept', 'nested']);
    await expect(
      store.transact(async (unit) => {
        await unit.inTransaction(() => insert('lost'));
        throw new Error('stop');
      }),
    ).rejects.toThrow('stop');
    expect(await database.knex(`host_${key.app}`).pluck('name')).toEqual(['kept', 'nested']);
  });

  test('no transaction stays open while a unit waits; its changes are repeated', async () => {
    const key = newApp();
    const table = `again_${key.app}`;
    await database.knex.schema.createTable(table, (columns) => void columns.string('name'));
    let runs = 0;
    const insert = async () => {
      runs += 1;
      const trx = await database.host.current();
      await (trx as NonNullable<typeof trx>)(table).insert({ name: 'kept' });
    };
    const names = () => database.knex(table).pluck('name');
    await store.transact(async (unit) => {
      // The first search of an app builds its indexes, and the unit runs again.
      runs = 0;
      await unit.create(key, { id: 'a', items: { total: 1 }, creator: null });
      await unit.inTransaction(insert);
      expect(await unit.count(key, declared, 'total == 1')).toBe(1);
      await new Promise((done) => setTimeout(done, 100));
      // On SQLite this would wait for an open transaction.
      await create(key, 'other', { total: 5 });
      expect([runs, await names(), await store.get(key, 'a')]).toEqual([1, [], null]);
      await unit.update(key, 'a', { inc: { total: 1 } });
      expect(await unit.count(key, declared, 'total > 0')).toBe(2);
      expect(runs).toBe(2);
      await new Promise((done) => setTimeout(done, 100));
      expect(await names()).toEqual([]);
      expect(await unit.delete(key, 'a')).toBe(true);
      expect(await unit.count(key, declared)).toBe(1);
      await unit.create(key, { id: 'b', items: {}, creator: null });
      await new Promise((done) => setTimeout(done, 100));
    });
    expect([await names(), (await store.page(key, {})).records.map(({ id }) => id)]).toEqual([
      ['kept'],
      ['other', 'b'],
    ]);
    expect(runs).toBe(3);
  });

  test('a record that a slow unit deletes and creates again has a new version', async () => {
    const key = newApp();
    await create(key, 'a', { total: 1 });
    for (const total of [2, 3]) await store.transact((unit) => unit.update(key, 'a', { set: { total } }));
    const before = (await store.get(key, 'a'))?.version;
    await store.transact(async (unit) => {
      await unit.delete(key, 'a');
      expect(await unit.count(key, declared, 'total == 3')).toBe(0);
      await unit.create(key, { id: 'a', items: { total: 4 }, creator: null });
      await new Promise((done) => setTimeout(done, 100));
    });
    const after = await store.get(key, 'a');
    expect([before, after?.version, after?.items]).toEqual([3, 4, { total: 4 }]);
  });

  test('a transaction that was opened for failing work ends at once', async () => {
    const key = newApp();
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await expect(unit.inTransaction(() => Promise.reject(new Error('contained')))).rejects.toThrow('contained');
      expect(database.knex.client.pool.numUsed()).toBe(0);
      await create(key, 'other', {});
    });
    expect(await store.count(key, declared)).toBe(2);
  });

  test('reads alongside a unit join its transaction once it is open, and only then', async () => {
    const key = newApp();
    await create(key, 'a', { n: 1 });
    const current = async () => (await database.host.current()) !== undefined;
    await store.transact(async (unit) => {
      expect(await unit.alongside(current)).toBe(false);
      await unit.update(key, 'a', { set: { n: 2 } });
      expect(await unit.alongside(current)).toBe(false);
      await unit.inTransaction(async () => expect(await current()).toBe(true));
      expect(await unit.alongside(current)).toBe(true);
      expect(await current()).toBe(false);
      await expect(unit.alongside(() => Promise.reject(new Error('contained')))).rejects.toThrow('contained');
    });
    expect((await store.get(key, 'a'))?.items).toEqual({ n: 2 });
  });

  test('host writes run again after a deadlock', async () => {
    if (client === 'sqlite') return; // one writer at a time: there are none
    const key = newApp();
    const table = `locked_${key.app}`;
    await database.knex.schema.createTable(table, (columns) => {
      columns.integer('id').primary();
      columns.integer('n');
    });
    await database.knex(table).insert([1, 2].map((id) => ({ id, n: 0 })));
    // The first write of an app blocks others until its commit.
    await create(key, 'first', {});
    let arrived = 0;
    let runs = 0;
    const add = async (id: number) => {
      const trx = (await database.host.current()) as NonNullable<Awaited<ReturnType<typeof database.host.current>>>;
      await trx(table).where({ id }).increment('n', 1);
    };
    const crosswise = (first: number, second: number) =>
      store.transact(async (unit) => {
        runs += 1;
        await unit.create(key, { items: { first }, creator: null });
        await unit.inTransaction(() => add(first));
        arrived += 1;
        for (let time = 0; arrived < 2 && time < 200; time++) await new Promise((resolve) => setTimeout(resolve, 10));
        await unit.inTransaction(() => add(second));
      });
    await Promise.all([crosswise(1, 2), crosswise(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    expect(await database.knex(table).orderBy('id').pluck('n')).toEqual([2, 2]);
    expect(await store.count(key, declared)).toBe(3);
  }, 30_000);
});
