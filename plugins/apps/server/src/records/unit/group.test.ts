import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AppsError, unavailable } from '../../common/errors';
import { availableClients, createTestDatabase, hostOf, type TestDatabase } from '../../database/testing/databases';
import type { IndexDeclarations } from '../../indexes/types';
import { createRecordStore } from '../store';
import type { RecordStore, UnitOfWork } from '../types';

const declared: IndexDeclarations = new Map([['total', 'field']]);
const clients = await availableClients();

describe.each(clients)('works on one record on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let commits = 0;
  let apps = 0;
  let key = { site: 'site', app: '' };
  let about = { key, id: 'a' };

  const add = (unit: UnitOfWork, by = 1) => unit.update(key, 'a', { inc: { total: by } });
  const record = () => store.get(key, 'a');
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Runs all works concurrently, behind one that locks the record until they have arrived. */
  const together = (works: ((unit: UnitOfWork) => Promise<unknown>)[]) => {
    const busy = store.transact(() => pause(5), about).catch(() => undefined);
    return Promise.all([busy, Promise.allSettled(works.map((work) => store.transact(work, about)))]).then(
      ([, results]) => results,
    );
  };

  beforeAll(async () => {
    database = await createTestDatabase(client);
    database.knex.on('query', ({ sql }: { sql: string }) => {
      if (/^commit/i.test(sql)) commits += 1;
    });
    store = createRecordStore({ database: database.host, limits: { attempts: 10 } });
  }, 30_000);
  beforeEach(async () => {
    key = { site: 'site', app: `app${++apps}` };
    about = { key, id: 'a' };
    await store.transact((unit) => unit.create(key, { id: 'a', items: { total: 0 }, creator: null }));
    commits = 0;
  });
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });

  test('are all committed, each with its own version, in few commits', async () => {
    const before = (await record())?.version as number;
    // A group ends after some milliseconds, which pass at once on a busy machine.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const results = await together(Array.from({ length: 50 }, () => (unit) => add(unit)));
    clock.mockRestore();
    const versions = results.map((result) => result.status === 'fulfilled' && result.value);
    expect(versions).toEqual(
      Array.from({ length: 50 }, (_, at) => expect.objectContaining({ version: before + 1 + at })),
    );
    expect(await record()).toMatchObject({ items: { total: 50 }, version: before + 50 });
    expect(await store.count(key, declared, 'total == 50')).toBe(1);
    expect(commits).toBeLessThan(10);
  });

  test('a work that fails is undone, and the others are not affected', async () => {
    const fails = async (unit: UnitOfWork) => {
      await add(unit, 1000);
      await unit.create(key, { id: 'b', items: {}, creator: null });
      unit.afterCommit(() => void effects.push('failed'));
      throw new AppsError('BadRequestError', 'no');
    };
    const effects: string[] = [];
    const works = (unit: UnitOfWork) => {
      unit.afterCommit(() => void effects.push('done'));
      return add(unit);
    };
    const results = await together([works, fails, works, fails, works]);
    expect(results.map((result) => (result.status === 'rejected' ? result.reason.message : ''))).toEqual([
      '',
      'no',
      '',
      'no',
      '',
    ]);
    expect((await record())?.items).toEqual({ total: 3 });
    expect(await store.get(key, 'b')).toBeNull();
    expect(effects).toEqual(['done', 'done', 'done']);
  });

  test.each<[what: string, reason: Error, others: string]>([
    ['one that the sandbox refuses', unavailable('The sandbox is busy', 1), ''],
    [
      'one that meets a lost database',
      unavailable('No database', 1, { cause: { code: 'ECONNREFUSED' } }),
      'No database',
    ],
  ])('a 503 after a second, of %s', async (_, reason, others) => {
    let time = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
    const works = (unit: UnitOfWork) => add(unit);
    const fails = async () => {
      time += 2_000;
      throw reason;
    };
    const results = await together([works, fails, works, works]).finally(() => clock.mockRestore());
    const messages = results.map((result) => (result.status === 'rejected' ? result.reason.message : ''));
    expect(messages).toEqual([others, reason.message, others, others]);
  });

  // A group is committed early where its first work takes long, as on a busy machine.
  test('each sees the writes of those before it, and no other unit does before the commit', { retry: 2 }, async () => {
    const seen: unknown[] = [];
    await together([
      (unit) => add(unit),
      async (unit) => {
        seen.push((await unit.get(key, 'a'))?.items.total);
        await unit.delete(key, 'a');
        seen.push((await record())?.items.total);
      },
      async (unit) => seen.push(await unit.get(key, 'a')),
      (unit) => unit.create(key, { id: 'a', items: { total: 7 }, creator: null }),
    ]);
    expect(seen).toEqual([1, 0, null]);
    expect((await record())?.items).toEqual({ total: 7 });
    expect(await store.count(key, declared, 'total == 7')).toBe(1);
  });

  test('one that opens a transaction is undone alone when it fails', async () => {
    const results = await together([
      (unit) => add(unit),
      async (unit) => {
        await add(unit, 1000);
        await unit.count(key, declared, 'total > 0');
        throw new Error('no');
      },
      (unit) => add(unit),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await record())?.items).toEqual({ total: 2 });
  });

  test('calls of a work after its end have no effect', async () => {
    let late: UnitOfWork | undefined;
    const refused: unknown[] = [];
    await together([
      async (unit) => {
        late = unit;
      },
      async (unit) => {
        await Promise.resolve()
          .then(() => late && add(late, 1000))
          .catch((error: Error) => refused.push(error.message));
        await add(unit);
      },
    ]);
    expect(refused).toEqual(['the unit of work has ended']);
    expect((await record())?.items).toEqual({ total: 1 });
  });

  test('a work that fails while its call waits for the database leaves nothing, and the others are committed', async () => {
    const results = await together([
      async (unit) => {
        void unit.inTransaction(() => pause(20)).catch(() => undefined);
        void unit.create(key, { id: 'late', items: {}, creator: null }).catch(() => undefined);
        throw new Error('its time is over');
      },
      (unit) => add(unit),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect([await store.get(key, 'late'), (await record())?.items]).toEqual([null, { total: 1 }]);
  });

  test('works and effects run in the context of their caller', async () => {
    const context = new AsyncLocalStorage<number>();
    const seen: unknown[] = [];
    const work = async (unit: UnitOfWork) => {
      seen.push(context.getStore());
      unit.afterCommit(() => void seen.push(context.getStore()));
      await add(unit);
    };
    await Promise.all([1, 2].map((asker) => context.run(asker, () => store.transact(work, about))));
    expect(seen.sort()).toEqual([1, 1, 2, 2]);
  });

  test('an effect may write the same record', async () => {
    await store.transact(async (unit) => {
      await add(unit);
      unit.afterCommit(async () => {
        await store.transact((second) => add(second), about);
      });
    }, about);
    expect((await record())?.items).toEqual({ total: 2 });
  });

  test('two processes that write it constantly lose nothing', async () => {
    const other = createRecordStore({ database: hostOf(database.knex, client), limits: { attempts: 50 } });
    const mine = createRecordStore({ database: database.host, limits: { attempts: 50 } });
    const likes = Array.from({ length: 100 }, async (_, at) => {
      await pause(at % 10);
      await (at % 2 ? other : mine).transact((unit) => add(unit), about);
    });
    await Promise.all(likes);
    expect((await record())?.items).toEqual({ total: 100 });
  }, 20_000);
});
