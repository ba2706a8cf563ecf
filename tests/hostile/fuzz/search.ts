import { random } from './grow';

/** Searches generated from a seed, over the records of attacks/search.ts: all of the grammar, up to its limits. */

/** Words that all records hold, in an order of their own. */
export const vocabulary =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon'.split(
    ' ',
  );

interface FuzzedSearch {
  query: string;
  names: Record<string, unknown>;
  sort_index?: string;
  reverse: boolean;
  limit: number;
  offset: number;
  with_total: boolean;
}

class Grammar {
  readonly names: Record<string, unknown> = {};
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = random(seed);
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  chance(likelihood: number): boolean {
    return this.next() < likelihood;
  }

  /** Up to `max`, small numbers and large ones alike. */
  upTo(max: number): number {
    return Math.max(1, Math.floor(max ** this.next()));
  }

  list<T>(length: number, make: () => T): T[] {
    return Array.from({ length }, make);
  }

  bind(value: unknown): string {
    const name = `n${Object.keys(this.names).length}`;
    this.names[name] = value;
    return name;
  }

  query(depth: number): string {
    if (depth === 0 || this.chance(0.3)) return this.condition();
    const operator = this.pick([' and ', ' or ', '|', '&']);
    const parts = this.list(this.upTo(depth > 2 ? 6 : 40), () => this.query(this.chance(0.2) ? depth - 1 : 0));
    const inner = parts.join(operator);
    return `${this.pick(['', '', 'not ', 'not not '])}(${inner})`;
  }

  private condition(): string {
    const field = this.pick(['author', 'total', 'id', 'missing']);
    const value = () =>
      this.pick([`'a${this.upTo(12)}'`, String(this.upTo(1200)), 'null', 'true', `'${'x'.repeat(this.upTo(300))}'`]);
    const values = () =>
      this.bind(this.list(this.upTo(200), () => this.pick<unknown>([this.upTo(2000), `a${this.upTo(12)}`, null])));
    const not = this.pick(['', 'not ']);
    return this.pick([
      () => `${field} ${this.pick(['==', '!=', '<', '<=', '>', '>='])} ${value()}`,
      () => `${value()} <= ${field} < ${value()}`,
      () => `${field} ${not}in ${this.pick(['any', 'all'])}(${values()})`,
      () => `'t${this.upTo(6)}' ${not}in tags`,
      () => `tags ${not}in ${this.pick(['any', 'all'])}(${values()})`,
      () => `${this.bind(this.text())} ${not}in ${this.pick(['body', 'title'])}`,
      () => `${this.bind(this.text())} ${not}in ${this.pick(['body', 'title'])}`,
    ])();
  }

  private text(): string {
    const word = () => this.pick(vocabulary);
    const part = this.pick([
      word,
      () => `"${this.list(1 + this.upTo(6), word).join(' ')}"`,
      () => `${word().slice(0, this.upTo(3))}*`,
      () => `-${word()}`,
      () => `-"${word()} ${word()}"`,
      () => `${word()}-${word()}`,
      () => `w${this.upTo(30_000)}`,
    ]);
    return this.list(this.upTo(100), () => (this.chance(0.8) ? part() : word())).join(this.pick([' ', ' or ', '\n']));
  }
}

/** The search of a seed. */
export function fuzzedSearch(seed: number): FuzzedSearch {
  const grammar = new Grammar(seed);
  const query = grammar.query(3);
  const sort = grammar.pick([undefined, 'author', 'total', 'id', 'missing', 'body', 'body', 'title']);
  return {
    query,
    names: grammar.names,
    ...(sort ? { sort_index: sort } : {}),
    reverse: grammar.chance(0.5),
    limit: grammar.pick([1, 20, 20, 1000, 10_000]),
    offset: grammar.pick([0, 0, 0, 100, 29_999, 1e9]),
    with_total: grammar.chance(0.5),
  };
}
