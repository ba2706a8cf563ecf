import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HostDatabase } from '../../database';
import { availableClients, connect, hostOf, type TestDatabase } from '../../database/testing/databases';
import { createRecordStore } from '../store';
import { declared, useStore } from '../testing/stores';
import type { AppKey, Items, RecordStore, UnitOfWork } from '../types';

/** Histories of each database. `TEST_HISTORIES=10000` looks longer. */
const histories = Number(process.env.TEST_HISTORIES ?? 25);
const seed = Number(process.env.TEST_HISTORIES_SEED ?? Date.now() % 1_000_000);

/** Random numbers that a seed repeats. */
function randomOf(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

type State = Map<string, Items>;

/** What both the store and the model of a serial execution do. */
interface Records {
  get(id: string): Promise<Items | null>;
  count(query: Query): Promise<number>;
  search(query: Query): Promise<string[]>;
  create(id: string, items: Items): Promise<void>;
  update(id: string, items: Items): Promise<void>;
  delete(id: string): Promise<void>;
  /** Changes content of the host, in a transaction that stays open. */
  content(): Promise<void>;
}

interface Query {
  text: string | undefined;
  matches(items: Items): boolean;
}

const all: Query = { text: undefined, matches: () => true };
const queries: Query[] = [
  all,
  ...[0, 1, 2].map((total) => ({ text: `total == ${total}`, matches: (items: Items) => items.total === total })),
  { text: 'total > 0', matches: ({ total }) => Number(total) > 0 },
  { text: "author == 'ann'", matches: ({ author }) => author === 'ann' },
  { text: "'x' in tags and total != 1", matches: ({ tags, total }) => (tags as string[]).includes('x') && total !== 1 },
  { text: "'long text' in body", matches: ({ body }) => String(body) !== '' },
];
const ids = ['a', 'b', 'c', 'd'];

/** One step of a program; what it writes depends on the sum of what was read before. */
type Step = (records: Records, sum: number) => Promise<unknown>;

function randomItems(random: (below: number) => number, sum: number): Items {
  return {
    total: (sum + random(3)) % 3,
    author: ['ann', 'ben'][(sum + random(2)) % 2] as string,
    tags: [['x'], ['y'], ['x', 'y']][random(3)] as string[],
    body: ['a long text', 'text long', ''][random(3)] as string,
  };
}

function randomStep(random: (below: number) => number, own: string, hasContent: boolean): Step {
  const id = ids[random(ids.length)] as string;
  const query = queries[random(queries.length)] as Query;
  const entropy = random(1_000_000);
  const items = (sum: number) => randomItems(randomOf(entropy), sum);
  const put: Step = async (records, sum) => {
    const known = await records.get(id);
    await (known ? records.update(id, items(sum)) : records.create(id, items(sum)));
    return known;
  };
  const steps: Step[] = [
    (records) => records.get(id),
    (records) => records.count(query),
    (records) => records.count(query),
    (records) => records.search(query),
    put,
    put,
    (records, sum) => records.create(`${own}${entropy}`, items(sum)),
    async (records) => {
      const known = await records.get(id);
      if (known) await records.delete(id);
      return known;
    },
    async (records, sum) => {
      if ((await records.count(query)) < 2) await records.create(`${own}${entropy}`, items(sum));
    },
  ];
  if (hasContent) steps.push((records) => records.content());
  return steps[random(steps.length)] as Step;
}

/** Runs a program; returns what it has read. */
async function run(records: Records, program: readonly Step[], pause: () => Promise<unknown>): Promise<string> {
  const read: unknown[] = [];
  for (const step of program) {
    const sum = [...JSON.stringify(read)].reduce((total, letter) => total + letter.charCodeAt(0), 0);
    read.push((await step(records, sum)) ?? null);
    await pause();
  }
  return JSON.stringify(read);
}

/** The records of a unit of work. */
function recordsOf(unit: UnitOfWork, key: AppKey, host: HostDatabase): Records {
  const create = async (id: string, items: Items) => void (await unit.create(key, { id, items, creator: null }));
  return {
    get: async (id) => (await unit.get(key, id))?.items ?? null,
    count: ({ text }) => unit.count(key, declared, text),
    search: async ({ text: query }) => {
      const options = query === undefined ? {} : { query };
      return (await unit.search(key, declared, { ...options, sortIndex: 'id' })).records.map(({ id }) => id);
    },
    create,
    update: async (id, items) => void (await unit.update(key, id, { set: items })),
    delete: async (id) => void (await unit.delete(key, id)),
    content: () =>
      unit.inTransaction(async () => {
        // The snapshot of a transaction begins with what it reads.
        await (await host.current())?.raw('select max(id) from apps_records');
      }),
  };
}

/** The same in memory. */
function modelOf(state: State): Records {
  const found = ({ matches }: Query) => [...state].filter(([, items]) => matches(items)).map(([id]) => id);
  return {
    get: async (id) => state.get(id) ?? null,
    count: async (query) => found(query).length,
    search: async (query) => found(query).sort(),
    create: async (id, items) => void state.set(id, items),
    update: async (id, items) => void state.set(id, { ...state.get(id), ...items }),
    delete: async (id) => void state.delete(id),
    content: async () => {},
  };
}

function* orders<T>(list: readonly T[]): Iterable<T[]> {
  if (list.length === 0) yield [];
  for (const [at, first] of list.entries())
    for (const rest of orders([...list.slice(0, at), ...list.slice(at + 1)])) yield [first, ...rest];
}

const sorted = (state: State) =>
  JSON.stringify(
    [...state]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { total, author, tags, body }]) => [id, total, author, tags, body]),
  );

/** Whether the programs, one after the other in some order, would have read and left the same. */
async function isSerial(
  begin: State,
  programs: readonly (readonly Step[])[],
  read: readonly string[],
  end: State,
): Promise<boolean> {
  for (const order of orders([...programs.keys()])) {
    const state = new Map(begin);
    let fits = true;
    for (const at of order) {
      fits &&= (await run(modelOf(state), programs[at] as Step[], async () => {})) === read[at];
    }
    if (fits && sorted(state) === sorted(end)) return true;
  }
  return false;
}

describe.each(await availableClients())('histories on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let knex: Knex;
  let second: RecordStore;
  let secondHost: HostDatabase;
  const { newApp, create } = useStore(client, (opened) => {
    ({ database, store } = opened);
  });
  beforeAll(async () => {
    knex = connect(database.address);
    secondHost = hostOf(knex, client, client === 'sqlite');
    second = createRecordStore({ database: secondHost, limits: { attempts: 50 } });
    await second.prepare();
  });
  afterAll(async () => {
    await second.destroy();
    await knex.destroy();
  });

  test.each(['one process', 'two processes'])(
    '%s: each is explained by some serial order',
    async (processes) => {
      const key = newApp();
      // The two processes are one here, which an open transaction of one of them on SQLite would block.
      const hasContent = client !== 'sqlite';
      await create(key, 'z', { total: 5, author: 'zoe', tags: [], body: '' });
      await store.count(key, declared, "total == 1 and 'a' in tags and 'a' in body and author == 'a'");
      const stateOf = async (): Promise<State> =>
        new Map((await store.page(key, { limit: 1_000 })).records.map(({ id, items }) => [id, items]));
      for (let number = 0; number < histories; number += 1) {
        const random = randomOf(seed + number * 7_919);
        const programs = Array.from({ length: 3 }, (_, at) => {
          // A unit that writes nothing is not checked: the last step of each writes.
          const steps = Array.from({ length: 1 + random(3) }, () =>
            randomStep(random, 'pqr'[at] as string, hasContent),
          );
          const last: Step = (records, sum) =>
            records.create(`${'pqr'[at]}${number}`, randomItems(randomOf(number), sum));
          return [...steps, last];
        });
        const begin = await stateOf();
        const read = await Promise.all(
          programs.map((program, at) => {
            const isSecond = processes === 'two processes' && at % 2 === 1;
            const [on, host] = isSecond ? [second, secondHost] : [store, database.host];
            const pause = () =>
              new Promise((resolve) => (random(2) ? setImmediate(resolve) : setTimeout(resolve, random(4))));
            return on.transact((unit) => run(recordsOf(unit, key, host), program, pause));
          }),
        );
        const end = await stateOf();
        if (!(await isSerial(begin, programs, read, end)))
          expect({ seed: seed + number * 7_919, read, begin: sorted(begin), end: sorted(end) }).toBe('serial');
        if (end.size > 12) await store.clear(key);
        if (end.size > 12)
          await store.count(key, declared, "total == 1 and 'a' in tags and 'a' in body and author == 'a'");
      }
    },
    3_600_000,
  );
});
