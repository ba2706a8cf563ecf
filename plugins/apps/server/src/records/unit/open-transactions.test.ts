import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { createRecordStore } from '../store';
import { declared, limits, useStore } from '../testing/stores';
import type { AppKey, RecordStore, UnitOfWork } from '../types';

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
/** Runs work outside of the transaction in which its caller runs. */
const outside = AsyncLocalStorage.snapshot();
const place = { items: { total: 7 }, creator: null };

describe.each(await availableClients())('searches beside transactions that are open on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let knex: Knex;
  let second: RecordStore;
  const { newApp } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });
  beforeAll(async () => {
    knex = connect(database.address);
    second = createRecordStore({ database: hostOf(knex, client, client === 'sqlite'), limits });
    await second.prepare();
  });
  afterAll(async () => {
    await second.destroy();
    await knex.destroy();
  });

  const taken = (unit: Pick<UnitOfWork, 'count'>, key: AppKey) => unit.count(key, declared, 'total == 7');
  const indexed = async (): Promise<AppKey> => {
    const key = newApp();
    await taken(store, key);
    return key;
  };

  test('a snapshot that a change of content has begun is older than what others have committed since', async () => {
    const key = await indexed();
    const seen: number[] = [];
    await store.transact(async (unit) => {
      await unit.inTransaction(async () => {
        await (await database.host.current())?.raw('select count(*) from apps_records');
      });
      if (seen.length === 0) await store.transact((rival) => rival.create(key, place));
      const found = await taken(unit, key);
      seen.push(found);
      if (found === 0) await unit.create(key, place);
    });
    expect([seen.at(-1), await taken(store, key)]).toEqual([1, 1]);
  });

  test('what hooks of the host write in the transaction of a unit is no collision with itself', async () => {
    const key = await indexed();
    let attempts = 0;
    await store.transact(async (unit) => {
      attempts += 1;
      await taken(unit, key);
      await unit.inTransaction(() => store.transact((hook) => hook.create(key, place)));
      await unit.create(key, place);
    });
    expect([attempts, await taken(store, key)]).toEqual([1, 2]);
  });

  // SQLite has one connection, which such a transaction has.
  test.skipIf(client === 'sqlite')('a long transaction of other code is no collision for other apps', async () => {
    const [other, key] = [await indexed(), await indexed()];
    let attempts = 0;
    await database.host.transaction(async () => {
      await store.transact((unit) => unit.create(other, place));
      for (let number = 0; number < 3; number += 1)
        await outside(() =>
          store.transact(async (unit) => {
            attempts += 1;
            await taken(unit, key);
            await unit.create(key, place);
          }),
        );
    });
    expect([attempts, await taken(store, key)]).toEqual([3, 3]);
  });

  test.skipIf(client === 'sqlite')(
    'units that wait for the lock of one app do not take all connections',
    async () => {
      const [other, key] = [await indexed(), await indexed()];
      const bookings: Promise<unknown>[] = [];
      const book = async (unit: UnitOfWork) => {
        const found = await taken(unit, key);
        if (found === 0) await unit.create(key, place);
      };
      await database.host.transaction(async () => {
        await store.transact((unit) => unit.create(key, { items: { total: 1 }, creator: null }));
        for (let number = 0; number < 12; number += 1) {
          bookings.push(outside(() => store.transact(book)));
          await pause(60);
        }
        await outside(() => store.transact((unit) => unit.create(other, place)));
      });
      await Promise.all(bookings);
      expect([await taken(store, other), await taken(store, key)]).toEqual([1, 1]);
    },
    60_000,
  );

  test.skipIf(client === 'sqlite')(
    'a unit succeeds although another process never stops to change its search',
    async () => {
      const key = await indexed();
      let isOver = false;
      const rivals = async () => {
        while (!isOver) await second.transact((unit) => unit.create(key, place));
      };
      const running = Promise.all([rivals(), rivals(), rivals()]);
      try {
        await store.transact(async (unit) => {
          const found = await taken(unit, key);
          await pause(20);
          await unit.create(key, { items: { total: 1, found }, creator: null });
        });
      } finally {
        isOver = true;
        await running;
      }
      expect(await store.count(key, declared, 'total == 1')).toBe(1);
    },
    30_000,
  );
});
