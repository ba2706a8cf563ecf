import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommitFailed, createCommitMarks } from './commit-marks';
import { dialects } from './dialects';
import { createSql } from './sql';
import { availableClients, connect, createTestDatabase, type TestDatabase } from './testing/databases';
import type { Reader } from './types';

const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});

const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

describe.skipIf(servers.length === 0).each(servers)('commits on %s whose answer is lost', (client) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(client);
    await database.knex.schema.createTable('kept', (table) => table.string('name'));
  });
  afterAll(() => database.destroy());

  const dialect = dialects[client];
  const kept = async (name: string) => (await database.knex('kept').where({ name })).length;

  /** Writes a row in a transaction of which `end` is the COMMIT: it gets the transaction, and what ends it really. */
  const write = async (
    name: string,
    end: (commit: () => Promise<unknown>, rollback: () => Promise<unknown>) => Promise<void>,
    { time, failures = 0 }: { time?: number; failures?: number } = {},
  ) => {
    let left = failures;
    const reader: Reader = {
      raw: async (sql, values) => {
        left -= 1;
        if (left >= 0) throw lost;
        return database.knex.raw(sql, values as never);
      },
    };
    const marks = createCommitMarks(
      () => (left > 0 ? reader : database.knex),
      dialect,
      time === undefined ? {} : { time },
    );
    await marks.prepare().catch(() => undefined);
    left = 0;
    const transact = marks.certain(async (work) => {
      const trx = await database.knex.transaction();
      const result = await work(trx).catch(async (error) => {
        await trx.rollback();
        throw error;
      });
      left = failures;
      await end(
        () => trx.commit(),
        () => trx.rollback(),
      ).catch((error) => {
        throw new CommitFailed(error);
      });
      return result;
    });
    return transact(async (trx) => {
      await createSql(trx, dialect).change('insert into kept (name) values (?)', [name]);
      return `wrote ${name}`;
    });
  };

  const later = (work: () => Promise<unknown>) => setTimeout(() => void work(), 300);

  test.each<[string, string, Parameters<typeof write>[1], { failures: number }?]>([
    [
      'arrived',
      'before',
      async (commit) => {
        await commit();
        throw lost;
      },
    ],
    [
      'is carried out while it is looked up',
      'while',
      async (commit) => {
        later(commit);
        throw lost;
      },
    ],
    [
      'was carried out by a server that is away for some time',
      'away',
      async (commit) => {
        await commit();
        throw lost;
      },
      { failures: 5 },
    ],
  ])('one whose COMMIT %s resolves', async (_what, name, end, options) => {
    expect(await write(name, end, options)).toBe(`wrote ${name}`);
    expect(await kept(name)).toBe(1);
  });

  test.each<[string, string, Parameters<typeof write>[1]]>([
    [
      'never arrived',
      'never',
      async (_, rollback) => {
        await rollback();
        throw lost;
      },
    ],
    [
      'never arrives, and whose session ends later',
      'ends',
      async (_, rollback) => {
        later(rollback);
        throw lost;
      },
    ],
  ])('one whose COMMIT %s rejects with the error of the driver', async (_what, name, end) => {
    await expect(write(name, end)).rejects.toBe(lost);
    expect(await kept(name)).toBe(0);
  });

  test('one of which the database says nothing in time has an unknown outcome', async () => {
    let end: () => Promise<unknown> = async () => {};
    const written = write(
      'unknown',
      async (commit) => {
        end = commit;
        throw lost;
      },
      { time: 200 },
    );
    await expect(written).rejects.toMatchObject({ name: 'OutcomeUnknownError', status: 503, headers: {}, cause: lost });
    await end();
    expect(await kept('unknown')).toBe(1);
  });

  test('a transaction that fails before its COMMIT, and one that is taken for another, are not looked up', async () => {
    const marks = createCommitMarks(() => database.knex, dialect);
    const refused = new Error('refused');
    const transact = marks.certain((work) => database.knex.transaction(work));
    await expect(
      transact(async () => {
        throw refused;
      }),
    ).rejects.toBe(refused);
    const processes = new Set<string>();
    for (let time = 0; time < 3; time += 1)
      await transact(async (trx) => void processes.add(String(marks.of(trx)?.process)));
    expect(processes.size).toBe(1);
    expect(marks.of(database.knex)).toBeUndefined();
  });

  test('a count that a savepoint has undone is no mark', async () => {
    const other = connect(database.address);
    const marks = createCommitMarks(() => other, dialect);
    const transact = marks.certain(async (work) => {
      const trx = await database.knex.transaction();
      const result = await work(trx);
      await trx.commit();
      throw new CommitFailed(Object.assign(lost, { result }));
    });
    try {
      const done = await transact(async (trx) => {
        const sql = createSql(trx, dialect);
        await sql.change('savepoint one');
        const mark = marks.of(trx);
        await sql.insert(
          'apps_commit_counts',
          ['scope', 'process', 'commits', 'at'],
          [['*', mark?.process, mark?.number, 0]],
        );
        await sql.change('rollback to savepoint one');
        return 'done';
      });
      expect(done).toBe('done');
    } finally {
      await other.destroy();
    }
  });
});
