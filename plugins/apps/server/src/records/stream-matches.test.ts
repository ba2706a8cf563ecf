import { describe, expect, test } from 'vitest';
import { readerOf } from '../database';
import { availableClients, type TestDatabase } from '../database/testing/databases';
import { createRecordStore } from './store';
import { MAX_AT_ONCE, MAX_BYTES } from './table/rows';
import { declared, from, limits, useStore } from './testing/stores';
import type { AppKey, NewRecord, RecordStore, StoredRecord } from './types';

const many = (length: number, items: NewRecord['items']) =>
  Array.from({ length }, (_, at): NewRecord => ({ id: `r${at}`, items, creator: null }));

describe.each(await availableClients())('a stream of matches on %s', (client) => {
  let store: RecordStore;
  let database: TestDatabase;
  const { newApp } = useStore(client, (opened) => {
    ({ store, database } = opened);
  });

  /** A store of another process, before whose reads of long items a record is deleted. */
  const losing = (key: AppKey, id: string): RecordStore => {
    const { host } = database;
    const read = readerOf(host);
    const raw = async (sql: string, values: never) => {
      if (sql.startsWith('select id, items')) await store.transact((unit) => unit.delete(key, id));
      return read.raw(sql, values);
    };
    const reader = Object.create(read, { raw: { value: raw } });
    const held = client === 'sqlite' ? { readConnection: () => reader } : { reader };
    return createRecordStore({ database: { ...host, ...held }, limits });
  };

  test.each(['total == 1', "not total == 2 and not author == 'b'", ''])(
    'all matches of "%s" are read, also when records leave the result meanwhile',
    async (query) => {
      const key = newApp();
      const records = many(1_200, { total: 1 });
      await store.createMany(key, from(records));
      const ids: string[] = [];
      for await (const batch of store.streamMatches(key, declared, { query })) {
        ids.push(...batch.map(({ id }) => id));
        await store.transact(async (unit) => {
          for (const { id } of batch.slice(0, 20)) await unit.update(key, id, { set: { total: 2 } });
          for (const { id } of batch.slice(20, 40)) await unit.delete(key, id);
        });
      }
      expect(ids).toEqual(records.map(({ id }) => id));
    },
    30_000,
  );

  test('a batch has no more items than fit into memory', async () => {
    const key = newApp();
    const long = 'x'.repeat(MAX_BYTES / 10);
    await store.createMany(key, from(many(25, { total: 1, long })));
    const batches: StoredRecord[][] = [];
    for await (const batch of store.streamMatches(key, declared, { query: 'total == 1' })) batches.push(batch);
    expect(batches.map(({ length }) => length)).toEqual([9, 9, 7]);
    expect(batches.flat().map(({ id }) => id)).toEqual(many(25, {}).map(({ id }) => id));
  }, 30_000);

  test('a page and a search that lose a record while they are read know that others follow', async () => {
    const key = newApp();
    // Longer than what the first statement reads of a record.
    await store.createMany(key, from(many(6, { total: 1, long: 'x'.repeat(MAX_AT_ONCE / 3) })));
    const ids = (records: readonly StoredRecord[]) => records.map(({ id }) => id);
    const page = await losing(key, 'r1').page(key, { limit: 3 });
    expect(ids(page.records)).toEqual(['r0', 'r2']);
    const { records, found } = await losing(key, 'r3').search(key, declared, { query: 'total == 1', limit: 3 });
    expect([ids(records), found]).toEqual([['r0', 'r2'], 3]);
    const rest = await store.page(key, { limit: 2, after: page.next as number });
    expect([ids(rest.records), rest.next]).toEqual([['r4', 'r5'], undefined]);
  }, 30_000);

  test('a wrong query is an error before the first batch', async () => {
    const matches = store.streamMatches(newApp(), declared, { query: 'size > 1' })[Symbol.asyncIterator]();
    await expect(matches.next()).rejects.toMatchObject({ name: 'BadRequestError' });
  });
});
