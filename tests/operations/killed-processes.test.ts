import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRecordStore } from '../../plugins/apps/server/src/records';
import { availableClients, type RecordStore, type StoreProcess, settled, startStore } from '../support/databases';
import { useDatabase } from '../support/hooks';

/** Records that one search gives, at most. */
const MAX_PAGE = 10_000;

const seconds = Number(process.env.TEST_APPEND_SECONDS ?? 3);
const declared = [
  ['author', 'field'],
  ['total', 'field'],
  ['body', 'text'],
] as [string, 'field' | 'text'][];
const key = (app: string) => ({ site: 'site', app });
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe.each(await availableClients())('killed processes on %s', (client) => {
  // The next process recovers a SQLite file; a database server itself undoes what a lost connection has not committed.
  const points = Number(process.env.TEST_KILL_POINTS ?? (client === 'sqlite' ? 5 : 3));
  const database = useDatabase(client, { table: true });
  let store: RecordStore;
  const running: StoreProcess[] = [];
  const start = async () => {
    const process = await startStore(database().address);
    running.push(process);
    return process;
  };

  beforeAll(async () => {
    store = createRecordStore({ database: database().host, limits: { attempts: 10 }, timeout: 60_000 });
    await store.count(key('warm'), new Map(declared), 'total == 1');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((process) => process.kill()));
  });
  afterAll(() => store?.destroy());

  /** Every record is in the indexes with its present items, and nothing else is. */
  const indexesAgree = async (app: string) => {
    const indexes = new Map(declared);
    const expected: Record<string, string[]> = {};
    let records = 0;
    for await (const batch of store.stream(key(app))) {
      for (const { id, items } of batch) {
        records += 1;
        for (const query of [`author == '${items.author}'`, `'${items.body}' in body`]) {
          expected[query] = [...(expected[query] ?? []), id];
        }
      }
    }
    for (const [query, ids] of Object.entries(expected)) {
      const found: string[] = [];
      for (let full = true; full; ) {
        const { records: page } = await store.search(key(app), indexes, { query, offset: found.length });
        found.push(...page.map(({ id }) => id));
        full = page.length === MAX_PAGE;
      }
      expect(found, query).toEqual(ids);
    }
    expect(await store.count(key(app), indexes, 'total >= 0 or total < 0')).toBe(records);
    return records;
  };

  test(`a bulk creation that is killed at ${points} points is all or nothing`, async () => {
    const size = 3_000;
    const app = 'bulk';
    await store.count(key(app), new Map(declared), 'total == 1');
    let length = 0;
    let whole = 0;
    // The first one ends: its duration is the time over which the kills are spread.
    for (let point = 0; point <= points; point++) {
      const process = await start();
      const began = performance.now();
      const bulk = process.run(
        ({ store }, key, size, point) => {
          const records = async function* () {
            for (let at = 0; at < size; at++) {
              const items = { author: `a${at % 3}`, total: at, body: `word${at % 5}`, point };
              yield { id: `${point}-${at}`, items, creator: null };
            }
          };
          return store.createMany(key, records());
        },
        key(app),
        size,
        point,
      );
      const acknowledged = bulk.then(
        () => true,
        () => false,
      );
      if (point === 0) {
        expect(await bulk).toBe(size);
        length = performance.now() - began;
      } else await Promise.race([pause((length * point) / points), acknowledged]);
      await process.kill();
      await settled(database());
      const promised = await acknowledged;
      const [first, last] = [
        await store.get(key(app), `${point}-0`),
        await store.get(key(app), `${point}-${size - 1}`),
      ];
      expect([first === null, last === null]).toEqual(last === null ? [true, true] : [false, false]);
      if (promised) expect(last).not.toBeNull();
      if (last) whole += 1;
      expect(await store.count(key(app), new Map())).toBe(whole * size);
    }
    expect(await indexesAgree(app)).toBe(whole * size);
    // On SQLite the killed processes have left invisible records, which are deleted after a while.
    const stored = async () => Number((await database().knex('apps_records').where({ app }).count({ n: '*' }))[0]?.n);
    await expect.poll(stored, { timeout: 60_000, interval: 500 }).toBe(whole * size);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 240_000);

  test(`a re-index that is killed at ${points} points leaves right answers, and no tables behind`, async () => {
    const app = 'reindex';
    const records = async function* () {
      for (let at = 0; at < 3_000; at++)
        yield { id: `r${at}`, items: { author: `a${at % 3}`, total: at, body: `word${at % 5}` }, creator: null };
    };
    await store.createMany(key(app), records());
    let length = 0;
    for (let point = 0; point <= points; point++) {
      const process = await start();
      const began = performance.now();
      const refreshed = process.run(
        ({ store }, key, indexes, rebuild) => store.refresh(key, new Map(indexes), { rebuild }),
        key(app),
        declared,
        point % 2 === 1,
      );
      const ended = refreshed.then(
        () => undefined,
        () => undefined,
      );
      if (point === 0) {
        await refreshed;
        length = performance.now() - began;
      } else await Promise.race([pause((length * point) / points), ended]);
      await process.kill();
      // A writer continues as before.
      await store.transact((unit) => unit.update(key(app), `r${point}`, { set: { author: 'changed', total: -point } }));
      if (point % 5 === 0) expect(await indexesAgree(app)).toBe(3_000);
    }
    expect(await indexesAgree(app)).toBe(3_000);
    await store.refresh(key(app), new Map(declared), { rebuild: false });
    expect(await store.progress(key(app))).toBeNull();
    expect(await store.check({ repair: true })).toMatchObject({ wrong: 0 });
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0, orphanTables: 0 });
    expect(await indexesAgree(app)).toBe(3_000);
  }, 240_000);

  test(`two processes append to one list for ${seconds} s: nothing lost, nothing out of order`, async () => {
    const app = key('append');
    await store.transact((unit) => unit.create(app, { id: 'list', items: { list: [] }, creator: null }));
    const append = async (name: string) =>
      (await start()).run(
        async ({ store }, app, name, until) => {
          let at = 0;
          const one = async () => {
            const mine = at++;
            await store.transact(async (unit) => {
              const record = await unit.get(app, 'list');
              const list = record?.items.list as string[];
              await unit.update(app, 'list', { set: { list: [...list, `${name} ${mine}`] } });
            });
            return mine;
          };
          const done: number[] = [];
          while (Date.now() < until) done.push(await one());
          return done;
        },
        app,
        name,
        Date.now() + seconds * 1_000,
      );
    const [a, b] = await Promise.all([append('a'), append('b')]);
    const record = await store.get(app, 'list');
    const list = record?.items.list as string[];
    for (const [name, done] of [
      ['a', a],
      ['b', b],
    ] as const) {
      expect(done?.length).toBeGreaterThan(5);
      expect(list.filter((entry) => entry.startsWith(name))).toEqual(done?.map((at) => `${name} ${at}`));
    }
    expect(list).toHaveLength((a?.length ?? 0) + (b?.length ?? 0));
  }, 120_000);
});
