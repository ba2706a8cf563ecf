import type { Scalar } from '../../keys';
import { queryError, queryLimits } from '../limits';
import { type OperatorName, operators } from '../operators';
import type { Form, Operator } from '../operators/types';

type Token =
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
function tokenize(query: string): Token[] {
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

/** The operator of the given name and form. */
function operatorOf(name: string, form: Form): OperatorName | undefined {
  const row: Operator | undefined = Object.hasOwn(operators, name) ? operators[name as OperatorName] : undefined;
  return row?.form === form ? (name as OperatorName) : undefined;
}

const namesWhere = (test: (row: Operator) => boolean): OperatorName[] =>
  (Object.keys(operators) as OperatorName[]).filter((name) => test(operators[name]));

const chaining = namesWhere((row) => row.chains === true);
/** The words between a value or an index and the list of which it is a member. */
const membershipWords = namesWhere((row) => row.form === 'membership');
const constants: Record<string, Scalar> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};
const reserved = new Set<string>(['and', 'or', 'not', ...membershipWords]);

/**
 * Parses a query by the grammar of docs/reference/search.md#queries; null when it is empty (all records match).
 * BadRequestError, with position and reason, for anything else.
 */
export function parseQuery(query: string): Parsed | null {
  if (Buffer.byteLength(query) > queryLimits.size) {
    throw queryError(1, `the query is longer than ${queryLimits.size} bytes`);
  }
  const tokens = tokenize(query);
  if (tokens.length === 1) return null;
  const parser = new Parser(tokens);
  const tree = parser.or(0);
  parser.expectEnd();
  return tree;
}

/** Recursive descent: one method for each rule of the grammar, which consumes its tokens from the current one. */
class Parser {
  private at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  or(depth: number): Parsed {
    return this.list('or', '|', () => this.and(depth));
  }

  expectEnd(): void {
    if (this.token.kind !== 'end') throw this.unexpected('"and", "or" or the end');
  }

  private and(depth: number): Parsed {
    return this.list('and', '&', () => this.not(depth));
  }

  private list(kind: 'and' | 'or', symbol: string, next: () => Parsed): Parsed {
    const children = [next()];
    while (this.take(kind) || this.take(symbol)) children.push(next());
    const [first, ...others] = children;
    return first && others.length === 0 ? first : { kind, children };
  }

  private not(depth: number): Parsed {
    if (depth > queryLimits.depth) {
      throw queryError(this.token.position, `the query is nested deeper than ${queryLimits.depth} levels`);
    }
    if (this.take('not')) return { kind: 'not', child: this.not(depth + 1) };
    if (!this.take('(')) return this.comparison();
    const inner = this.or(depth + 1);
    this.expect(')');
    return inner;
  }

  private comparison(): Parsed {
    const left = this.operand();
    if (this.take('not')) return { kind: 'not', child: this.membership(left, this.expect(...membershipWords)) };
    const word = this.take(...membershipWords);
    if (word) return this.membership(left, word);
    const operands = [left];
    const used: OperatorName[] = [];
    for (let name = this.comparator(); name; name = this.comparator()) {
      this.checkChain(used, name);
      used.push(name);
      this.at++;
      operands.push(this.operand());
    }
    if (used.length === 0) throw this.unexpected('a comparison');
    return { kind: 'comparison', operands, operators: used };
  }

  private comparator(): OperatorName | undefined {
    const token = this.token;
    return 'text' in token ? operatorOf(token.text, 'comparison') : undefined;
  }

  /** Only `value < index < value`, with operators that chain, is a valid chain. */
  private checkChain(used: readonly OperatorName[], next: OperatorName): void {
    const { position } = this.token;
    if (used.length === 0) return;
    if (used.length > 1) throw queryError(position, 'a chain has two comparisons at most');
    const other = [...used, next].find((name) => !chaining.includes(name));
    if (other) throw queryError(position, `a chain of comparisons takes ${chaining.join(' and ')} only, not ${other}`);
  }

  private membership(left: Operand, word: string): Parsed {
    const right = this.operand();
    const operator = right.kind === 'word' ? operatorOf(`${word} ${right.name}`, 'list') : undefined;
    if (operator && this.take('(')) return { kind: 'list', operator, index: left, ...this.values() };
    return { kind: 'membership', operator: word as OperatorName, value: left, index: right };
  }

  /** `[a, b])`, `(a, b))`, `a, b)` or `name)`, after the opening parenthesis of any or all. */
  private values(): { list: Operand[]; named: boolean } {
    const closing = this.take('[') ? ']' : this.take('(') ? ')' : null;
    const end = closing ?? ')';
    const list: Operand[] = [];
    while (!this.take(end)) {
      if (list.length) this.expect(',');
      if (list.length && this.take(end)) break;
      list.push(this.operand());
    }
    if (closing) this.expect(')');
    return { list, named: closing === null && list.length === 1 && list[0]?.kind === 'word' };
  }

  private operand(): Operand {
    const token = this.token;
    if (token.kind === 'string' || token.kind === 'number') {
      this.at++;
      return { kind: 'value', value: token.value, position: token.position };
    }
    if (token.kind !== 'word' || reserved.has(token.text)) throw this.unexpected('an index, a name or a value');
    this.at++;
    if (Object.hasOwn(constants, token.text)) {
      return { kind: 'value', value: constants[token.text] as Scalar, position: token.position };
    }
    return { kind: 'word', name: token.text, position: token.position };
  }

  private get token(): Token {
    return this.tokens[this.at] as Token;
  }

  /** Consumes the current token when it is one of these, and returns which. */
  private take(...texts: string[]): string | undefined {
    const token = this.token;
    const found = texts.find((text) => (token.kind === 'word' || token.kind === 'symbol') && token.text === text);
    if (found !== undefined) this.at++;
    return found;
  }

  private expect(...texts: string[]): string {
    const found = this.take(...texts);
    if (found === undefined) throw this.unexpected(texts.map((text) => JSON.stringify(text)).join(' or '));
    return found;
  }

  private unexpected(expected: string): Error {
    const token = this.token;
    const found =
      token.kind === 'end'
        ? 'the query ends'
        : 'text' in token
          ? `found ${JSON.stringify(token.text)}`
          : `found ${JSON.stringify(token.value)}`;
    return queryError(token.position, `${found}, expected ${expected}`);
  }
}

/** A value in the query, or a bare word: the check of the tree decides whether that is an index or a bound name. */
export type Operand =
  | { kind: 'value'; value: Scalar; position: number }
  | { kind: 'word'; name: string; position: number };

/** The parsed text of a query, before it is checked against the declared indexes. */
export type Parsed =
  | { kind: 'and' | 'or'; children: Parsed[] }
  | { kind: 'not'; child: Parsed }
  /** `a < b`, or `a < b <= c`: the check of the tree decides which operand is the index. */
  | { kind: 'comparison'; operands: Operand[]; operators: OperatorName[] }
  /** `value in index`. */
  | { kind: 'membership'; operator: OperatorName; value: Operand; index: Operand }
  /** `index in any (list)`; `named`: the list is the value of the only name in it, or that value alone. */
  | { kind: 'list'; operator: OperatorName; index: Operand; list: Operand[]; named: boolean };
