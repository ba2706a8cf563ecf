import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildWorker } from '../../build.mjs';
import { isAppsError } from '../common/errors';
import { createWorkers, type Workers } from '../workers';
import { type Client, dialects, type Row } from './dialects';
import { createLongReads } from './long-reads';
import { availableClients, createTestDatabase, type TestDatabase } from './testing/databases';
import type { LongReads } from './types';

const folder = mkdtempSync(join(tmpdir(), 'apps-long-reads-'));
const path = join(folder, 'worker.js');
beforeAll(() => buildWorker(path));
afterAll(() => rmSync(folder, { recursive: true }));

/** Counts for minutes: in one loop on SQLite, because its outermost one takes the steps; MariaDB bounds such loops. */
const counted: Record<Client, string> = {
  sqlite:
    'with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000000) select count(*) as n from n where ',
  postgres: 'select count(*) as n from numbers a cross join numbers b cross join numbers n where ',
  mysql: 'select count(*) as n from numbers a cross join numbers b cross join numbers n where ',
};
async function fillNumbers({ knex }: TestDatabase): Promise<void> {
  await knex.schema.createTable('numbers', (table) => table.integer('i').primary());
  for (let from = 0; from < 3_000; from += 500)
    await knex('numbers').insert(Array.from({ length: 500 }, (_, at) => ({ i: from + at })));
}
const one = (step: string) => ({ sql: `select ? as one from (select 1) a where ${step}1 = 1`, values: [1] });

/** Milliseconds that a statement may take. */
const time = 400;

describe.each(await availableClients())('long reads on %s', (client) => {
  let database: TestDatabase;
  let workers: Workers | undefined;
  const opened: LongReads[] = [];
  const endless = (step: string) => ({ sql: `${counted[client]}${step}n.i > ?`, values: [0] });

  beforeAll(async () => {
    database = await createTestDatabase(client);
    await fillNumbers(database);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((reads) => reads.destroy()));
  });
  afterAll(() => database?.destroy());

  function readsOf(slots = 2, maxTime = time): LongReads {
    const logger = { error: console.error };
    workers =
      client === 'sqlite'
        ? createWorkers({ path, count: slots, memory: 64, access: { unrestricted: true }, logger })
        : undefined;
    const reads = createLongReads({ database: database.host, time: maxTime, slots, workers });
    opened.push(reads);
    return reads;
  }
  const rows = async (read: Promise<unknown>): Promise<Row[]> => dialects[client].rows(await read);
  const ones = async (reads: LongReads) => (await rows(reads.read(one, undefined, {}))).map((row) => Number(row.one));

  async function refusal(read: Promise<unknown>): Promise<string> {
    const error = await read.then(
      () => new Error('it was answered'),
      (thrown) => thrown,
    );
    if (isAppsError(error, 'ServiceUnavailableError')) return error.message;
    if (dialects[client].classify(error) === 'late') return 'takes too long';
    throw error;
  }

  /** Statements that the server still runs on other connections. */
  async function running(): Promise<number> {
    const asked = {
      sqlite: 'select 0 as n',
      postgres: `select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active'`,
      mysql: `select count(*) as n from information_schema.processlist where db = database() and id <> connection_id() and command = 'Query'`,
    };
    return Number((dialects[client].rows(await database.knex.raw(asked[client])) as Row[])[0]?.n);
  }

  test('a statement that takes too long is ended, and the next one is answered', async () => {
    const reads = readsOf();
    expect(await refusal(reads.read(endless, undefined, {}))).toMatch(/takes too long/);
    await expect.poll(running).toBe(0);
    expect(await ones(reads)).toEqual([1]);
  });

  test.skipIf(client !== 'postgres')('a statement uses one processor of the database', async () => {
    const settings = () => ({
      sql: `select current_setting('jit') as jit, current_setting('max_parallel_workers_per_gather') as workers`,
      values: [],
    });
    expect(await rows(readsOf().read(settings, undefined, {}))).toEqual([{ jit: 'off', workers: '0' }]);
  });

  test('a statement ends when its client disconnects', async () => {
    const reads = readsOf(2, 60_000);
    const controller = new AbortController();
    const refused = refusal(reads.read(endless, undefined, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 300);
    expect(await refused).toMatch(/was ended/);
    await expect.poll(running).toBe(0);
    expect(await ones(reads)).toEqual([1]);
    expect(await refusal(reads.read(one, undefined, { signal: controller.signal }))).toMatch(/was ended/);
  });

  test('a statement ends when the time of the request is over', async () => {
    const reads = readsOf(2, 60_000);
    expect(await refusal(reads.read(endless, undefined, { time: 300 }))).toMatch(/is over|takes too long/);
    await expect.poll(running).toBe(0);
    expect(await ones(reads)).toEqual([1]);
  });

  test('many statements: few run, some wait, the others are refused; short ones are answered meanwhile', async () => {
    const reads = readsOf(1, 1_500);
    const all = Promise.all(Array.from({ length: 12 }, () => refusal(reads.read(endless, undefined, {}))));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await database.knex.raw('select 1');
    expect(await running()).toBeLessThanOrEqual(1);
    const reasons = await all;
    expect(reasons.filter((reason) => /busy/.test(reason)).length).toBeGreaterThanOrEqual(3);
    expect(reasons.filter((reason) => /too long/.test(reason)).length).toBeGreaterThanOrEqual(1);
    expect(await ones(reads)).toEqual([1]);
  });

  test('values and rows are equal beside another statement', async () => {
    const reads = readsOf(2, 5_000);
    const controller = new AbortController();
    const other = refusal(reads.read(endless, undefined, { signal: controller.signal }));
    const bytes = Buffer.from([0, 255, 16]);
    const made = () => ({
      sql: 'select ? as number, case when ? = ? then 1 else 0 end as same, ? as text',
      values: [7, bytes, bytes, 'é\n"'],
    });
    const cast = { sqlite: made(), postgres: made(), mysql: made() }[client];
    if (client === 'postgres')
      cast.sql = 'select ?::int as number, case when ?::bytea = ?::bytea then 1 else 0 end as same, ?::text as text';
    const [row] = await rows(reads.read(() => cast, undefined, {}));
    expect({ ...row, number: Number(row?.number), same: Number(row?.same) }).toEqual({
      number: 7,
      same: 1,
      text: 'é\n"',
    });
    controller.abort();
    await other;
  });

  test('a statement in a transaction is ended too, and later ones have no limit', async () => {
    const reads = readsOf(2, 300);
    await expect(
      database.host.transaction(async (trx) => {
        expect(await refusal(reads.read(endless, trx, {}))).toMatch(/takes too long/);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await database.host.transaction(async (trx) => {
      expect((await rows(reads.read(one, trx, {}))).length).toBe(1);
      const limit = {
        sqlite: 'select 0 as n',
        postgres: 'show statement_timeout',
        mysql: 'select @@max_statement_time as n',
      };
      const [row] = dialects[client].rows(await trx.raw(limit[client]));
      expect(Number(Object.values(row ?? {})[0])).toBe(0);
    });
  });

  test('an error of the database is the same', async () => {
    const reads = readsOf();
    const error = await reads.read(() => ({ sql: 'select * from nowhere', values: [] }), undefined, {}).catch((e) => e);
    expect(dialects[client].classify(error as Error)).toBe('missing-table');
  });
});

test('without a write-ahead log SQLite is read on the one connection, for a short time at most', async () => {
  const database = await createTestDatabase('sqlite');
  const workers = createWorkers({
    path,
    count: 1,
    memory: 64,
    access: { unrestricted: true },
    logger: { error: console.error },
  });
  try {
    await database.knex.raw('pragma journal_mode = delete');
    expect(database.host.readConnection?.()).toBeUndefined();
    const reads = createLongReads({ database: database.host, time: 60_000, slots: 1, workers });
    const endless = (step: string) => ({ sql: `${counted.sqlite}${step}n.i > ?`, values: [0] });
    const begin = performance.now();
    await expect(reads.read(endless, undefined, {})).rejects.toThrow(/takes too long/);
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(await reads.read(one, undefined, {})).toEqual([{ one: 1 }]);
    await reads.destroy();
  } finally {
    await database.destroy();
  }
});
