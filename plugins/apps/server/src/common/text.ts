import { domainToASCII } from 'node:url';

/**
 * Splits a text that comes in pieces into lines without their `\n`; a last line without one counts if it is not empty. Reads
 * each piece once, so that a line in very many small pieces costs no more.
 * @param refuse called when a line is longer than `maxLength` characters; must throw
 */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  maxLength = Number.POSITIVE_INFINITY,
  refuse: () => never = () => {
    throw new RangeError('A line is too long');
  },
): AsyncGenerator<string> {
  let begun: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length > maxLength) refuse();
    begun.push(text);
  };
  const take = (): string => {
    const line = begun.join('');
    begun = [];
    length = 0;
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      add(piece.slice(start, end));
      yield take();
      start = end + 1;
    }
    if (start < piece.length) add(piece.slice(start));
  }
  if (length > 0) yield take();
}

/** Words that are compared, and characters of one word: a comparison takes time by the product of both lengths. */
const MAX_KNOWN = 500;
const MAX_WORD = 40;

/** `, did you mean "label"?` where one of the known words is close. */
export function didYouMean(given: string | null, known: readonly string[]): string {
  if (given === null || given.length > MAX_WORD) return '';
  const closest = known
    .slice(0, MAX_KNOWN)
    .filter(({ length }) => length <= MAX_WORD)
    .map((word) => ({ word, distance: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.distance - b.distance)[0];
  return closest ? `, did you mean "${closest.word}"?` : '';
}

/** Damerau-Levenshtein distance: letters to add, drop, change or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped ? at(i - 2, j - 2) + 1 : change));
    }
  }
  return at(a.length, b.length);
}

/**
 * A domain of letters, marks and digits whose labels begin and end with none of `-`; the dots of East Asian keyboards count. Node.js
 * reads the host of a web address, and would leave out what follows a slash.
 */
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[-.。．｡](?=[\p{L}\p{N}-]))*$/u;

/** A label that ends or begins with `-`. */
const LOOSE_HYPHEN = /[.。．｡]-|-[.。．｡]/;

/**
 * An address with its domain as the name system has it, `xn--…` for letters beyond ASCII (RFC 5891): mail servers need not
 * know others. Unchanged where there is no such domain. `*@<domain>` is read too.
 */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  if (!/[^\0-\x7f]/.test(domain) || !DOMAIN.test(domain) || LOOSE_HYPHEN.test(domain)) return address;
  const wanted = domainToASCII(domain);
  return wanted === '' ? address : address.slice(0, at) + wanted;
}

/** Tokens of signed links, in addresses: what follows the names of `linkKinds` in sites/. */
const LINK_TOKEN = /(\/(?:@|%40){2}apps\/[^/\s]+\/(?:mine|draft|confirm|unsubscribe)\/)[\w-]+/gi;

/** A text without the tokens of signed links: their addresses are as good as a password. */
export const withoutTokens = (text: string): string => text.replace(LINK_TOKEN, '$1hidden');

/** The text without its percent-encoding; null where that is malformed. */
export function percentDecoded(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
