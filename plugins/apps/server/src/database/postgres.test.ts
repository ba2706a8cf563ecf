import { expect, test } from 'vitest';
import { postgresStatements } from './postgres';
import { availableClients, createTestDatabase, type TestDatabase } from './testing/databases';

const available = (await availableClients()).includes('postgres');

interface Result {
  rows: Record<string, unknown>[];
}

test.runIf(available)('statements on PostgreSQL', async () => {
  const database = await createTestDatabase('postgres', { table: false });
  try {
    await everything(database);
  } finally {
    await database.destroy();
  }
});

async function everything({ knex }: TestDatabase): Promise<void> {
  const { reader, write } = postgresStatements(
    () => knex,
    async () => false,
  );
  const rows = async (sql: string, values: unknown[] = []) => ((await reader.raw(sql, values)) as Result).rows;
  const prepared = async () =>
    (await rows("select count(*)::int as n from pg_prepared_statements where name like 'apps%'"))[0]?.n;
  await knex.raw('create table t (a integer primary key, b text)');

  // One that comes again is prepared, on each connection.
  for (const a of [1, 2, 3]) await rows('insert into t values (?, ?)', [a, `b${a}`]);
  expect(await rows('select a from t where b = ? or b = ? order by a', ['b1', 'b3'])).toEqual([{ a: 1 }, { a: 3 }]);

  // Statements that come again only after many others are not prepared, and displace none.
  await write(async (connection) => {
    for (const _ of [1, 2]) await connection.raw('select 1 + ? as hot', [1]);
    for (const _ of [1, 2, 3])
      for (let at = 0; at < 150; at += 1) await connection.raw(`select ${at} + ? as cold`, [1]);
    const { rows: found } = (await connection.raw(
      "select statement from pg_prepared_statements where statement like '%hot' or statement like '%cold'",
      [],
    )) as Result;
    expect(found).toEqual([{ statement: 'select 1 + $1 as hot' }]);
  });

  // A connection keeps some statements; the others are forgotten on both sides.
  await write(async (connection) => {
    for (let at = 0; at < 300; at += 1)
      for (let again = 0; again < 2; again += 1) await connection.raw(`select ${at} + ? as n`, [1]);
    const { rows: found } = (await connection.raw(
      "select count(*)::int as n from pg_prepared_statements where name like 'apps%'",
      [],
    )) as Result;
    expect(found[0]?.n).toBeGreaterThan(50);
    expect(found[0]?.n).toBeLessThanOrEqual(100);
  });

  // A statement that PostgreSQL refuses undoes the transaction, and the connection stays usable.
  const failing = write(async (connection) => {
    await connection.raw('insert into t values (?, ?)', [10, 'x']);
    await connection.raw('insert into t values (?, ?)', [1, 'x']);
  });
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  const swallowed = write(async (connection) => {
    await connection.raw('insert into t values (?, ?)', [11, 'x']);
    await Promise.resolve(connection.raw('select missing', [])).catch(() => undefined);
  });
  await expect(swallowed).rejects.toThrow('rolled back');
  expect(await rows('select a from t where a > ?', [9])).toEqual([]);

  // Columns that change, and a pooler that has moved the connection.
  for (const _ of [1, 2, 3]) await rows('select * from t where a = ?', [1]);
  await knex.raw('alter table t add column c integer');
  expect(await rows('select * from t where a = ?', [1])).toEqual([{ a: 1, b: 'b1', c: null }]);
  for (const _ of [1, 2, 3]) await rows('select * from t where a = ?', [1]);
  expect(await prepared()).toBeGreaterThan(0);
  await knex.raw('deallocate all');
  expect(await rows('select * from t where a = ?', [2])).toEqual([{ a: 2, b: 'b2', c: null }]);
  for (const _ of [1, 2, 3]) await rows('select b from t where a = ?', [3]);
  expect(await prepared()).toBe(0);
}
