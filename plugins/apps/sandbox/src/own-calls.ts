/**
 * Calls of the sandbox that the runner itself answers, because the engine lacks what they need and the server is not
 * needed: addresses by Node's parser, random bytes of the system. Text in, text out, as for host calls.
 */

/** The first letter of such a call; host calls begin with `[`. */
export const ownCall = 'L';

export type OwnCall =
  | ['url', address: string, base: string | null]
  /** Sets one part of an address. */
  | ['urlPart', href: string, name: string, value: string]
  /** As many random bytes, base64. */
  | ['random', bytes: number];

/** Parts of an address, in the order of `urlParts`; null for text that is no address. */
export type UrlParts = readonly string[];

export const urlParts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

/** Own calls of a session, and the work of all of them: the prelude counts both, and the runner ends a session that did not. */
export const ownLimits = { calls: 5_000, work: 4_000_000 };

/** Bytes of one call for random ones, as in browsers. */
export const MAX_RANDOM = 65_536;

/**
 * The work of a call, about that of reading as many characters. Names of hosts cost the square of their length where they
 * are not ASCII; such a host is one of the first two parts between slashes. One more is counted, to be safe.
 */
export function workOf(call: OwnCall): number {
  if (call[0] === 'random') return call[1];
  return call.slice(1).reduce((sum: number, text) => sum + addressWork(text as string | null), 0);
}

function addressWork(text: string | null): number {
  if (text === null) return 0;
  // As the parser does: tabs and line breaks between the slashes do not divide them.
  const parts = text
    .replace(/[\t\n\r]+/g, '')
    .split(/[/\\?#]+/, 3)
    .map(({ length }) => length);
  return text.length + parts.reduce((sum, length) => sum + (length * length) / 100, 0);
}
