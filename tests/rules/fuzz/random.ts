import type { Stored } from './model';

/** Random choices, the same for the same seed. */
export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    pick: (list) => list[below(list.length)] as never,
    chance: (probability) => next() < probability,
  };
}

export type Body = Record<string, unknown>;

const words = ['Ada', 'Bo', 'Cleo', 'Ålesund', '😀', 'a\nb', '0'];
const codes = ['AB12', 'CD34', 'EF56', 'GH78'];

/** Names that a rule guards, or that a program may mistake for something else. */
const names = [
  ...['name', 'code', 'count', 'size', 'tags', 'agree', 'gift', 'text', 'from', 'to', 'friend', 'guests', 'title'],
  ...['plan', 'total', 'made', 'saved', 'block', 'id', 'unknown', 'creator', '__proto__', 'constructor', 'toString'],
  ...[
    'guests:0:who',
    'guests:5:age',
    'name:0',
    'unknown:0',
    '_save',
    '_delete',
    '_hidden',
    'action.save',
    '$inc',
    '',
    'a.b',
    'plan.',
  ],
];

const values: readonly unknown[] = [
  ...[null, '', ' ', 0, -0, 1, 5, 9, 10, -1, 1.5, 1e21, true, false, 'x', 's', 'xyz', 'AB12', 'CD34', 'ab12', 'AB123'],
  ...[
    'basic',
    'gold',
    'first:1',
    '1',
    ' 2 ',
    '1e0',
    '0x1',
    'NaN',
    'Infinity',
    'on',
    'true',
    'no',
    'order',
    'note',
    'gone',
  ],
  ...[
    'a'.repeat(11),
    'e\u0301'.repeat(8),
    '\u0000',
    [],
    ['x'],
    ['x', 'x'],
    ['x', 'q'],
    [null],
    [['x']],
    [5],
    {},
    { x: 1 },
  ],
  ...[{ $inc: 1 }, [{}], [{ who: 'A' }], [{ who: 'A', age: -1 }], [{ who: 'A', age: '3', more: 1 }], [{ who: '' }, 5]],
  ...[[{ who: 'A' }, { who: 'B' }, { who: 'C' }], [{ age: 4 }], { who: 'A' }, '[{"who":"A"}]'],
];

/** Items that the rules of the block "order" take, most of the time. */
export function validItems(random: Random, records: readonly Stored[]): Body {
  const body: Body = { name: random.pick(words), count: 1 + random.below(9) };
  const maybe = (name: string, value: () => unknown) => {
    if (random.chance(0.3)) body[name] = value();
  };
  maybe('code', () => random.pick(codes));
  maybe('size', () => random.pick(['s', 'm', 'l']));
  maybe('tags', () => ['x', 'y', 'z'].filter(() => random.chance(0.5)));
  maybe('agree', () => random.chance(0.5));
  maybe('from', () => random.below(5));
  maybe('to', () => 2 + random.below(5));
  maybe('friend', () => (records.length > 0 ? random.pick(records).id : null));
  maybe('guests', () => [{ who: random.pick(words), age: random.below(3) }]);
  maybe('gift', () => true);
  if (body.gift || random.chance(0.1)) body.text = random.pick(['hi', 'you', 'longer']);
  return body;
}

/** Some items of a body under other names, with other values, or left out. */
export function mutated(random: Random, body: Body, known: readonly string[] = names): Body {
  const entries = new Map(Object.entries(body));
  for (let left = random.pick([0, 0, 0, 1, 1, 2, 4]); left > 0; left -= 1) {
    const name = random.chance(0.5) ? random.pick(known) : random.pick([...entries.keys()]);
    if (name === undefined || random.chance(0.2)) entries.delete(name ?? '');
    else entries.set(name, random.pick(values));
  }
  return Object.fromEntries(entries);
}

/** Names of the inputs of the block "order". */
export const inputs: readonly string[] = names.slice(0, 12);

/** What `$inc` adds. */
export function increments(random: Random): unknown {
  const name = () => random.pick([...inputs, 'total', 'made', 'plan', 'saved', 'block', '__proto__', 'unknown', 'id']);
  const by = () => random.pick([1, -1, 0, 100, 0.5, 'x', null]);
  const number = () => (random.chance(0.8) ? 'count' : random.pick(['from', 'to']));
  if (random.chance(0.05)) return random.pick([null, 5, [], 'count']);
  return Object.fromEntries([[random.chance(0.5) ? number() : name(), random.chance(0.7) ? 1 : by()]]);
}

/** The fields of a form as a browser, or somebody with a program, would send them. */
export function fieldsOf(body: Body): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === false) continue;
    if (name === 'guests' && Array.isArray(value)) {
      for (const [at, entry] of value.entries())
        for (const [field, one] of Object.entries(Object(entry))) fields.set(`guests:${at}:${field}`, textOf(one));
    } else if (Array.isArray(value)) fields.set(name, value.map(textOf));
    else fields.set(name, value === true ? '1' : textOf(value));
  }
  return Object.fromEntries(fields);
}
