import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import type { NewRecord, RecordStore } from './types';

const declared: IndexDeclarations = new Map([
  ['total', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
]);
const key = { site: 'site', app: 'checked' };
const size = 1_203;

describe.each(await availableClients())('check of the indexes on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let fields: string;

  beforeAll(async () => {
    database = await createTestDatabase(client);
    store = createRecordStore({ database: database.host, limits: { attempts: 3 }, timeout: 30_000 });
    const records = async function* (): AsyncIterable<NewRecord> {
      for (let at = 0; at < size; at++) {
        const items = { total: at, tags: ['a', `t${at % 7}`], body: `Hello w${at % 5} w${at % 5}` };
        yield { id: `r${at}`, items, creator: null };
      }
    };
    await store.createMany(key, records());
    await store.refresh(key, declared, { rebuild: false });
    const [row] = await database.knex('apps_index_states').select('state');
    fields = `apps_index_${JSON.parse(row.state)[0].id}_fields`;
  }, 60_000);
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });

  const check = (repair = false) => store.check({ repair });
  const whole = { records: size, wrong: 0, orphanTables: 0 };

  test('finds nothing wrong after a build, and after writes', async () => {
    expect(await check()).toEqual(whole);
    await store.transact((unit) => unit.update(key, 'r5', { set: { total: -1, body: 'Other', tags: [] } }));
    await store.transact((unit) => unit.delete(key, 'r6'));
    await store.transact((unit) => unit.create(key, { id: 'r6', items: { total: 'x' }, creator: null }));
    expect(await check()).toEqual(whole);
  });

  const seq = (id: string) => database.knex('apps_records').where('identifier', id).first('id');
  const other = (part: string) => fields.replace('fields', part);
  const damages: [string, () => Promise<unknown>, object][] = [
    [
      'a missing row',
      async () =>
        database
          .knex(fields)
          .where('record', (await seq('r700')).id)
          .delete(),
      { wrong: 1 },
    ],
    [
      'a row with another value',
      async () =>
        database
          .knex(other('terms'))
          .where('record', (await seq('r701')).id)
          .update('weight', 7),
      { wrong: 1 },
    ],
    [
      'rows of a deleted record',
      () => database.knex('apps_records').where('identifier', 'r702').delete(),
      { wrong: 1, records: size - 1 },
    ],
    [
      'a record written by other code',
      () => database.knex('apps_records').where('identifier', 'r703').update('items', '{"total":5000}'),
      { wrong: 1, records: size - 1 },
    ],
    [
      'tables that no state names',
      () =>
        database.knex.schema.createTable('apps_index_0123456789abcdef_fields', (table) => void table.integer('record')),
      { orphanTables: 1, records: size - 1 },
    ],
  ];

  test.each(damages)('finds and repairs %s', async (_, damage, found) => {
    await damage();
    expect(await check()).toEqual({ ...whole, ...found });
    expect(await check(true)).toEqual({ ...whole, ...found });
    expect(await check()).toEqual({ ...whole, ...found, wrong: 0, orphanTables: 0 });
  });
});
