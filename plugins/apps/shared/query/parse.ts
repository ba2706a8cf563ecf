import type { Json } from '../json';
import { chaining, connectives, membershipWords, type OperatorName, operatorOf, reserved } from './operators';
import { lexemes, unquoted } from './tokens';

/** A value of a query. */
export type QueryValue = Extract<Json, boolean | number | string | null>;

type Token =
  | { kind: 'word'; text: string; position: number }
  | { kind: 'string'; value: string; position: number }
  | { kind: 'number'; value: number; position: number }
  | { kind: 'symbol'; text: string; position: number }
  | { kind: 'end'; position: number };

/** What is wrong with a query, and where: `position` in characters, from 1. */
export class QueryError extends Error {
  constructor(
    readonly position: number,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** A word that reads as a number is a number. */
const number = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;
const word = /^[A-Za-z0-9_]/;

/** Splits a query into tokens, the last of which is `end`. QueryError at the first character that begins no token. */
function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  for (const { kind, text, from } of lexemes(query)) {
    const position = from + 1;
    if (kind === 'symbol') tokens.push({ kind, text, position });
    else if (kind === 'word') tokens.push(wordOrNumber(text, position));
    else if (kind === 'string') tokens.push({ kind, value: unquoted(text), position });
    else throw new QueryError(position, kind === 'open' ? 'the string has no closing quote' : unexpected(text));
  }
  return [...tokens, { kind: 'end', position: query.length + 1 }];
}

function wordOrNumber(text: string, position: number): Token {
  if (number.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new QueryError(position, 'the number is too large');
    return { kind: 'number', value, position };
  }
  if (!word.test(text)) throw new QueryError(position, `${JSON.stringify(text)} is neither a name nor a number`);
  return { kind: 'word', text, position };
}

const unexpected = (character: string): string =>
  character === '=' ? 'use == to compare' : `unexpected ${JSON.stringify(character)}`;

const constants: Record<string, QueryValue> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};

/** Whether a name can stand in a query: it is no word of the language, no constant and no number. */
export const isFreeWord = (name: string): boolean =>
  !reserved.has(name) && !Object.hasOwn(constants, name) && !number.test(name);

/**
 * Parses a query by the grammar of docs/reference/search.md#queries; null when it is empty (all records match). QueryError for anything
 * else.
 * @param maxDepth of nested parentheses and `not`
 */
export function parse(query: string, maxDepth: number): Parsed | null {
  const tokens = tokenize(query);
  if (tokens.length === 1) return null;
  const parser = new Parser(tokens, maxDepth);
  const tree = parser.or(0);
  parser.expectEnd();
  return tree;
}

/** Recursive descent: one method for each rule of the grammar, which consumes its tokens from the current one. */
class Parser {
  private at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly maxDepth: number,
  ) {}

  or(depth: number): Parsed {
    return this.list('or', () => this.and(depth));
  }

  expectEnd(): void {
    if (this.token.kind !== 'end') throw this.unexpected('"and", "or" or the end');
  }

  private and(depth: number): Parsed {
    return this.list('and', () => this.not(depth));
  }

  private list(kind: 'and' | 'or', next: () => Parsed): Parsed {
    const children = [next()];
    while (this.take(...connectives[kind])) children.push(next());
    const [first, ...others] = children;
    return first && others.length === 0 ? first : { kind, children };
  }

  private not(depth: number): Parsed {
    if (depth > this.maxDepth) {
      throw new QueryError(this.token.position, `the query is nested deeper than ${this.maxDepth} levels`);
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
    if (used.length > 1) throw new QueryError(position, 'a chain has two comparisons at most');
    const other = [...used, next].find((name) => !chaining.includes(name));
    if (other)
      throw new QueryError(position, `a chain of comparisons takes ${chaining.join(' and ')} only, not ${other}`);
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
      return { kind: 'value', value: constants[token.text] as QueryValue, position: token.position };
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
    return new QueryError(token.position, `${found}, expected ${expected}`);
  }
}

/** A value in the query, or a bare word: the check of the tree decides whether that is an index or a bound name. */
export type Operand =
  | { kind: 'value'; value: QueryValue; position: number }
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
