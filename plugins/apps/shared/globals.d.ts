/**
 * Types of the globals that JavaScript logic has besides the language itself (docs/reference/logic.md#globals): the
 * package's export `./globals`, for `types` in the tsconfig.json of a theme.
 */

type LogMethod = (...messages: unknown[]) => void;

/** Writes log entries, as `context.app.log` does. */
declare const console: { readonly [method in 'log' | 'info' | 'debug' | 'warn' | 'error' | 'trace']: LogMethod };

declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(init?: string | URLSearchParams | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array;
}

/** UTF-8 only. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: 'utf-8';
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

declare function atob(text: string): string;
declare function btoa(text: string): string;
declare function structuredClone<T>(value: T): T;

/** Random values; nothing else of `crypto`. */
declare const crypto: {
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
};
