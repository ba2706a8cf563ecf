import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLog, type SqliteTransactions, sqliteTransactions } from './sqlite';
import { connect, createTestDatabase, type TestDatabase } from './testing/databases';

let database: TestDatabase;
let knex: Knex;
let write: SqliteTransactions['write'];

beforeAll(async () => {
  database = await createTestDatabase('sqlite', { table: false });
  knex = database.knex;
  ({ write } = sqliteTransactions(() => knex, createLog(undefined)));
  await knex.raw('create table t (a integer primary key, b)');
});
beforeEach(() => knex('t').del());
afterAll(() => database.destroy());

const rows = () => knex('t').orderBy('a');

test('dates, booleans and bytes are stored as Knex stores them', async () => {
  const values = [new Date(5), true, Buffer.from([1]), null, 'text', 1.5];
  for (const [at, value] of values.entries()) await knex.raw('insert into t values (?, ?)', [at, value]);
  const expected = await rows();
  await knex('t').del();
  await write(async (connection) => {
    for (const [at, value] of values.entries()) await connection.raw('insert into t values (?, ?)', [at, value]);
  });
  expect(await rows()).toEqual(expected);
});

test('a failure undoes all and frees the connection', async () => {
  const failing = write(async (connection) => {
    await connection.raw('insert into t values (1, 1)', []);
    await connection.raw('insert into t values (1, 2)', []);
  });
  await expect(failing).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  expect(await rows()).toEqual([]);
});

test('transactions of one process follow each other, and those of Knex too', async () => {
  const add = async (a: number) => {
    const work = async (connection: Pick<Knex, 'raw'>) => {
      const [{ n }] = (await connection.raw('select count(*) as n from t', [])) as [{ n: number }];
      await new Promise((resolve) => setTimeout(resolve, 1));
      await connection.raw('insert into t values (?, ?)', [a, n]);
    };
    return a % 2 ? write((connection) => work(connection as Knex)) : knex.transaction(work);
  };
  await Promise.all(Array.from({ length: 20 }, (_, a) => add(a)));
  expect((await rows()).map(({ b }: { b: number }) => b).sort((x: number, y: number) => x - y)).toEqual([
    ...Array(20).keys(),
  ]);
});

test('while another process writes, it waits without blocking the thread, and then fails as busy', async () => {
  const other = connect(database.address);
  const lock = await other.transaction();
  await lock.raw('insert into t values (100, 0)');
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  const waiting = write(async (connection) => connection.raw('insert into t values (1, 1)', []));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await lock.commit();
  await waiting;
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
  expect(await rows()).toHaveLength(2);

  await knex.raw('pragma busy_timeout = 50');
  const second = await other.transaction();
  await second.raw('insert into t values (101, 0)');
  await expect(write(async (connection) => connection.raw('delete from t', []))).rejects.toMatchObject({
    code: 'SQLITE_BUSY',
  });
  await second.rollback();
  await other.destroy();
  expect(await knex.raw('pragma busy_timeout')).toEqual([{ timeout: 50 }]);
});
