import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperatorName, operators } from '../../../shared/query/operators';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { creators, Generator, seeded } from '../indexes/query/testing/generator';
import { expressions } from '../indexes/query/testing/operators';
import { expectedSearch, type OracleRecord } from '../indexes/query/testing/oracle';
import type { IndexDeclarations, SearchOptions } from '../indexes/types';
import { createRecordStore } from './store';
import type { RecordStore } from './types';

const declared: IndexDeclarations = new Map([
  ['author', 'field'],
  ['total', 'field'],
  ['my-field.2', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
  ['title', 'text'],
]);
const key = { site: 'site', app: 'search' };
const count = 300;
/** Generated searches; `TEST_SEARCHES=2000` is the long run. */
const queries = Number(process.env.TEST_SEARCHES ?? 600);

const generator = new Generator(seeded(20261107), count);
/** Blocks of the records, with texts that a search must tell apart. */
const blocks = ['letter', 'Letter', 'letter.2', undefined] as const;
const records = Array.from({ length: count }, (_, at): OracleRecord => {
  const record = generator.record(at);
  const block = blocks[at % blocks.length];
  return block === undefined ? record : { ...record, items: { ...record.items, block } };
});
const searches = Array.from({ length: queries }, () => generator.search());

const expectations = searches.map((search) => ({
  search,
  expected: expectedSearch(records, declared, search),
  total: expectedSearch(records, declared, { ...search, limit: undefined, offset: undefined }).length,
}));

/** Ids of the records that a search with a creator finds; '' has made none. */
const ownOf = (search: SearchOptions): string[] =>
  search.creator === '' ? [] : expectedSearch(records, declared, search);

const clients = await availableClients();

test('most generated searches find some records, but not all', () => {
  expect(expectations.filter(({ total }) => total > 0 && total < count).length).toBeGreaterThan(queries * 0.5);
});

test.each(Object.keys(operators) as OperatorName[])('generated searches use %s', (name) => {
  expect(expressions.some(({ of }) => of.includes(name))).toBe(true);
});

/** With a small `maxSorted` the same searches walk indexes; with a small `maxWalk`, some walks find too few matches. */
const manners = [{}, { maxSorted: 10 }, { maxSorted: 10, maxWalk: 40 }];

describe.each(clients)('search on %s', (client) => {
  let database: TestDatabase;
  let stores: RecordStore[];

  beforeAll(async () => {
    database = await createTestDatabase(client);
    stores = manners.map((manner) =>
      createRecordStore({ database: database.host, limits: { attempts: 5 }, ...manner, batchSize: 40 }),
    );
    await (stores[0] as RecordStore).createMany(
      key,
      (async function* () {
        yield* records;
      })(),
    );
    await (stores[0] as RecordStore).refresh(key, declared, { rebuild: false });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.destroy()));
    await database.destroy();
  });

  test(`answers ${queries} generated searches like the oracle, by sorting or by walking`, async () => {
    for (const [at, { search, expected, total }] of expectations.entries()) {
      const store = stores[at % stores.length] as RecordStore;
      const result = await store.search(key, declared, { ...search, withTotal: true });
      const ids = result.records.map((record) => record.id);
      expect(ids, JSON.stringify(search)).toEqual(expected);
      expect(result.total, JSON.stringify(search)).toBe(total);
    }
  }, 240_000);

  test('streams the matches of generated searches in order of creation', async () => {
    for (const [at, { query, names }] of searches.slice(0, queries / 4).entries()) {
      const store = stores[at % stores.length] as RecordStore;
      const ids: string[] = [];
      for await (const batch of store.streamMatches(key, declared, { query, names }))
        ids.push(...batch.map(({ id }) => id));
      expect(ids, query).toEqual(expectedSearch(records, declared, { query, names }));
    }
  }, 120_000);

  test('finds the own records of a creator like the oracle, whatever else is asked', async () => {
    for (const [at, asked] of searches.slice(0, queries / 2).entries()) {
      const store = stores[at % stores.length] as RecordStore;
      const search = { ...asked, creator: creators[at % creators.length] ?? 'user:none' };
      const result = await store.search(key, declared, { ...search, withTotal: true });
      expect(
        result.records.map(({ id }) => id),
        JSON.stringify(search),
      ).toEqual(ownOf(search));
      const { query, names, creator } = search;
      const all = ownOf({ query, names, creator });
      expect(result.total, JSON.stringify(search)).toBe(all.length);
      expect(await store.count(key, declared, query, { names, creator })).toBe(all.length);
    }
  }, 240_000);

  test('finds the records of a block like the oracle, whatever else is asked', async () => {
    for (const [at, asked] of searches.slice(0, queries / 5).entries()) {
      const store = stores[at % stores.length] as RecordStore;
      const own = at % 5 === 0 ? { creator: creators[1] ?? 'user:none' } : {};
      const search = { ...asked, ...own, block: [...blocks, 'none'][at % 5] ?? 'letter' };
      const result = await store.search(key, declared, { ...search, withTotal: true });
      expect(
        result.records.map(({ id }) => id),
        JSON.stringify(search),
      ).toEqual(ownOf(search));
      const { query, names, block } = search;
      const all = ownOf({ query, names, block, ...own });
      expect(await store.count(key, declared, query, { names, block, ...own })).toBe(all.length);
    }
  }, 240_000);

  test.each(creators)('lists and streams the own records of %j in order of creation', async (creator) => {
    const only = { creator: creator ?? 'user:none', indexes: declared };
    const expected = ownOf({ creator: only.creator });
    for (const store of stores) {
      const page = await store.page(key, { only, limit: 7, offset: 3 });
      const rest = page.next === undefined ? [] : (await store.page(key, { only, after: page.next })).records;
      expect([...page.records, ...rest].map(({ id }) => id)).toEqual(expected.slice(3));
      const ids: string[] = [];
      for await (const batch of store.stream(key, { only, offset: 2, limit: 90 }))
        ids.push(...batch.map(({ id }) => id));
      expect(ids).toEqual(expected.slice(2, 92));
      const last = await store.search(key, declared, { creator: only.creator, reverse: true, limit: 5 });
      expect(last.records.map(({ id }) => id)).toEqual(expected.slice(-5).reverse());
    }
  });

  test.each([...manners.keys()])(
    'answers them like the oracle after changes (%d)',
    async (manner) => {
      const store = stores[manner] as RecordStore;
      const changed = new Generator(seeded(7 + manner), count);
      const now = new Map<string, OracleRecord>();
      for await (const batch of store.stream(key))
        for (const { id, items, creator } of batch) now.set(id, { id, items, creator });
      const check = async (search: (typeof searches)[number] = {}) => {
        const result = await store.search(key, declared, search);
        const ids = result.records.map((record) => record.id);
        expect(ids, JSON.stringify(search)).toEqual(expectedSearch([...now.values()], declared, search));
      };
      for (const [at, record] of [...now.values()].slice(0, 60).entries()) {
        // From its third time on, a search is the statement that was kept.
        for (let time = 0; time < 3; time += 1) await check(searches[at]);
        await store.transact(async (unit) => {
          if (changed.chance(0.3)) {
            await unit.delete(key, record.id);
            now.delete(record.id);
            return;
          }
          const { items } = changed.record(0);
          await unit.update(key, record.id, { set: items });
          now.set(record.id, { ...record, items: { ...record.items, ...items } });
        });
        await check(searches[at]);
      }
      await store.refresh(key, declared, { rebuild: true });
      for (const search of searches.slice(0, queries / 8)) await check(search);
      for (const search of searches.slice(0, queries / 12)) await check({ ...search, creator: 'user:a' });
      expect(await store.check({ repair: false })).toMatchObject({ wrong: 0, orphanTables: 0 });
    },
    120_000,
  );
});
