import { type UrlParts, urlParts } from '../../own-calls';
import { NativeTypeError } from '../primordials';
import type { OwnCalls } from './own';
import type { SearchParams } from './search-params';

const SEARCH = urlParts.indexOf('search');

/** `URL`: Node's parser reads the address in the runner, and gives its parts. */
export function makeUrl(own: OwnCalls, { linked }: SearchParams): unknown {
  const parsed = (address: unknown, base: unknown): UrlParts | null =>
    own.url(String(address), base === undefined ? null : String(base));

  let partOf: (url: URL, index: number) => string;
  let setPart: (url: URL, name: string, value: unknown) => void;

  class URL {
    #parts: UrlParts;
    #searchParams: object | null = null;

    constructor(address: unknown, base?: unknown) {
      const parts = parsed(address, base);
      if (!parts) throw invalid(String(address));
      this.#parts = parts;
    }

    static canParse(address: unknown, base?: unknown): boolean {
      return parsed(address, base) !== null;
    }

    static parse(address: unknown, base?: unknown): URL | null {
      return parsed(address, base) && new URL(address, base);
    }

    static {
      partOf = (url, index) => url.#parts[index] as string;
      setPart = (url, name, value) => {
        const parts = own.urlPart(url.#parts[0] as string, name, String(value));
        if (!parts) throw invalid(String(value));
        url.#parts = parts;
      };
    }

    get searchParams(): object {
      this.#searchParams ??= linked(
        () => partOf(this, SEARCH),
        (text) => setPart(this, 'search', text),
      );
      return this.#searchParams;
    }

    toString(): string {
      return this.#parts[0] as string;
    }

    toJSON(): string {
      return this.#parts[0] as string;
    }
  }
  urlParts.forEach((name, index) => {
    const get = function (this: URL) {
      return partOf(this, index);
    };
    const set = function (this: URL, value: unknown) {
      setPart(this, name, value);
    };
    const access = name === 'origin' ? { get } : { get, set };
    Object.defineProperty(URL.prototype, name, { ...access, enumerable: true, configurable: true });
  });
  Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: 'URL', configurable: true });
  return URL;
}

function invalid(address: string): Error {
  const error = new NativeTypeError(`Invalid URL: ${address.slice(0, 200)}`);
  return Object.defineProperty(error, 'code', { value: 'ERR_INVALID_URL', configurable: true, enumerable: true });
}
