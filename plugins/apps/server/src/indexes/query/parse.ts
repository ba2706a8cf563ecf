import type { Scalar } from '../keys';
import { queryError } from './errors';
import { queryLimits } from './limits';
import { type Token, tokenize } from './tokens';
import type { Comparator, Operand, Parsed } from './tree';

const comparators = new Set(['==', '!=', '<', '<=', '>', '>=']);
const constants: Record<string, Scalar> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};
const reserved = new Set(['and', 'or', 'not', 'in']);

/**
 * Reads a query by the grammar of contract section 9; null when it is empty (all records match).
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

/** Recursive descent: one method a rule of the grammar, each of which begins at the current token and leaves it behind. */
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
    return children.length === 1 ? (children[0] as Parsed) : { kind, children };
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
    const position = this.token.position;
    if (this.take('not')) {
      this.expect('in');
      return { kind: 'not', child: this.membership(left) };
    }
    if (this.take('in')) return this.membership(left);
    const operands = [left];
    const used: Comparator[] = [];
    while (this.token.kind === 'symbol' && comparators.has(this.token.text)) {
      this.checkChain(used);
      used.push(this.token.text as Comparator);
      this.at++;
      operands.push(this.operand());
    }
    if (used.length === 0) throw this.unexpected('a comparison');
    return { kind: 'compare', operands, comparators: used, position };
  }

  /** Only `value < index < value`, with `<` or `<=`, may follow each other. */
  private checkChain(used: Comparator[]): void {
    const token = this.token as Token & { kind: 'symbol' };
    if (used.length === 0) return;
    if (used.length > 1) throw queryError(token.position, 'a chain has two comparisons at most');
    const other = [...used, token.text].find((comparator) => comparator !== '<' && comparator !== '<=');
    if (other) throw queryError(token.position, `a chain of comparisons takes < and <= only, not ${other}`);
  }

  private membership(left: Operand): Parsed {
    const right = this.operand();
    const isSet = right.kind === 'word' && (right.name === 'any' || right.name === 'all') && this.take('(');
    if (!isSet) return { kind: 'contains', value: left, index: right };
    const { list, named } = this.values();
    return { kind: 'members', index: left, mode: right.name as 'any' | 'all', list, named };
  }

  /** `[a, b])`, `(a, b))`, `a, b)` or `name)`, behind the opening parenthesis of any or all. */
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

  private take(text: string): boolean {
    const token = this.token;
    const found = (token.kind === 'word' || token.kind === 'symbol') && token.text === text;
    if (found) this.at++;
    return found;
  }

  private expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(JSON.stringify(text));
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
