import { describe, expect, test } from 'vitest';
import { dialects } from '../database';
import { availableClients, type TestDatabase } from '../database/testing/databases';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import { declared, from, heldHost, limits, useStore } from './testing/stores';
import type { NewRecord, RecordStore } from './types';

const none: IndexDeclarations = new Map();

describe.each(await availableClients())('many records on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });

  test('a bulk creation creates all or nothing, and a stream gives them in order', async () => {
    const key = newApp();
    const records = Array.from(
      { length: 1203 },
      (_, at): NewRecord => ({ items: { at, total: at % 7 }, creator: null }),
    );
    expect(await store.count(key, declared, 'total == 3')).toBe(0);
    expect(await store.createMany(key, from(records))).toBe(1203);
    const seen: unknown[] = [];
    for await (const batch of store.stream(key)) seen.push(...batch.map((record) => record.items.at));
    expect(seen).toEqual(records.map((_, at) => at));
    expect(await store.count(key, declared, 'total == 3')).toBe(172);
    const taken = [
      { items: {}, creator: null },
      { id: 'x', items: {}, creator: null },
      { id: 'x', items: {}, creator: null },
    ];
    await expect(store.createMany(key, from(taken))).rejects.toMatchObject({
      name: 'ConflictError',
      details: { id: 'x' },
    });
    const late = [
      ...records,
      { id: seen.length ? (await store.page(key, { limit: 1 })).records[0]?.id : '', items: {}, creator: null },
    ];
    await expect(store.createMany(key, from(late))).rejects.toMatchObject({ name: 'ConflictError' });
    expect(await store.count(key, declared)).toBe(1203);
    const { records: page } = await store.page(key, {
      limit: 2,
      offset: 1,
      after: (await store.page(key, { limit: 1 })).next,
    });
    expect(page.map((record) => record.items.at)).toEqual([2, 3]);
    expect(await store.page(key, { after: Number.MAX_SAFE_INTEGER })).toEqual({ records: [] });
    const limited: unknown[] = [];
    for await (const batch of store.stream(key, { limit: 501, offset: 600 }))
      limited.push(...batch.map((record) => record.items.at));
    expect([limited.length, limited[0], limited.at(-1)]).toEqual([501, 600, 1100]);
  }, 20_000);

  // SQLite has one writer.
  test.skipIf(client === 'sqlite')(
    'what is written of deleted records is the last of them: others cannot change them',
    async () => {
      const key = newApp();
      await store.createMany(key, from(Array.from({ length: 600 }, (_, at) => ({ items: { at }, creator: null }))));
      const ids = (await store.page(key, { limit: 600 })).records.map(({ seq }) => seq);
      const looks: unknown[] = [];
      const look = async (statement: string) => {
        if (!statement.startsWith('before delete from apps_records')) return;
        const text = `select id from apps_records where id = ${looks.length === 0 ? ids[0] : ids[599]} for update nowait`;
        looks.push(await database.knex.raw(text).then(() => 'free', dialects[client].classify));
      };
      const cleared: unknown[] = [];
      const clearing = createRecordStore({ database: heldHost(database.host, look), limits });
      await clearing.clear(key, (deleted) => async () => void cleared.push(...deleted.map(({ items }) => items.at)));
      expect(cleared).toEqual(ids.map((_, at) => at));
      expect(looks).toEqual(['collision', 'collision']);
    },
  );

  test('many large records are never all in memory: a listing continues, a search is refused with advice', async () => {
    const key = newApp();
    const large: NewRecord[] = Array.from({ length: 24 }, (_, at) => ({
      id: `r${at}`,
      items: { total: at, body: `w${at} ${'x'.repeat(100_000)}`, note: '-'.repeat(800_000 + at) },
      creator: null,
    }));
    const summary = ({ id, items }: { id: string; items: NewRecord['items'] }) => [id, String(items.note).length];
    const wanted = large.map((_, at) => [`r${at}`, 800_000 + at]);
    expect(await store.createMany(key, from(large))).toBe(24);
    const batches: unknown[][] = [];
    for await (const batch of store.stream(key)) batches.push(batch.map(summary));
    expect(batches.flat()).toEqual(wanted);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThan(20);
    const found = async (limit: number) =>
      (await store.search(key, declared, { query: 'total >= 0', sortIndex: 'total', limit })).records.map(summary);
    expect(await found(3)).toEqual(wanted.slice(0, 3));
    const tooLarge = { name: 'PayloadTooLargeError', message: expect.stringContaining('ask for fewer') };
    await expect(found(10_000)).rejects.toMatchObject(tooLarge);
    await expect(store.page(key, { limit: 24 })).rejects.toMatchObject(tooLarge);
    await expect(store.transact((unit) => unit.search(key, none, { limit: 24 }))).rejects.toMatchObject(tooLarge);
    expect(await store.count(key, declared, '"w2*" in body')).toBe(5);
    await store.clear(key);
  }, 30_000);

  test('clearing many records does not block others, and keeps records that they create meanwhile', async () => {
    const key = newApp();
    const many = async function* () {
      for (let total = 0; total < 25_001; total++) yield { items: { total }, creator: null };
    };
    await store.createMany(key, many());
    const count = () => store.count(key, declared, 'total >= 0');
    // On a busy machine the indexes are still being built: 503 until they are.
    await expect.poll(() => count().catch(() => null), { timeout: 30_000 }).toBe(25_001);
    let cleared = false;
    const clearing = store.clear(key).finally(() => {
      cleared = true;
    });
    const made: string[] = [];
    let counting: Promise<number> | undefined;
    while (!cleared) {
      made.push(`new${made.length}`);
      await create(key, made.at(-1) as string, { total: 1 });
      counting ??= count();
      // Like requests: SQLite's driver alone would never yield the thread.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clearing;
    expect(await counting).toBeGreaterThan(0);
    // In one transaction, the database's one connection would have been free for the first at most.
    expect(made.length).toBeGreaterThan(1);
    const { records } = await store.search(key, declared, { query: 'total >= 0' });
    // Some may have been created before the clearing began.
    expect(records.map(({ id }) => id)).toEqual(made.slice(made.length - records.length));
    expect(records.length).toBeGreaterThan(0);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 60_000);
});
