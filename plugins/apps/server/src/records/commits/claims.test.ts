import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { type Place, placeIndex } from '../../indexes';
import { createRecordStore } from '../store';
import { declared, from, heldHost, useStore } from '../testing/stores';
import type { AppKey, RecordStore } from '../types';

const limits = { attempts: 30 };
const place: Place = { index: placeIndex('seat', 'state'), value: 'taken' };
const waiting: Place = { ...place, value: 'waiting' };
const items = { block: 'seat' };

/** Takes a place if there is one; says what became of it. @param beside what happens before it commits */
const take = (
  store: RecordStore,
  key: AppKey,
  id: string,
  max: number,
  beside = async () => {},
): Promise<'taken' | 'full'> =>
  store.transact(async (unit) => {
    const { count } = await unit.countPlace(key, declared, place, max);
    if (count >= max) return 'full';
    await beside();
    await unit.create(key, { id, items, creator: null });
    unit.claim(key, { kind: 'most', block: 'seat', place, max });
    return 'taken';
  });

describe.each(await availableClients())('claims on %s', (client) => {
  let database: TestDatabase;
  let first: RecordStore;
  let second: RecordStore;
  let knex: Knex;
  const { newApp } = useStore(client, (opened) => {
    ({ database, store: first } = opened);
  });
  beforeAll(async () => {
    knex = connect(database.address);
    second = createRecordStore({ database: hostOf(knex, client, client === 'sqlite'), limits });
    await second.prepare();
  }, 30_000);
  afterAll(async () => {
    await second.destroy();
    await knex.destroy();
  });

  const counted = async (key: AppKey) => {
    const stored = await first.count(key, declared, undefined, { place });
    let seen = 0;
    for await (const records of second.stream(key)) seen += records.filter((one) => !one.items._state).length;
    expect(stored).toBe(seen);
    return seen;
  };

  // 190 is above the number from which on bounds are remembered in place of counts.
  test.each([3, 190])('at most so many are taken, and all of them: %d more', async (more) => {
    const key = newApp();
    const before = more === 3 ? 0 : 150;
    const max = before + more;
    await first.createMany(key, from(Array.from({ length: before }, () => ({ items, creator: null }))));
    const stores = [first, second];
    const rivals = Array.from({ length: more * 2 }, (_, at) => take(stores[at % 2] as RecordStore, key, `r${at}`, max));
    const outcomes = await Promise.all(rivals);
    expect(outcomes.filter((one) => one === 'taken')).toHaveLength(more);
    expect(await counted(key)).toBe(max);
    // What one process gives back, the other sees; and what neither of them has counted.
    for (const [at, store] of stores.entries()) {
      await store.transact((unit) => unit.delete(key, `r${outcomes.indexOf('taken')}`)).then(expect);
      outcomes[outcomes.indexOf('taken')] = 'full';
      expect(await take(stores[1 - at] as RecordStore, key, `again${at}`, max)).toBe('taken');
      expect(await take(store, key, `never${at}`, max)).toBe('full');
    }
    await second.createMany(key, from([{ items, creator: null }]));
    await first.transact((unit) => unit.delete(key, 'again0'));
    expect(await take(first, key, 'late', max)).toBe('full');
    expect(await counted(key)).toBe(max);
    // Where the indexes are dropped, what was counted by them is not believed.
    await first.refresh(key, declared, { rebuild: true });
    for (const id of ['again1', 'late']) await first.transact((unit) => unit.delete(key, id));
    expect(await take(first, key, 'rebuilt', max)).toBe('taken');
    await first.clear(key);
    expect(await take(second, key, 'first', max)).toBe('taken');
  });

  // SQLite has one writer: nothing is committed beside it.
  describe.skipIf(client === 'sqlite')('a place that becomes free while its block is counted and full', () => {
    const written = /^before select .* from apps_commit_counts/;
    const counting = /^after select count/;
    test.each<[deleter: string, what: string, moment: RegExp]>([
      ['this process', 'when all is written', written],
      ['this process', 'before the count arrives', counting],
      ['another process', 'when all is written', written],
      ['another process', 'before the count arrives', counting],
    ])('is found: %s deletes, %s', async (deleter, _, moment) => {
      const key = newApp();
      let free: (() => Promise<unknown>) | undefined;
      const store = createRecordStore({
        limits,
        database: heldHost(database.host, async (statement) => {
          if (!moment.test(statement)) return;
          const once = free;
          free = undefined;
          await once?.();
        }),
      });
      const ids = Array.from({ length: 249 }, (_, at) => ({ id: `r${at}`, items, creator: null }));
      await store.createMany(key, from(ids));
      await store.count(key, declared, undefined, { place });
      let rivals = 1;
      const outcome = await take(store, key, 'late', 250, async () => {
        rivals -= 1;
        if (rivals < 0) return;
        expect(await take(second, key, 'rival', 250)).toBe('taken');
        const by = deleter === 'this process' ? store : second;
        free = () => by.transact((unit) => unit.delete(key, 'r0'), { key, id: 'r0' });
      });
      expect([outcome, free]).toEqual(['taken', undefined]);
      expect(await take(store, key, 'none', 250)).toBe('full');
      expect(await counted(key)).toBe(250);
    });
  });

  test('no unit waits while there is a place', async () => {
    const key = newApp();
    await take(first, key, 'one', 1);
    const claim = { kind: 'settled', block: 'seat', taken: place, waiting, max: 1 } as const;
    const wait = (id: string) =>
      first.transact(async (unit) => {
        await unit.create(key, { id, items: { ...items, _state: 'waiting' }, creator: null });
        unit.claim(key, claim);
      });
    await wait('two');
    await first.transact((unit) => unit.delete(key, 'one'));
    const outcome = await wait('three').catch((error: unknown) => isAppsError(error, 'ConflictError'));
    expect(outcome).toBe(true);
  });

  test('units of other blocks do not run again', async () => {
    const key = newApp();
    await take(first, key, 'one', 1);
    let runs = 0;
    const other = (at: number) =>
      second.transact(async (unit) => {
        runs += 1;
        await unit.countPlace(key, declared, { ...place, index: placeIndex('other', 'state') }, 50);
        await unit.create(key, { id: `other${at}`, items: { block: 'other' }, creator: null });
        unit.claim(key, {
          kind: 'most',
          block: 'other',
          place: { ...place, index: placeIndex('other', 'state') },
          max: 50,
        });
      });
    await other(0);
    runs = 0;
    await Promise.all([
      ...Array.from({ length: 20 }, (_, at) => other(at + 1)),
      ...['a', 'b'].map((id) => take(first, key, id, 1)),
    ]);
    expect(runs).toBe(20);
    expect(await first.count(key, declared)).toBe(22);
  });
});
