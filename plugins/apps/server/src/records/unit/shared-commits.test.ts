import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from '../../database/testing/databases';
import type { IndexDeclarations } from '../../indexes/types';
import { createRecordStore } from '../store';
import type { RecordStore, UnitOfWork } from '../types';

const declared: IndexDeclarations = new Map([['total', 'field']]);
const clients = await availableClients();

describe.each(clients)('units that end together on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let statements: string[] = [];
  let apps = 0;
  let key = { site: 'site', app: '' };

  const create = (unit: UnitOfWork, id?: string, total = 1) =>
    unit.create(key, { ...(id === undefined ? {} : { id }), items: { total }, creator: null });
  const all = (works: ((unit: UnitOfWork) => Promise<unknown>)[]) =>
    Promise.allSettled(works.map((work) => store.transact(work)));
  const namesOf = (results: PromiseSettledResult<unknown>[]) =>
    results.map((result) => (result.status === 'rejected' ? result.reason.name : ''));
  const count = (pattern: RegExp) => statements.filter((sql) => pattern.test(sql)).length;

  beforeAll(async () => {
    database = await createTestDatabase(client);
    database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
    store = createRecordStore({ database: database.host, limits: { attempts: 10 } });
  }, 30_000);
  beforeEach(async () => {
    key = { site: 'site', app: `app${++apps}` };
    await store.transact((unit) => create(unit, 'old'));
    await store.count(key, declared, 'total == 1');
    statements = [];
  });
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });

  test('share a transaction and its statements', async () => {
    const results = await all(Array.from({ length: 20 }, () => (unit) => create(unit)));
    expect(namesOf(results)).toEqual(Array(20).fill(''));
    expect(await store.count(key, declared, 'total == 1')).toBe(21);
    expect(count(/^commit/i)).toBe(1);
    expect(count(/^insert into apps_records/)).toBe(1);
    const versions = results.map((result) => result.status === 'fulfilled' && (result.value as { id: string }).id);
    const { records: created } = await store.page(key, { offset: 1 });
    expect(created.map(({ id }) => id)).toEqual(versions);
  });

  test('share it only up to some hundred thousand characters', async () => {
    const text = 'x'.repeat(100_000);
    const large = (unit: UnitOfWork) => unit.create(key, { items: { total: 1, text }, creator: null });
    const results = await all([...Array(6).fill(large), (unit: UnitOfWork) => create(unit)]);
    expect(namesOf(results)).toEqual(Array(7).fill(''));
    expect(await store.count(key, declared, 'total == 1')).toBe(8);
    expect(count(/^commit/i)).toBe(3);
  });

  test('a unit that fails does not fail the others', async () => {
    const results = await all([
      (unit) => create(unit, 'a'),
      (unit) => create(unit, 'old'),
      (unit) => create(unit, 'b'),
      (unit) => create(unit, 'b'),
    ]);
    const [a, old, ...same] = namesOf(results);
    expect([a, old, same.sort()]).toEqual(['', 'ConflictError', ['', 'ConflictError']]);
    expect((await store.page(key, {})).records.map(({ id }) => id).sort()).toEqual(['a', 'b', 'old']);
    expect(await store.count(key, declared, 'total == 1')).toBe(3);
  });

  test('a unit whose read is changed by another runs again, and both count', async () => {
    await store.transact((unit) => create(unit, 'sum', 0));
    const addAll = async (unit: UnitOfWork, id: string) => {
      const sum = await unit.get(key, 'sum');
      await unit.update(key, 'sum', { set: { total: Number(sum?.items.total) + 1 } });
      await create(unit, id, 5);
    };
    const results = await all(['a', 'b', 'c', 'd'].map((id) => (unit: UnitOfWork) => addAll(unit, id)));
    expect(namesOf(results)).toEqual(['', '', '', '']);
    expect((await store.get(key, 'sum'))?.items.total).toBe(4);
    expect(await store.count(key, declared, 'total == 5')).toBe(4);
  });

  test('a transaction of the calling code is not shared', async () => {
    const rolledBack = database.host.transaction(async () => {
      await store.transact((unit) => create(unit, 'inside'));
      throw new Error('undo');
    });
    const [, outside] = await Promise.allSettled([rolledBack, store.transact((unit) => create(unit, 'outside'))]);
    expect(outside?.status).toBe('fulfilled');
    expect((await store.page(key, {})).records.map(({ id }) => id)).toEqual(['old', 'outside']);
  });
});
