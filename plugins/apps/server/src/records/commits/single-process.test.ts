import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { createRecordStore } from '../store';
import { limits, useStore } from '../testing/stores';
import type { RecordStore } from '../types';

describe.each(await availableClients())('the only process on %s', (client) => {
  let database: TestDatabase;
  let other: RecordStore;
  let single: RecordStore;
  let found = 0;
  /** SQLite itself counts the commits of others. */
  const isShared = client !== 'sqlite';
  const looks = vi.fn();
  const { newApp } = useStore(client, (opened) => {
    ({ database, store: other } = opened);
  });
  beforeAll(async () => {
    const knex = connect(database.address);
    knex.on('query', ({ sql }: { sql: string }) => {
      if (sql.includes('from apps_commit_counts')) looks();
    });
    const onOther = () => {
      found += 1;
    };
    single = createRecordStore({ database: hostOf(knex, client, !isShared), limits, onOther });
    await single.prepare();
    return async () => {
      await single.destroy();
      await knex.destroy();
    };
  });
  afterEach(() => void vi.useRealTimers());

  const requests = async (count: number) => {
    looks.mockClear();
    for (let request = 0; request < count; request += 1) await single.dependencies.refresh();
    return looks.mock.calls.length;
  };
  const commit = (store: RecordStore) => store.transact((unit) => unit.create(newApp(), { items: {}, creator: null }));

  test('looks once for many requests, until another process commits', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    expect(await requests(5)).toBe(isShared ? 1 : 0);
    await commit(single);
    vi.advanceTimersByTime(1_001);
    expect([await requests(5), found]).toEqual([isShared ? 1 : 0, 0]);
    const before = single.dependencies.commits();
    await commit(other);
    vi.advanceTimersByTime(1_001);
    expect([await requests(5), found]).toEqual([isShared ? 5 : 0, isShared ? 1 : 0]);
    if (isShared) expect(single.dependencies.isUnchanged(before)).toBe(false);
    vi.advanceTimersByTime(61_000);
    expect(await requests(5)).toBe(isShared ? 1 : 0);
  });
});
