import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HostDatabase } from '../database';
import { createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { createRecordStore } from './store';
import { declared, from, limits } from './testing/stores';
import type { NewRecord, RecordStore } from './types';

const key = { site: 'site', app: 'app' };
/** Enough for several transactions. */
const TOTAL = 3_000;
const many = (prefix = 'r'): NewRecord[] =>
  Array.from({ length: TOTAL }, (_, at) => ({
    id: `${prefix}${at}`,
    items: { total: at % 7, author: 'many', body: `word${at % 5} text` },
    creator: 'user:1',
  }));

describe('a bulk creation on SQLite', () => {
  let database: TestDatabase;
  let store: RecordStore;
  const stores: RecordStore[] = [];
  const errors: unknown[] = [];
  /** Runs after each transaction, but not after those that it makes itself. */
  let between: (() => Promise<void>) | undefined;

  const newStore = (host: HostDatabase): RecordStore => {
    const made = createRecordStore({ database: host, limits, onError: (error) => errors.push(error) });
    stores.push(made);
    return made;
  };

  beforeEach(async () => {
    database = await createTestDatabase('sqlite');
    store = newStore({
      ...database.host,
      async write(work) {
        const result = await database.host.write(work);
        const next = between;
        between = undefined;
        await next?.().finally(() => {
          between ??= next;
        });
        return result;
      },
    });
    await one('old', { total: 3, body: 'old' });
    expect(await store.count(key, declared, 'total == 3')).toBe(1);
  });

  afterEach(async () => {
    between = undefined;
    errors.length = 0;
    for (const made of stores.splice(0)) await made.destroy();
    await database.destroy();
  });

  const one = (id: string, items: NewRecord['items'] = {}, whenTaken?: NewRecord['whenTaken']) =>
    store.transact((unit) => unit.create(key, { id, items, creator: null, whenTaken }));
  const ids = async (reader = store) => (await reader.page(key, { limit: 10 })).records.map(({ id }) => id);
  const rows = async (table: string) => Number((await database.knex(table).count({ n: '*' }))[0]?.n);
  /** Calls `work` after the transaction that is the given one since then. */
  const after = (transaction: number, work: () => Promise<unknown>): void => {
    let count = 0;
    between = async () => {
      if (++count === transaction) await work();
    };
  };
  const expectNothing = async (): Promise<void> => {
    expect(await rows('apps_pending')).toBe(0);
    expect(await store.count(key, declared, "author == 'many'")).toBe(0);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  };

  test('no read finds a record of it before all are written', async () => {
    let looks = 0;
    let written = 0;
    between = async () => {
      if ((await rows('apps_pending')) === 0) return;
      looks += 1;
      written = (await rows('apps_records')) - 1;
      expect(await store.get(key, 'r0')).toBeNull();
      expect(await ids()).toEqual(['old']);
      expect((await store.transact((unit) => unit.page(key, { limit: 10 }))).records).toHaveLength(1);
      for await (const batch of store.stream(key)) expect(batch.map(({ id }) => id)).toEqual(['old']);
      const search = async (options: object) =>
        (await store.search(key, declared, { withTotal: true, ...options })).records.map(({ id }) => id);
      for (const sortIndex of ['total', 'id', 'body', undefined])
        for (const reverse of [false, true])
          expect(await search({ sortIndex, reverse, limit: 5 }), `${sortIndex} ${reverse}`).toEqual(['old']);
      expect(await search({ query: "'word1' in body", sortIndex: 'body' })).toEqual([]);
      expect(await search({ query: 'total == 3', sortIndex: 'total' })).toEqual(['old']);
      expect(await search({ creator: 'user:1' })).toEqual([]);
      expect(await store.count(key, declared)).toBe(1);
      expect(await store.count(key, declared, 'total >= 0')).toBe(1);
      expect((await store.indexSizes(key)).get('total')).toBe(1);
    };
    expect(await store.createMany(key, from(many()))).toBe(TOTAL);
    expect(looks).toBeGreaterThan(3);
    expect(written).toBe(TOTAL);
    expect(await store.count(key, declared, "author == 'many'")).toBe(TOTAL);
    expect(await ids()).toEqual(['old', ...Array.from({ length: 9 }, (_, at) => `r${at}`)]);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 60_000);

  test('an id that another request takes meanwhile refuses all of it', async () => {
    after(4, () => one(`r${TOTAL - 1}`));
    await expect(store.createMany(key, from(many()))).rejects.toMatchObject({
      name: 'ConflictError',
      details: { id: `r${TOTAL - 1}` },
    });
    expect(await ids()).toEqual(['old', `r${TOTAL - 1}`]);
    await expectNothing();
  });

  test('its ids are taken for other requests as soon as they are written', async () => {
    const names: string[] = [];
    after(4, async () => {
      await expect(one('r0')).rejects.toMatchObject({ name: 'ConflictError', details: { id: 'r0' } });
      names.push((await one('r0', {}, 'number')).id);
      const renamed = await store.transact(async (unit) => {
        const { id } = await unit.create(key, { items: {}, creator: null });
        return unit.rename(key, id, 'r1', 'number');
      });
      names.push(renamed.id);
    });
    await store.createMany(key, from(many()));
    expect(names).toEqual(['r0-1', 'r1-1']);
    expect(await store.count(key, declared)).toBe(TOTAL + 3);
  });

  test('a given id that is taken already refuses it before anything is written', async () => {
    const before = await rows('apps_records');
    await one(`r${TOTAL - 1}`);
    between = async () => expect(await rows('apps_records')).toBe(before + 1);
    await expect(store.createMany(key, from(many()))).rejects.toMatchObject({ name: 'ConflictError' });
  });

  test('an id that it has twice refuses all of it', async () => {
    const twice = [...many(), { id: 'r0', items: {}, creator: null }];
    await expect(store.createMany(key, from(twice))).rejects.toMatchObject({ details: { id: 'r0' } });
    expect(await ids()).toEqual(['old']);
    await expectNothing();
  });

  test('ids that may be numbered are', async () => {
    const same = many().map((record): NewRecord => ({ ...record, id: 'same', whenTaken: 'number' }));
    await store.createMany(key, from(same.slice(0, 400)));
    expect((await ids()).slice(0, 3)).toEqual(['old', 'same', 'same-1']);
  });

  test('deleting all records meanwhile deletes those that were there', async () => {
    after(4, () => store.clear(key));
    await store.createMany(key, from(many()));
    expect(await store.get(key, 'old')).toBeNull();
    expect(await store.count(key, declared, 'total >= 0')).toBe(TOTAL);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  });

  test('deleting many records meanwhile leaves the index rows of its records', async () => {
    const old = Array.from({ length: 5_100 }, (): NewRecord => ({ items: { total: 1 }, creator: null }));
    await store.createMany(key, from(old));
    after(4, async () => {
      await one('late');
      // Builds the indexes again after the first transaction of the deletion, which has dropped them.
      between = async () => void (await store.count(key, declared, 'total >= 0'));
      await store.clear(key);
      between = undefined;
    });
    await store.createMany(key, from(many()));
    expect(await store.count(key, declared, 'total >= 0')).toBe(TOTAL);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 30_000);

  test('indexes that are built meanwhile have its records, and those that are built after a failure do not', async () => {
    let building: Promise<unknown> | undefined;
    after(4, async () => {
      building = store.refresh(key, declared, { rebuild: true });
    });
    await store.createMany(key, from(many()));
    await building;
    expect(await store.count(key, declared, "'word1' in body")).toBe(TOTAL / 5);
    const { wrong, records } = await store.check({ repair: false });
    expect([wrong, records]).toEqual([0, TOTAL + 1]);
  });

  test('two at once are both created, one that fails beside another is not', async () => {
    const failing = [...many('c'), { id: 'c0', items: {}, creator: null }];
    const done = await Promise.allSettled(
      [many('a'), many('b'), failing].map((records) => store.createMany(key, from(records))),
    );
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await store.count(key, declared, "author == 'many'")).toBe(2 * TOTAL);
    expect(await store.get(key, 'c1')).toBeNull();
    expect(await rows('apps_pending')).toBe(0);
  }, 30_000);

  test('what an ended process has left stays invisible, and is deleted later', async () => {
    let writes = 0;
    const ended = newStore({
      ...database.host,
      async write(work) {
        if (++writes > 4) throw new Error('the process has ended');
        return database.host.write(work);
      },
    });
    await ended.prepare();
    await expect(ended.createMany(key, from(many()))).rejects.toThrow();
    expect(await rows('apps_pending')).toBe(1);
    expect(await rows('apps_records')).toBeGreaterThan(100);
    expect(await ids()).toEqual(['old']);
    // A process that has shown a sign of life lately may go on.
    await newStore(database.host).prepare();
    expect(await rows('apps_pending')).toBe(1);
    await database.knex('apps_pending').update({ at: Date.now() - 60_000 });
    const next = newStore(database.host);
    await next.prepare();
    await expect.poll(() => rows('apps_pending'), { timeout: 20_000 }).toBe(0);
    expect(await rows('apps_records')).toBe(1);
    await expectNothing();
    expect(await next.createMany(key, from(many()))).toBe(TOTAL);
  }, 30_000);

  test('a process whose batch was given up stores nothing', async () => {
    after(4, async () => {
      await database.knex('apps_pending').update({ at: Date.now() - 60_000 });
      await newStore(database.host).prepare();
      await expect.poll(() => rows('apps_pending'), { timeout: 20_000 }).toBe(0);
    });
    await expect(store.createMany(key, from(many()))).rejects.toMatchObject({ name: 'ServiceUnavailableError' });
    expect(await ids()).toEqual(['old']);
    await expectNothing();
  }, 30_000);

  test('many records of a unit of work are written in the same way, with its other changes', async () => {
    let looks = 0;
    between = async () => {
      if ((await rows('apps_pending')) === 0) return;
      looks += 1;
      expect(await ids()).toEqual(['old']);
      expect((await store.get(key, 'old'))?.items).toMatchObject({ total: 3 });
    };
    const work = (last: string) =>
      store.transact(async (unit) => {
        await unit.update(key, 'old', { set: { total: 4 } });
        for (const record of many()) await unit.create(key, record);
        await unit.create(key, { id: last, items: {}, creator: null });
      });
    await work('last');
    expect(looks).toBeGreaterThan(3);
    expect((await store.get(key, 'old'))?.items).toMatchObject({ total: 4 });
    expect((await store.get(key, 'r7'))?.version).toBe(1);
    expect(await store.count(key, declared, "author == 'many'")).toBe(TOTAL);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 60_000);

  test('a unit of work that collides stores none of its many records, and runs again', async () => {
    let runs = 0;
    let collided = false;
    between = async () => {
      if (collided || (await rows('apps_pending')) === 0) return;
      collided = true;
      await database.knex('apps_records').where({ identifier: 'old' }).increment('version', 1);
    };
    await store.transact(async (unit) => {
      runs += 1;
      await unit.update(key, 'old', { set: { total: 4 } });
      for (const record of many('u')) await unit.create(key, record);
    });
    expect([collided, runs]).toEqual([true, 2]);
    expect(await store.count(key, declared, "author == 'many'")).toBe(TOTAL);
    expect(await rows('apps_records')).toBe(TOTAL + 1);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 30_000);
});
