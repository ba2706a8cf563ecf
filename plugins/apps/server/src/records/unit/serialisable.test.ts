import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSql, dialects, isFailure } from '../../database';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { createRecordStore } from '../store';
import { declared, useStore } from '../testing/stores';
import type { AppKey, Items, RecordStore, UnitOfWork } from '../types';

const limits = { attempts: 30 };

/** Makes a work wait for all others, once: in its later attempts it runs on. */
function meeting(works: number): (attempt: number) => Promise<void> {
  let missing = works;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return async (attempt) => {
    if (attempt > 1) return;
    missing -= 1;
    if (missing === 0) open();
    await opened;
  };
}

/** Runs works that all read before the first one writes. Returns their results, and the attempts of all. */
async function together<T>(
  works: readonly { on: RecordStore; read: (unit: UnitOfWork) => Promise<T>; write: Write<T> }[],
): Promise<{ results: PromiseSettledResult<T>[]; attempts: number }> {
  const meet = meeting(works.length);
  let attempts = 0;
  const results = await Promise.allSettled(
    works.map(({ on, read, write }) => {
      let own = 0;
      return on.transact(async (unit) => {
        own += 1;
        attempts += 1;
        const found = await read(unit);
        await meet(own);
        await write(unit, found);
        return found;
      });
    }),
  );
  return { results, attempts };
}

type Write<T> = (unit: UnitOfWork, found: T) => Promise<unknown>;

const item = (items: Items) => ({ items, creator: null });

describe.each(await availableClients())('searched and counted on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let knex: Knex;
  let second: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });
  beforeAll(async () => {
    knex = connect(database.address);
    second = createRecordStore({ database: hostOf(knex, client, client === 'sqlite'), limits });
    await second.prepare();
    // Builds the indexes, so that no first attempt ends for that.
    await store.count(newApp(), declared, 'total == 1');
  }, 30_000);
  afterAll(async () => {
    await second.destroy();
    await knex.destroy();
  });

  /** An app with indexes. */
  const indexed = async (...records: Items[]): Promise<AppKey> => {
    const key = newApp();
    for (const [at, items] of records.entries()) await create(key, `r${at}`, items);
    await store.count(key, declared, "total == 1 and 'a' in tags and 'a' in body and author == 'a'");
    await store.search(key, declared, { creator: 'user:1' });
    await store.search(key, declared, { block: 'a' });
    return key;
  };
  const all = async (key: AppKey) => (await store.page(key, { limit: 1_000 })).records.map(({ items }) => items);

  test.skipIf(client !== 'mysql')(
    'MariaDB’s refusal of a lock on a row that was changed since is a collision',
    async () => {
      const key = newApp();
      await create(key, 'changed', {});
      await knex.transaction(async (trx) => {
        const isKnown = await trx.raw('set session innodb_snapshot_isolation = 1').then(
          () => true,
          () => false,
        );
        if (!isKnown) return;
        const sql = createSql(trx, dialects.mysql);
        await sql.rows('commit');
        await sql.rows('start transaction with consistent snapshot');
        await store.transact((unit) => unit.update(key, 'changed', { set: { total: 1 } }));
        const locked = sql.rows(`select id from apps_records where site = ? and app = ? lock in share mode`, [
          key.site,
          key.app,
        ]);
        await expect(locked).rejects.toSatisfy((error) => isFailure(error, 'collision'));
        await trx.raw('set session innodb_snapshot_isolation = default');
      });
    },
  );

  describe.each([
    ['one process', () => [store, store] as const],
    ['two processes', () => [store, second] as const],
  ])('%s', (_, stores) => {
    /** How a work finds what it depends on, and a write that changes that. */
    const reads: [string, (unit: UnitOfWork, key: AppKey) => Promise<number>, Items][] = [
      ['a count', (unit, key) => unit.count(key, declared, 'total == 7'), { total: 7 }],
      ['a count of all', (unit, key) => unit.count(key, declared), { any: 1 }],
      [
        'a search',
        async (unit, key) => (await unit.search(key, declared, { query: "author == 'ann'" })).records.length,
        { author: 'ann' },
      ],
      [
        'a search in a text, sorted',
        async (unit, key) =>
          (await unit.search(key, declared, { query: "'two words' in body", sortIndex: 'total' })).records.length,
        { body: 'One, two words.' },
      ],
      [
        'a search by a keyword with a total',
        async (unit, key) =>
          (await unit.search(key, declared, { query: "'x' in tags", limit: 1, withTotal: true })).total ?? 0,
        { tags: ['y', 'x'] },
      ],
      [
        'a search among those of a block',
        async (unit, key) => (await unit.search(key, declared, { block: 'vote' })).records.length,
        { block: 'vote' },
      ],
      ['a listing', async (unit, key) => (await unit.page(key, {})).records.length, { any: 1 }],
    ];

    test.each(reads)('of two that book the last place after %s, one is stored', async (_, read, items) => {
      const key = await indexed();
      const book: Write<number> = async (unit, taken) => {
        if (taken === 0) await unit.create(key, item(items));
      };
      const { results, attempts } = await together(
        stores().map((on) => ({ on, read: (unit: UnitOfWork) => read(unit, key), write: book })),
      );
      expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled']);
      expect([(await all(key)).length, attempts]).toEqual([1, 3]);
    });

    test.each(reads)('of two that change each other’s %s, one runs again', async (_, read, items) => {
      const key = await indexed({ total: 1 }, { total: 2 });
      const changing = (id: string) => ({
        read: (unit: UnitOfWork) => read(unit, key),
        write: (unit: UnitOfWork, found: number) => unit.update(key, id, { set: { ...items, seen: found } }),
      });
      const [first, other] = stores();
      const { results } = await together([
        { on: first, ...changing('r0') },
        { on: other, ...changing('r1') },
      ]);
      const seen = results.map((result) => (result as PromiseFulfilledResult<number>).value);
      // One of them has seen the other's change; a listing and a count of all have the same number before and after.
      const isMember = !('any' in items);
      expect(seen.sort()).toEqual(isMember ? [0, 1] : [2, 2]);
    });

    test('write skew: of two doctors on duty, one may leave', async () => {
      const key = await indexed({ author: 'ann', tags: ['duty'] }, { author: 'ben', tags: ['duty'] });
      const leave = (id: string) => ({
        read: (unit: UnitOfWork) => unit.count(key, declared, "'duty' in tags"),
        write: async (unit: UnitOfWork, onDuty: number) => {
          if (onDuty > 1) await unit.update(key, id, { set: { tags: [] } });
        },
      });
      const [first, other] = stores();
      await together([
        { on: first, ...leave('r0') },
        { on: other, ...leave('r1') },
      ]);
      expect(await store.count(key, declared, "'duty' in tags")).toBe(1);
    });

    test('a record that was not found must not be there: A unless B, and B unless A', async () => {
      const key = newApp();
      const unless = (own: string, other: string) => ({
        read: (unit: UnitOfWork) => unit.get(key, other),
        write: async (unit: UnitOfWork, found: unknown) => {
          if (found === null) await unit.create(key, { id: own, ...item({}) });
        },
      });
      const [first, other] = stores();
      await together([
        { on: first, ...unless('a', 'b') },
        { on: other, ...unless('b', 'a') },
      ]);
      expect(await all(key)).toHaveLength(1);
    });

    test('a deletion changes what was counted', async () => {
      const key = await indexed({ total: 1 }, { total: 1 });
      const keepOne = (id: string) => ({
        read: (unit: UnitOfWork) => unit.count(key, declared, 'total == 1'),
        write: async (unit: UnitOfWork, found: number) => {
          if (found > 1) await unit.delete(key, id);
        },
      });
      const [first, other] = stores();
      await together([
        { on: first, ...keepOne('r0') },
        { on: other, ...keepOne('r1') },
      ]);
      expect(await all(key)).toHaveLength(1);
    });

    test('different ranges of one app do not run again for each other', async () => {
      const key = await indexed();
      const book = (total: number) => ({
        read: (unit: UnitOfWork) => unit.count(key, declared, `total == ${total}`),
        write: (unit: UnitOfWork) => unit.create(key, item({ total })),
      });
      const [first, other] = stores();
      const { attempts } = await together([
        { on: first, ...book(1) },
        { on: other, ...book(2) },
      ]);
      expect([(await all(key)).length, attempts]).toEqual([2, 2]);
    });

    test('a change that does not touch the search does not run it again', async () => {
      const key = await indexed({ total: 1, text: 'old' }, { total: 2 });
      let attempts = 0;
      const [first, other] = stores();
      await first.transact(async (unit) => {
        attempts += 1;
        const count = await unit.count(key, declared, 'total == 1');
        if (attempts === 1) {
          // It stays one of those that were counted.
          await other.transact((rival) => rival.update(key, 'r0', { set: { text: 'new' } }));
          await other.transact((rival) => rival.update(key, 'r1', { set: { total: 3 } }));
          await other.transact((rival) => rival.create(key, item({ total: 4 })));
        }
        await unit.create(key, item({ total: count }));
      });
      expect(attempts).toBe(1);
    });

    test('a search that has seen the unit’s own writes must hold too', async () => {
      const key = await indexed();
      let attempts = 0;
      const [first, other] = stores();
      const seen: number[] = [];
      await first.transact(async (unit) => {
        attempts += 1;
        await unit.create(key, item({ total: 1 }));
        seen.push(await unit.count(key, declared, 'total == 1'));
        // The transaction of the search is rolled back after some time: SQLite has one writer.
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (attempts === 1) await other.transact((rival) => rival.create(key, item({ total: 1 })));
      });
      expect([seen, await store.count(key, declared, 'total == 1')]).toEqual([[1, 2], 2]);
    });

    test('a bulk creation and a deletion of all are seen', async () => {
      const key = await indexed();
      const many = async function* () {
        for (let at = 0; at < 300; at += 1) yield item({ total: at % 2 });
      };
      const [first, other] = stores();
      for (const [change, expected] of [
        [() => other.createMany(key, many()), 150],
        [() => other.clear(key), 0],
      ] as const) {
        const seen: number[] = [];
        await first.transact(async (unit) => {
          seen.push(await unit.count(key, declared, 'total == 1'));
          if (seen.length === 1) {
            await change();
            // The deletion drops the indexes.
            await store.count(key, declared, 'total == 1');
          }
          await unit.create(key, item({ total: -1 }));
        });
        expect(seen.at(-1)).toBe(expected);
      }
    });

    test('a process that never stops committing makes no unit run again whose searches it does not change', async () => {
      // On SQLite, in one thread, the other one would commit between any two steps.
      if (client === 'sqlite') return;
      const key = await indexed();
      const [first, other] = stores();
      let isOver = false;
      const writer = async () => {
        while (!isOver) await other.transact((unit) => unit.create(key, item({ total: 1 })));
      };
      const writing = Promise.all([writer(), writer(), writer(), writer()]);
      let attempts = 0;
      for (let at = 0; at < 20; at += 1)
        await first.transact(async (unit) => {
          attempts += 1;
          await unit.count(key, declared, 'total == 2');
          await unit.create(key, item({ total: 3 }));
        });
      isOver = true;
      await writing;
      expect(attempts).toBe(20);
    });

    test('200 rivals for 20 places', async () => {
      const key = await indexed();
      const places = 20;
      let refused = 0;
      await Promise.all(
        Array.from({ length: 200 }, (_, at) =>
          (stores()[at % 2] as RecordStore).transact(async (unit) => {
            const taken = await unit.count(key, declared, 'total == 1');
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
            if (taken >= places) refused += 1;
            else await unit.create(key, item({ total: 1 }));
          }),
        ),
      );
      expect([await store.count(key, declared, 'total == 1'), refused]).toEqual([places, 200 - places]);
    }, 60_000);
  });
});
