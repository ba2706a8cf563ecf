import { queryError } from '../errors';
import { operators } from '../operators';

export type Token =
  | { kind: 'word'; text: string; position: number }
  | { kind: 'string'; value: string; position: number }
  | { kind: 'number'; value: number; position: number }
  | { kind: 'symbol'; text: string; position: number }
  | { kind: 'end'; position: number };

/** Operators that are not words, longer ones first, because another may be their prefix. */
const symbols = Object.keys(operators)
  .filter((name) => !/^\w/.test(name))
  .sort((one, other) => other.length - one.length);

/** Words are possible names of an index (docs/reference/terms.md#ids); a word that reads as a number is a number. */
const patterns = {
  space: /\s+/y,
  symbol: new RegExp(`${symbols.join('|')}|[()[\\],&|]`, 'y'),
  word: /[-+]?\.?[A-Za-z0-9_](?:[A-Za-z0-9_.-]|(?<=[0-9.][eE])\+(?=[0-9]))*/y,
  string: /(['"])((?:\\[\s\S]|(?!\1)[^\\])*)\1/y,
};
const number = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;
const word = /^[A-Za-z0-9_]/;

/** Splits a query into tokens, the last of which is `end`. BadRequestError at the first character that begins no token. */
export function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(query);
    if (match) at += match[0].length;
    return match;
  };
  while (at < query.length) {
    if (take(patterns.space)) continue;
    const position = at + 1;
    const symbol = take(patterns.symbol);
    const lexeme = symbol ? null : take(patterns.word);
    const text = symbol || lexeme ? null : take(patterns.string);
    if (symbol) tokens.push({ kind: 'symbol', text: symbol[0], position });
    else if (lexeme) tokens.push(wordOrNumber(lexeme[0], position));
    else if (text) tokens.push({ kind: 'string', value: withoutEscapes(text[2] ?? ''), position });
    else throw queryError(position, unexpected(query, at));
  }
  return [...tokens, { kind: 'end', position: query.length + 1 }];
}

function wordOrNumber(text: string, position: number): Token {
  if (number.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) throw queryError(position, 'the number is too large');
    return { kind: 'number', value, position };
  }
  if (!word.test(text)) throw queryError(position, `${JSON.stringify(text)} is neither a name nor a number`);
  return { kind: 'word', text, position };
}

function unexpected(query: string, at: number): string {
  const character = String.fromCodePoint(query.codePointAt(at) as number);
  if (character === '"' || character === "'") return 'the string has no closing quote';
  if (character === '=') return 'use == to compare';
  return `unexpected ${JSON.stringify(character)}`;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\n': '' };

/** Python's and JavaScript's escapes; a backslash before any other character but quotes and itself stays, as in Python. */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (all, unicode, hex, character) => {
    if (unicode ?? hex) return String.fromCharCode(Number.parseInt(unicode ?? hex, 16));
    const meant = Object.hasOwn(escapes, character) ? escapes[character] : undefined;
    if (meant !== undefined) return meant;
    return '\\\'"'.includes(character) ? character : all;
  });
}
