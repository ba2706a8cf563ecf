import { beforeAll, describe, expect, test } from 'vitest';
import { availableClients, type TestDatabase } from '../database/testing/databases';
import { declared, from, useStore } from './testing/stores';
import type { AppKey, RecordStore } from './types';

/** Executions after which PostgreSQL may keep one plan for all values. */
const MAX_PLANNED = 5;

const postgres = (await availableClients()).filter((client) => client === 'postgres');
if (postgres.length === 0) test.skip('without PostgreSQL there is nothing to test', () => {});

describe.each(postgres)('searches that come again on %s', (client) => {
  let store: RecordStore;
  let database: TestDatabase;
  let key: AppKey;
  const { newApp } = useStore(client, (opened) => {
    ({ store, database } = opened);
  });

  beforeAll(async () => {
    key = newApp();
    const records = Array.from({ length: 3_000 }, (_, at) => ({
      id: `r${at}`,
      items: { author: `a${at % 50}`, total: at, body: `rare${at % 100} the common words of all` },
      creator: null,
    }));
    await store.createMany(key, from(records));
    await store.refresh(key, declared, { rebuild: false });
    await database.knex.raw('analyze');
  });

  test.each([
    ['a word', '_terms t', (at: number) => `'rare${at}' in body`, undefined],
    [
      'an equal value, in the order of another',
      '_fields f',
      (at: number) => `author == 'a${at % 50}' and total > ${at}`,
      'total',
    ],
    ['a page of a common condition', 'limit 2000', (at: number) => `total != ${at} and total > ${at}`, 'total'],
  ])('%s is planned once for all values', async (_, table, queryOf, sortIndex) => {
    // The first search of each value counts; the second one is the statement that comes again.
    for (let at = 0; at < 40; at += 1)
      for (let time = 0; time < 2; time += 1)
        await store.search(key, declared, { query: queryOf(at), sortIndex, limit: 20 });
    const { rows } = await database.knex.raw(
      `select custom_plans::int as planned, generic_plans::int as kept from pg_prepared_statements
        where statement like ? order by generic_plans + custom_plans desc limit 1`,
      [`%as holds from%${table}%`],
    );
    expect(rows[0].planned).toBeLessThanOrEqual(MAX_PLANNED);
    expect(rows[0].kept).toBeGreaterThan(MAX_PLANNED);
  });
});
