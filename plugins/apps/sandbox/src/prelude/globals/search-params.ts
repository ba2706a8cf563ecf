import { NativeTypeError } from '../primordials';
import { makeTextDecoder, makeTextEncoder } from './text-coding';

type Pair = [name: string, value: string];

interface Encoder {
  encode(text: string): Uint8Array;
}

/** `application/x-www-form-urlencoded` as the URL Standard has it. */
interface FormCoding {
  /** The pairs of a query without its `?`. */
  parse(text: string): Pair[];
  format(pairs: readonly Pair[]): string;
}

function makeFormCoding(): FormCoding {
  const encoder = new (makeTextEncoder() as new () => Encoder)();
  const [encode, decode] = [percentEncode(encoder), percentDecode(encoder)];
  return {
    parse: (text) =>
      text
        .split('&')
        .filter((part) => part !== '')
        .map((part) => {
          const at = part.indexOf('=');
          return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
        }),
    format: (pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'),
  };
}

function percentEncode(encoder: Encoder): (text: string) => string {
  return (text) => {
    if (/^[A-Za-z0-9*._-]*$/.test(text)) return text;
    let result = '';
    for (const byte of encoder.encode(text)) {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9*._-]/.test(character)) result += character;
      else result += byte === 0x20 ? '+' : `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
    }
    return result;
  };
}

function percentDecode(encoder: Encoder): (text: string) => string {
  const Decoder = makeTextDecoder() as new (...args: unknown[]) => { decode(bytes: Uint8Array): string };
  const decoder = new Decoder('utf-8', { ignoreBOM: true });
  return (text) => {
    const spaced = text.replaceAll('+', ' ');
    if (!spaced.includes('%')) return wellFormed(spaced);
    const given = encoder.encode(spaced);
    const bytes = new Uint8Array(given.length);
    let size = 0;
    for (let index = 0; index < given.length; index += 1) {
      const value = given[index] === 0x25 ? hexAt(given, index + 1) : -1;
      bytes[size++] = value < 0 ? (given[index] as number) : value;
      if (value >= 0) index += 2;
    }
    return decoder.decode(bytes.subarray(0, size));
  };
}

/** Lone surrogates become U+FFFD. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** The byte that two hexadecimal digits give; -1 if they are none. */
function hexAt(bytes: Uint8Array, index: number): number {
  const digits = String.fromCharCode(bytes[index] ?? 0, bytes[index + 1] ?? 0);
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}

export interface SearchParams {
  URLSearchParams: new (init?: unknown) => object;
  /** The parameters of an address: `changed` gets their text after each change. */
  linked(query: () => string, changed: (text: string) => void): object;
}

/** `URLSearchParams` as the URL Standard has it. */
export function makeSearchParams(): SearchParams {
  const { parse, format } = makeFormCoding();

  /** Set while an address makes its parameters. */
  let link: { query(): string; changed(text: string): void } | null = null;

  class URLSearchParams {
    #pairs: Pair[];
    #link = link;
    /** The query from which the pairs were read. */
    #read = '';

    constructor(init: unknown = '') {
      this.#pairs = link ? [] : pairsOf(init, parse);
    }

    /** The pairs, read again after the address has changed. */
    #now(): Pair[] {
      if (!this.#link) return this.#pairs;
      const query = this.#link.query();
      if (query !== this.#read) {
        this.#pairs = parse(query.replace(/^\?/, ''));
        this.#read = query;
      }
      return this.#pairs;
    }

    #change(pairs: Pair[]): void {
      this.#pairs = pairs;
      if (!this.#link) return;
      this.#link.changed(format(pairs));
      this.#read = this.#link.query();
    }

    get size(): number {
      return this.#now().length;
    }

    append(name: unknown, value: unknown): void {
      this.#change([...this.#now(), [scalar(name), scalar(value)]]);
    }

    delete(name: unknown, value?: unknown): void {
      const [wanted, only] = [scalar(name), value === undefined ? null : scalar(value)];
      this.#change(this.#now().filter(([one, other]) => one !== wanted || (only !== null && other !== only)));
    }

    get(name: unknown): string | null {
      const wanted = scalar(name);
      return this.#now().find(([one]) => one === wanted)?.[1] ?? null;
    }

    getAll(name: unknown): string[] {
      const wanted = scalar(name);
      return this.#now().flatMap(([one, value]) => (one === wanted ? [value] : []));
    }

    has(name: unknown, value?: unknown): boolean {
      const wanted = scalar(name);
      return this.#now().some(([one, other]) => one === wanted && (value === undefined || other === scalar(value)));
    }

    set(name: unknown, value: unknown): void {
      const wanted = scalar(name);
      const pairs = this.#now();
      const first = pairs.findIndex(([one]) => one === wanted);
      const pair: Pair = [wanted, scalar(value)];
      if (first < 0) return this.#change([...pairs, pair]);
      this.#change(pairs.flatMap((one, index) => (index === first ? [pair] : one[0] === wanted ? [] : [one])));
    }

    sort(): void {
      this.#change([...this.#now()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    }

    forEach(work: (value: string, name: string, params: unknown) => void, self?: unknown): void {
      for (const [name, value] of this.#now()) Reflect.apply(work, self, [value, name, this]);
    }

    *entries(): IterableIterator<Pair> {
      for (let index = 0; index < this.#now().length; index += 1) yield [...(this.#now()[index] as Pair)];
    }

    *keys(): IterableIterator<string> {
      for (const [name] of this.entries()) yield name;
    }

    *values(): IterableIterator<string> {
      for (const [, value] of this.entries()) yield value;
    }

    toString(): string {
      return format(this.#now());
    }

    [Symbol.iterator](): IterableIterator<Pair> {
      return this.entries();
    }
  }
  Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag, {
    value: 'URLSearchParams',
    configurable: true,
  });

  return {
    URLSearchParams,
    linked(query, changed) {
      link = { query, changed };
      try {
        return new URLSearchParams();
      } finally {
        link = null;
      }
    },
  };
}

const scalar = (value: unknown): string => wellFormed(String(value));

function pairsOf(init: unknown, parse: (text: string) => Pair[]): Pair[] {
  if (typeof init !== 'object' || init === null) return parse(wellFormed(String(init)).replace(/^\?/, ''));
  if (Symbol.iterator in init) {
    return [...(init as Iterable<unknown>)].map((entry) => {
      const pair = typeof entry === 'object' && entry !== null ? [...(entry as Iterable<unknown>)] : [];
      if (pair.length !== 2) throw new NativeTypeError('URLSearchParams: each entry of a list is a name and a value');
      return [scalar(pair[0]), scalar(pair[1])];
    });
  }
  return Object.entries(init).map(([name, value]) => [scalar(name), scalar(value)]);
}
