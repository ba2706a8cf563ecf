import { describe, expect, test } from 'vitest';
import { availableClients } from '../database/testing/databases';
import { MAX_BYTES } from './table/rows';
import { declared, from, useStore } from './testing/stores';
import type { NewRecord, RecordStore, StoredRecord } from './types';

const many = (length: number, items: NewRecord['items']) =>
  Array.from({ length }, (_, at): NewRecord => ({ id: `r${at}`, items, creator: null }));

describe.each(await availableClients())('a stream of matches on %s', (client) => {
  let store: RecordStore;
  const { newApp } = useStore(client, (opened) => {
    ({ store } = opened);
  });

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

  test('a wrong query is an error before the first batch', async () => {
    const matches = store.streamMatches(newApp(), declared, { query: 'size > 1' })[Symbol.asyncIterator]();
    await expect(matches.next()).rejects.toMatchObject({ name: 'BadRequestError' });
  });
});
