import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../shared/json';
import { type OperatorName, operators } from '../indexes/query/operators';
import { expressions, fieldNames, type Parts } from '../indexes/query/testing/operators';
import { expectedSearch, type OracleRecord } from '../indexes/query/testing/oracle';
import type { IndexDeclarations, SearchOptions } from '../indexes/types';
import { createRecordStore } from './store';
import { availableClients, createTestDatabase, type TestDatabase } from './testing/databases';
import type { RecordStore } from './types';

const declared: IndexDeclarations = new Map([
  ['author', 'field'],
  ['total', 'field'],
  ['my-field.2', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
  ['title', 'text'],
]);
const key = { site: 'site', app: 'search' };
const count = 300;
const queries = 2_000;

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const long = 'é'.repeat(126);
const scalars: Json[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  2,
  0.1,
  -2.5,
  1e300,
  -1e300,
  5e-324,
  3,
  10,
  '',
  'a',
  'A',
  'b',
  'á',
  'a ',
  'ab',
  'Z',
  'ß',
  '😀',
  '\uffee',
  '\ud800',
  "o'b",
  'x\u0000y',
  `${long}é`,
  `${long}xx`,
  `${long}xy`,
  `${long}xxx`,
  `${long}x`,
  long,
  `${long}é and more`,
  '10',
  '%',
  '_',
];
const odd: Json[] = [[1, 2], { a: 1 }, []];
const vocabulary = [
  'quick',
  'quickly',
  'Brown',
  'fox',
  'Fóx',
  'the',
  'a',
  'or',
  'and',
  'ÉCOLE',
  'ecole',
  'straße',
  'foo-bar',
  'x1',
  '東京都',
  'naïve',
  'node.js',
  "l'eau",
];

class Generator {
  constructor(readonly random: () => number) {}

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  chance(likelihood: number): boolean {
    return this.random() < likelihood;
  }

  some<T>(max: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.random() * (max + 1)) }, make);
  }

  text(max: number): string {
    return this.some(max, () => this.pick(vocabulary)).join(this.pick([' ', ', ', ' - ']));
  }

  record(at: number): OracleRecord {
    const items: OracleRecord['items'] = {};
    if (this.chance(0.8)) items.author = this.chance(0.9) ? this.pick(scalars) : this.pick(odd);
    if (this.chance(0.9)) items.total = this.chance(0.7) ? Math.floor(this.random() * 6) : this.pick(scalars);
    if (this.chance(0.5)) items['my-field.2'] = this.pick(scalars);
    if (this.chance(0.8))
      items.tags = this.chance(0.8) ? this.some(4, () => this.pick([...scalars, ...odd])) : this.pick(scalars);
    if (this.chance(0.9)) items.body = this.text(12);
    if (this.chance(0.5)) items.title = this.chance(0.5) ? [this.text(3), 5, this.text(3)] : this.text(4);
    return { id: this.chance(0.1) ? `id ${this.pick(['é', 'E', 'e'])} ${at}` : String(at), items };
  }

  search(): SearchOptions {
    const names: SearchOptions['names'] = {};
    const query = this.chance(0.05) ? undefined : this.or(3, names);
    const sortIndex = this.chance(0.7)
      ? this.pick(['id', 'author', 'total', 'my-field.2', 'body', 'title'])
      : undefined;
    const options: SearchOptions = { query, names, sortIndex, reverse: this.chance(0.5) };
    if (this.chance(0.5)) options.limit = Math.floor(this.random() * 40);
    if (this.chance(0.3)) options.offset = Math.floor(this.random() * 60);
    return options;
  }

  private or(depth: number, names: object): string {
    if (depth === 0 || this.chance(0.5)) return this.leaf(names);
    if (this.chance(0.2)) return `not (${this.or(depth - 1, names)})`;
    const operator = this.pick(['and', '&', 'or', '|']);
    return `(${this.or(depth - 1, names)}) ${operator} (${this.or(depth - 1, names)})`;
  }

  private value(value: Json, names: Record<string, Json>): string {
    if (this.chance(0.6) && (value === null || typeof value === 'boolean'))
      return this.pick(value === null ? ['null', 'None'] : value ? ['true', 'True'] : ['false', 'False']);
    if (this.chance(0.6) && (typeof value === 'number' || typeof value === 'string')) return JSON.stringify(value);
    const name = `n${Object.keys(names).length}`;
    names[name] = value;
    return name;
  }

  private leaf(names: object): string {
    const bound = names as Record<string, Json>;
    const field = this.pick(fieldNames);
    const value = () =>
      this.value(
        field === 'total' && this.chance(0.8)
          ? Math.floor(this.random() * 6)
          : field === 'id'
            ? String(Math.floor(this.random() * count))
            : this.pick(scalars),
        bound,
      );
    const list = () =>
      this.chance(0.5)
        ? `[${this.some(4, value).join(', ')}]`
        : this.value(this.some(4, () => this.pick(scalars)) as Json, bound);
    const { of, write } = this.pick(expressions);
    const parts: Parts = {
      pick: (choices) => this.pick(choices),
      field,
      value,
      scalar: () => this.value(this.pick(scalars), bound),
      list,
      text: () => this.value(this.words(), bound),
      texts: () => this.value([this.words(), this.words()], bound),
      not: this.pick(['', 'not ']),
    };
    return write(parts, this.pick(of));
  }

  private words(): string {
    const word = () => this.pick(vocabulary);
    const part = this.pick([
      word,
      word,
      () => `"${word()} ${word()}"`,
      () => `${word().slice(0, 3)}*`,
      () => `-${word()}`,
      () => 'or',
      () => `${word()}-${word()}`,
      () => '!!',
    ]);
    return [part(), ...this.some(2, part)].join(' ');
  }
}

const generator = new Generator(seeded(20261107));
const records = Array.from({ length: count }, (_, at) => generator.record(at));
const searches = Array.from({ length: queries }, () => generator.search());

const expectations = searches.map((search) => ({
  search,
  expected: expectedSearch(records, declared, search),
  total: expectedSearch(records, declared, { ...search, limit: undefined, offset: undefined }).length,
}));

const clients = await availableClients();
test('most generated searches find some records, but not all', () => {
  expect(expectations.filter(({ total }) => total > 0 && total < count).length).toBeGreaterThan(queries * 0.5);
});

test.each(Object.keys(operators) as OperatorName[])('generated searches use %s', (name) => {
  expect(expressions.some(({ of }) => of.includes(name))).toBe(true);
});

/** Values of `maxSorted`: with the small one, the same searches walk indexes. */
const manners = [5_000, 10];

describe.each(clients)('search on %s', (client) => {
  let database: TestDatabase;
  let stores: RecordStore[];

  beforeAll(async () => {
    database = await createTestDatabase(client);
    stores = manners.map((maxSorted) =>
      createRecordStore({ database: database.host, limits: { attempts: 5 }, maxSorted }),
    );
    await (stores[0] as RecordStore).createMany(
      key,
      (async function* () {
        for (const record of records) yield { ...record, creator: null };
      })(),
    );
    await (stores[0] as RecordStore).refresh(key, declared, { rebuild: false });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.destroy()));
    await database.destroy();
  });

  test(`answers ${queries} generated searches like the oracle, by sorting or by walking`, async () => {
    for (const [at, { search, expected, total }] of expectations.entries()) {
      const store = stores[at % stores.length] as RecordStore;
      const result = await store.search(key, declared, { ...search, withTotal: true });
      const ids = result.records.map((record) => record.id);
      expect(ids, JSON.stringify(search)).toEqual(expected);
      expect(result.total, JSON.stringify(search)).toBe(total);
    }
  }, 240_000);

  test.each([...manners.keys()])(
    'answers them like the oracle after changes (%d)',
    async (manner) => {
      const store = stores[manner] as RecordStore;
      const changed = new Generator(seeded(7 + manner));
      const now = new Map<string, OracleRecord>();
      for await (const batch of store.stream(key)) for (const { id, items } of batch) now.set(id, { id, items });
      for (const record of [...now.values()].slice(0, 60)) {
        await store.transact(async (unit) => {
          if (changed.chance(0.3)) {
            await unit.delete(key, record.id);
            now.delete(record.id);
            return;
          }
          const { items } = changed.record(0);
          await unit.update(key, record.id, { set: items });
          now.set(record.id, { id: record.id, items: { ...record.items, ...items } });
        });
      }
      for (const search of searches.slice(0, 150)) {
        const result = await store.search(key, declared, search);
        const ids = result.records.map((record) => record.id);
        expect(ids, JSON.stringify(search)).toEqual(expectedSearch([...now.values()], declared, search));
      }
      expect(await store.check({ repair: false })).toMatchObject({ wrong: 0, orphanTables: 0 });
    },
    120_000,
  );
});
