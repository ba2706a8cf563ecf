import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { availableClients, type TestDatabase } from '../database/testing/databases';
import { declared, from, useStore } from './testing/stores';
import type { AppKey, RecordStore } from './types';

const count = 6_000;

/** Half of the records are by `many`, one of eighteen by `some`. */
const authorOf = (at: number) => (at % 2 ? 'many' : at % 9 ? 'other' : 'some');

describe.each(await availableClients())('a page of a search on %s', (client) => {
  let store: RecordStore;
  let database: TestDatabase;
  let key: AppKey;
  let statements: string[] = [];
  const { newApp } = useStore(client, (opened) => {
    ({ store, database } = opened);
  });

  beforeAll(async () => {
    key = newApp();
    const records = Array.from({ length: count }, (_, at) => ({
      id: `r${at}`,
      items: { author: authorOf(at), total: at, tags: at < 600 ? ['first'] : [] },
      creator: null,
    }));
    await store.createMany(key, from(records));
    await store.refresh(key, declared, { rebuild: false });
    // What is known of the app's indexes is read at the first search.
    await store.search(key, declared, { query: 'total == 1', limit: 1 });
    database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
  }, 60_000);
  beforeEach(() => {
    statements = [];
  });

  const idsOf = (ats: readonly number[]) => ats.map((at) => `r${at}`);
  const all = Array.from({ length: count }, (_, at) => at);
  const many = all.filter((at) => authorOf(at) === 'many');

  const counts = 'counts';
  const walk = 'walk';
  const sort = 'sort';
  const kindOf = (sql: string) => (!sql.startsWith('select r.') ? counts : / limit 2000\)/.test(sql) ? walk : sort);

  test.each<
    [string, { query: string; sortIndex?: string; reverse?: boolean; offset?: number }, number[], string[], string[]]
  >([
    [
      'that many records match is the beginning of a walk',
      { query: "author == 'many' and total > 100", sortIndex: 'total' },
      many.filter((at) => at > 100),
      [counts, walk],
      [walk],
    ],
    [
      'is walked backwards',
      { query: "author == 'many' and total > 102", sortIndex: 'total', reverse: true },
      [...many].reverse(),
      [counts, walk],
      [walk],
    ],
    [
      'is walked in order of creation',
      { query: "author == 'many' and total != 1" },
      many.slice(1),
      [counts, walk],
      [walk],
    ],
    [
      'with a negation needs no number',
      { query: "author != 'some'" },
      all.filter((at) => at % 18),
      [counts, walk],
      [walk],
    ],
    [
      'whose matches are far from its beginning is sorted after one walk',
      { query: "'first' in tags and total >= 0", sortIndex: 'total', reverse: true },
      all.slice(0, 600).reverse(),
      [counts, walk, counts, sort],
      [sort],
    ],
    [
      'that ends among equal keys is not taken from a walk backwards',
      { query: "author != 'none'", sortIndex: 'author', reverse: true, offset: 330 },
      ['some', 'other'].flatMap((author) => all.filter((at) => authorOf(at) === author)).slice(330),
      [counts, walk, sort],
      [sort],
    ],
    [
      'of few matches is sorted',
      { query: "'first' in tags and total < 30", sortIndex: 'total' },
      all.slice(0, 30),
      [counts, sort],
      [sort],
    ],
  ])('%s', async (_title, search, matches, first, again) => {
    const page = async () => {
      statements = [];
      const { records } = await store.search(key, declared, { ...search, limit: 20 });
      expect(records.map(({ id }) => id)).toEqual(idsOf(matches.slice(0, 20)));
      return statements.map(kindOf);
    };
    expect(await page()).toEqual(first);
    expect(await page()).toEqual(again);
    expect(await page()).toEqual(again);
  });
});
