import { type Token, tokenize } from '../compile/python';
import type { CheckInput, LiteralSearch, LogicUses } from './members';
import { contextType, type LogicType, memberMistake, typeOfMember } from './members';

/** A token with its place; comments and spaces are left out. */
interface Placed extends Token {
  line: number;
  column: number;
}

/**
 * Finds members of `context` that do not exist, and searches with literal texts, in a Python file: in chains such as
 * `context.app.search(…)`, and those of a name that a function gives such a value once, inside functions that the server calls.
 */
export function usesInPython(input: CheckInput): LogicUses {
  const uses: LogicUses = { mistakes: [], searches: [] };
  for (const body of calledFunctions(placed(input.text), input.functions)) new Body(body, input, uses).check();
  return uses;
}

function placed(text: string): Placed[] {
  let [line, column] = [1, 1];
  return tokenize(text).flatMap((token) => {
    const at = { ...token, line, column };
    const lines = token.text.split('\n');
    line += lines.length - 1;
    column = lines.length > 1 ? (lines.at(-1)?.length ?? 0) + 1 : column + token.text.length;
    return token.kind === 'space' ? [] : [at];
  });
}

/** The tokens of each top-level function that the server calls, whose parameter is `context`. */
function calledFunctions(tokens: readonly Placed[], called: readonly string[]): Placed[][] {
  const begins = tokens.flatMap(({ text, column }, index) => (text === 'def' && column === 1 ? [index] : []));
  return begins.flatMap((begin) => {
    const [, name, open, parameter, close] = tokens.slice(begin, begin + 5).map(({ text }) => text);
    const isCalled = called.includes(name ?? '') && open === '(' && parameter === 'context' && close === ')';
    const length = tokens.slice(begin + 1).findIndex(({ column, kind }) => column === 1 && kind !== 'close');
    const body = tokens.slice(begin + 5, length < 0 ? undefined : begin + 1 + length);
    return isCalled ? [body] : [];
  });
}

/** Words before a name that give it another value. */
const binding = new Set(['for', 'as', 'global', 'nonlocal', 'import', 'del', 'class', '*', '**']);
/** What follows a name that gets another value, or may get one. */
const bound = new Set(['=', ':=', ',', 'in', '+', '-']);

class Body {
  private readonly types = new Map<string, LogicType>();
  /** How deep in brackets each token is. */
  private readonly depths: number[] = [];
  /** The tokens of the parameters of functions inside the function. */
  private readonly parameters = new Set<number>();

  constructor(
    private readonly tokens: readonly Placed[],
    private readonly input: CheckInput,
    private readonly uses: LogicUses,
  ) {
    let depth = 0;
    for (const { kind } of tokens) {
      if (kind === 'close') depth -= 1;
      this.depths.push(depth);
      if (kind === 'open') depth += 1;
    }
    for (const [index, { text }] of tokens.entries()) {
      if (text !== 'def' && text !== 'lambda') continue;
      const isEnd = (at: number) =>
        at >= tokens.length || (this.text(at) === ':' && this.depth(at) <= this.depth(index));
      for (let at = index + 1; !isEnd(at); at += 1) this.parameters.add(at);
    }
  }

  check(): void {
    if (this.bindings('context') > 0) return;
    this.types.set('context', contextType);
    for (const [index, { kind, text }] of this.tokens.entries()) {
      const type = kind === 'name' && this.text(index - 1) !== '.' ? this.types.get(text) : undefined;
      const isKeyword = this.text(index + 1) === '=' && this.depth(index) > 0;
      if (type && !isKeyword) this.chain(index, type);
    }
  }

  private text(index: number): string {
    return this.tokens[index]?.text ?? '';
  }

  private depth(index: number): number {
    return this.depths[index] ?? 0;
  }

  /** How often a name gets a value in the function, or may get one. */
  private bindings(name: string): number {
    return this.tokens.filter(({ text }, index) => {
      if (text !== name || this.text(index - 1) === '.') return false;
      if (this.parameters.has(index)) return true;
      const [before, after] = [this.text(index - 1), this.text(index + 1)];
      // `f(app=1)` names a parameter, and `f(app, 1)` passes the value.
      const isArgument = this.depth(index) > 0 && (after === '=' || after === ',');
      return binding.has(before) || before === ','
        ? !isArgument || binding.has(before)
        : bound.has(after) && !isArgument;
    }).length;
  }

  /** Follows `.name`, `.name(…)` from a token with a known type. */
  private chain(begin: number, from: LogicType): void {
    let [at, type]: [number, LogicType | null] = [begin + 1, from];
    while (type && this.text(at) === '.' && this.tokens[at + 1]?.kind === 'name') {
      const name = this.tokens[at + 1] as Placed;
      const isCall = this.text(at + 2) === '(';
      const isSet = this.text(at + 2) === '=' && this.depth(at) === this.depth(begin);
      if (!isSet) this.report(name, type, isCall);
      const end = isCall ? this.closeOf(at + 2) : at + 1;
      if (isCall && type.name === 'App' && type.isOwn && (name.text === 'search' || name.text === 'count'))
        this.search(at + 3, end);
      type = typeOfMember(type, name.text, isCall);
      at = end + 1;
    }
    this.alias(begin, at, type);
  }

  /** `app = context.app` as a whole statement. */
  private alias(begin: number, end: number, type: LogicType | null): void {
    const name = this.tokens[begin - 2];
    const isStatement =
      this.text(begin - 1) === '=' && name?.kind === 'name' && this.tokens[begin - 3]?.line !== name.line;
    const isWhole = this.tokens[end] === undefined || this.tokens[end]?.line !== this.tokens[end - 1]?.line;
    if (type && isStatement && isWhole && this.bindings(name.text) === 1) this.types.set(name.text, type);
  }

  private closeOf(open: number): number {
    const depth = this.depth(open);
    for (let at = open + 1; at < this.tokens.length; at += 1)
      if (this.tokens[at]?.kind === 'close' && this.depth(at) === depth) return at;
    return this.tokens.length;
  }

  private report({ text: name, line, column }: Placed, type: LogicType, isCall: boolean): void {
    const { assigned } = this.input;
    const mayBeSet = (one: string) => assigned === null || assigned.includes(one);
    const message = memberMistake({ type, name, isCall, mayBeSet });
    if (message !== null) this.uses.mistakes.push({ message, line, column });
  }

  private search(begin: number, end: number): void {
    const first = this.tokens[begin];
    if (!first || begin >= end) return;
    const args = this.argumentsOf(begin, end);
    const named = new Map(
      args.flatMap(([name, equals, ...value]) => (equals?.text === '=' ? [[name?.text, value]] : [])),
    );
    const [query, sort, ...others] = args.filter(([, equals]) => equals?.text !== '=');
    const isOpen = args.some(([one]) => one?.text.startsWith('*'));
    this.uses.searches.push({
      query: textOf(query ?? named.get('query')),
      sortIndex: textOf(sort ?? named.get('sort_index')),
      mayHaveNames: isOpen || named.has('names') || others.length > 1 || (sort !== undefined && textOf(sort) === null),
      line: first.line,
      column: first.column,
    } satisfies LiteralSearch);
  }

  /** The tokens of each argument. */
  private argumentsOf(begin: number, end: number): Placed[][] {
    const depth = this.depth(begin - 1) + 1;
    const found: Placed[][] = [[]];
    for (let at = begin; at < end; at += 1) {
      if (this.text(at) === ',' && this.depth(at) === depth) found.push([]);
      else found.at(-1)?.push(this.tokens[at] as Placed);
    }
    return found.filter(({ length }) => length > 0);
  }
}

/** The text of one plain string; null for anything else. */
function textOf(tokens: readonly Placed[] | undefined): string | null {
  const [token] = tokens ?? [];
  if (tokens?.length !== 1 || token?.kind !== 'string') return null;
  const [, quote = '', inside = ''] = /^[uU]?("""|'''|"|')([^\\]*)\1$/.exec(token.text) ?? [];
  return quote === '' ? null : inside;
}
