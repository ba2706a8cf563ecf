import type { Json } from '../../../../../shared/json';
import type { SearchOptions } from '../../types';
import { expressions, fieldNames, type Parts } from './operators';
import type { OracleRecord } from './oracle';

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
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
  '🍕',
  'quick\u00adly',
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

/** Creators of generated records, in turn; a record without one, and one whose key is as long as keys may be. */
export const creators = ['user:a', null, 'user:b', 'user:a', `user:${'é'.repeat(200)}`, ''];

/** Records and searches of them, the same for the same random numbers. */
export class Generator {
  /** @param count the number of records, whose ids searches name */
  constructor(
    readonly random: () => number,
    private readonly count: number,
  ) {}

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
    const id = this.chance(0.1) ? `id ${this.pick(['é', 'E', 'e'])} ${at}` : String(at);
    return { id, items, creator: creators[at % creators.length] as string | null };
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
            ? String(Math.floor(this.random() * this.count))
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
