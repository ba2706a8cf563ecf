import { describe, expect, test } from 'vitest';
import { availableClients, hostOf, type TestDatabase } from '../../database/testing/databases';
import type { IndexDeclarations } from '../../indexes/types';
import { createRecordStore } from '../store';
import { declared, useStore } from '../testing/stores';
import type { AppKey, RecordStore, UnitOfWork } from '../types';

const declaredTitle: IndexDeclarations = new Map([['title', 'field']]);

describe.each(await availableClients())('concurrent writes of records on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });

  test('fifty concurrent increments of one record all count, read-modify-write too', async () => {
    const key = newApp();
    await create(key, 'a', { total: 0, seen: 0 });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        store.transact(async (unit) => {
          const record = await unit.get(key, 'a');
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
          await unit.update(key, 'a', {
            set: { seen: (record?.items.seen as number) + 1 },
            inc: { total: 1 },
          });
        }),
      ),
    );
    expect((await store.get(key, 'a'))?.items).toEqual({ total: 50, seen: 50 });
    expect(await store.count(key, declared, 'total == 50')).toBe(1);
  }, 20_000);

  test('two stores on one database do not lose each other’s writes', async () => {
    const key = newApp();
    const other = createRecordStore({ database: hostOf(database.knex, client), limits: { attempts: 50 } });
    const mine = createRecordStore({ database: database.host, limits: { attempts: 50 } });
    await create(key, 'a', { total: 0 });
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 ? other : mine).transact((unit) => unit.update(key, 'a', { inc: { total: 1 } })),
      ),
    );
    expect((await store.get(key, 'a'))?.items.total).toBe(20);
  }, 20_000);

  test('a change of a record that was only read is a collision', async () => {
    const key = newApp();
    await create(key, 'a', { open: true });
    let runs = 0;
    await store.transact(async (unit) => {
      const open = (await unit.get(key, 'a'))?.items.open;
      if (++runs === 1) await store.transact((second) => second.update(key, 'a', { set: { open: false } }));
      if (open) await unit.create(key, { id: 'b', items: {}, creator: null });
    });
    expect([runs, await store.get(key, 'b')]).toEqual([2, null]);
  });

  test.each<[string, (unit: UnitOfWork, key: AppKey) => Promise<unknown>, unknown]>([
    ['changed', (unit, key) => unit.update(key, 'a', { set: { changed: true } }), { title: 'new', changed: true }],
    ['deleted', (unit, key) => unit.delete(key, 'a'), undefined],
    ['read', (unit, key) => unit.create(key, { id: 'b', items: {}, creator: null }), { title: 'new' }],
  ])(
    'a record that is deleted and created again meanwhile is a collision where it is %s',
    async (_, work, expected) => {
      const key = newApp();
      await create(key, 'a', { title: 'old' });
      const titles: unknown[] = [];
      await store.transact(async (unit) => {
        titles.push((await unit.get(key, 'a'))?.items.title);
        if (titles.length === 1) {
          await store.transact((second) => second.delete(key, 'a'));
          await create(key, 'a', { title: 'new' });
        }
        await work(unit, key);
      });
      expect([titles, (await store.get(key, 'a'))?.items]).toEqual([['old', 'new'], expected]);
      const { records } = await store.search(key, declaredTitle, { query: "title == 'new'" });
      expect(records.map(({ id }) => id)).toEqual(expected ? ['a'] : []);
    },
  );

  test('a unit of work gives up with a conflict after the attempts', async () => {
    const key = newApp();
    await create(key, 'a', { n: 0 });
    let runs = 0;
    // After more attempts the record would be locked, and the rival below would wait for it.
    const impatient = createRecordStore({ database: database.host, limits: { attempts: 3 } });
    const result = impatient.transact(async (unit) => {
      await unit.get(key, 'a');
      runs++;
      await database.knex('apps_records').where({ identifier: 'a', app: key.app }).increment('version', 1);
      await unit.update(key, 'a', { inc: { n: 1 } });
    });
    await expect(result).rejects.toMatchObject({ name: 'ConflictError', status: 409 });
    expect(runs).toBe(3);
  });

  test('concurrent creations of one id: one wins', async () => {
    const key = newApp();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => create(key, 'same', {})));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    const numbered = await Promise.all(Array.from({ length: 5 }, () => create(key, 'same', {}, 'number')));
    expect(numbered.map((record) => record.id).sort()).toEqual(['same-1', 'same-2', 'same-3', 'same-4', 'same-5']);
  });
});
