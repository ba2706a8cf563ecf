import { connectives, operators, reserved } from './operators';

/** A piece of a query, in its original spelling. */
export interface Lexeme {
  /** `word`: a name, a reserved word or a number. `open`: a string without its end. `other`: a character that begins nothing. */
  kind: 'symbol' | 'word' | 'string' | 'open' | 'other';
  text: string;
  /** Position of its first character, from 0. */
  from: number;
}

/** A text as a part of a regular expression that matches it alone. */
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Operators that are not words, longer ones first, because another may be their prefix. */
const symbols = Object.keys(operators)
  .filter((name) => !/^\w/.test(name))
  .sort((one, other) => other.length - one.length);

/** Words are possible names of an index (docs/reference/terms.md#ids). */
const patterns: [Lexeme['kind'] | 'space', RegExp][] = [
  ['space', /\s+/y],
  ['symbol', new RegExp(`${symbols.map(escaped).join('|')}|[()[\\],&|]`, 'y')],
  ['word', /[-+]?\.?[A-Za-z0-9_](?:[A-Za-z0-9_.-]|(?<=[0-9.][eE])\+(?=[0-9]))*/y],
  ['string', /(['"])(?:\\[\s\S]|(?!\1)[^\\])*\1/y],
  ['open', /['"][\s\S]*/y],
  ['other', /[\s\S]/uy],
];

/** The pieces of a query, or of its beginning, which need not be right; one after the other, without spaces. */
export function* lexemes(query: string): Generator<Lexeme> {
  let from = 0;
  while (from < query.length) {
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = from;
      const text = pattern.exec(query)?.[0];
      if (text === undefined) continue;
      if (kind !== 'space') yield { kind, text, from };
      from += text.length;
      break;
    }
  }
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\n': '' };

/**
 * The value of a string in its quotes. Python's and JavaScript's escapes; a backslash before any other character but quotes and itself
 * stays, as in Python.
 */
export function unquoted(text: string): string {
  return text
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (all, unicode, hex, character) => {
      if (unicode ?? hex) return String.fromCharCode(Number.parseInt(unicode ?? hex, 16));
      const meant = Object.hasOwn(escapes, character) ? escapes[character] : undefined;
      if (meant !== undefined) return meant;
      return '\\\'"'.includes(character) ? character : all;
    });
}

/** A text as a string of the language: it never changes the query around it. */
export const quoted = (value: string): string =>
  `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;

/** Characters that only a query has: those of operators, quotes, parentheses and signs between conditions. */
const signs = [...symbols, ...Object.values(connectives).flatMap((names) => names.filter((name) => !/\w/.test(name)))];
const sign = new RegExp(`[${escaped([...new Set(signs.join(''))].join(''))}'"()]`);
const keyword = new RegExp(`(^|\\s)(${[...reserved].map(escaped).join('|')})(\\s|$)`, 'i');

/** Whether a text has what only a query has: another one is plain words. */
export const isQuery = (text: string): boolean => sign.test(text) || keyword.test(text);

/** Whether an `or` is between conditions of a query. */
export function hasOr(query: string): boolean {
  const names: readonly string[] = connectives.or;
  for (const { kind, text } of lexemes(query)) if (kind !== 'string' && names.includes(text)) return true;
  return false;
}
