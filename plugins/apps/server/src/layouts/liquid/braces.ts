import { Token, TokenKind, type TopLevelToken } from 'liquidjs';
import type { LayoutLimits } from '../limits';

/** Internal tag of single braces: no layout can write it, because a tag's name has no `{`. */
export const BRACE_TAG = '{}';

/** A `{name}`, `{name.key}` or `{name[key][key]}` of a layout. */
export class BraceToken extends Token {
  readonly name = BRACE_TAG;
  /** The text between the braces, before a `[key]`. */
  readonly element: string;
  /** The keys in square brackets, from the outermost value inwards. */
  readonly keys: readonly string[];
  /** False for one that Liquid skips, as inside `{% comment %}`. */
  placed = false;

  constructor(input: string, begin: number, end: number, file: string | undefined, element: string, keys: string) {
    super(TokenKind.Tag, input, begin, end, file);
    this.element = element;
    this.keys = keys === '' ? [] : keys.slice(1, -1).split('][');
  }
}

/** Text between other tokens; Liquid's white space control (`{%-`) trims its ends. */
class TextToken extends Token {
  constructor(
    input: string,
    begin: number,
    end: number,
    file: string | undefined,
    readonly trimLeft: number,
    readonly trimRight: number,
    /** Whether doubled braces in it are literal braces. */
    readonly doubled: boolean,
  ) {
    super(TokenKind.HTML, input, begin, end, file);
  }

  getContent(): string {
    const text = this.input.slice(this.begin + this.trimLeft, this.end - this.trimRight);
    return this.doubled ? text.replaceAll('{{', '{').replaceAll('}}', '}') : text;
  }
}

/** State of the HTML scanner: single braces are elements in `html` and in a tag's attributes only. */
type State = 'html' | 'comment' | 'script tag' | 'style tag' | 'script' | 'style';

/** Text that changes the state, or is an element in braces (docs/reference/layouts.md#elements-in-braces). */
const MARKS = /<!--|-->|<\/?(script|style)(?=[\s/>])|>|\{([A-Za-z0-9_][A-Za-z0-9_.-]*)((?:\[[A-Za-z0-9_.-]+\])*)\}/gi;

/** `MARKS` with doubled braces, which are literal ones. */
const RAPIDO_MARKS = new RegExp(`\\{\\{|\\}\\}|${MARKS.source}`, 'gi');

/**
 * Splits the single-brace elements out of the text of Liquid's tokens, with their positions in the file. Braces in scripts,
 * styles, HTML comments and `{% raw %}` are text, as is anything else in braces. In a layout made for Rapido only
 * `{% raw %}` is: all other text has its literal braces doubled.
 */
export function splitBraces(tokens: TopLevelToken[], rapido = false): TopLevelToken[] {
  let state: State = 'html';
  let raw = false;
  return tokens.flatMap((token): TopLevelToken[] => {
    if (token.kind === TokenKind.Tag) raw = (token as { name?: string }).name === 'raw';
    if (token.kind !== TokenKind.HTML) return [token];
    const { found, state: next } = scan(token, state, rapido);
    state = next;
    return raw ? [token] : cut(token as TextToken, found, rapido);
  });
}

function scan(token: Token, from: State, rapido: boolean): { found: BraceToken[]; state: State } {
  const text = token.getText();
  const found: BraceToken[] = [];
  let state = from;
  for (const match of text.matchAll(rapido ? RAPIDO_MARKS : MARKS)) {
    const [mark, tag, element, keys = ''] = match;
    if (element === undefined) {
      state = nextState(state, mark, tag?.toLowerCase() as 'script' | 'style' | undefined);
    } else if (rapido || state === 'html' || state.endsWith(' tag')) {
      const begin = token.begin + match.index;
      found.push(new BraceToken(token.input, begin, begin + mark.length, token.file, element, keys));
    }
  }
  return { found, state };
}

/** The state after a mark. */
function nextState(state: State, mark: string, tag: 'script' | 'style' | undefined): State {
  switch (state) {
    case 'html':
      if (mark === '<!--') return 'comment';
      return tag && !mark.startsWith('</') ? `${tag} tag` : state;
    case 'comment':
      return mark === '-->' ? 'html' : state;
    case 'script tag':
    case 'style tag':
      return mark.endsWith('>') ? (state.slice(0, -' tag'.length) as State) : state;
    default:
      return mark.startsWith('</') && tag === state ? 'html' : state;
  }
}

function cut(text: TextToken, braces: BraceToken[], doubled: boolean): TopLevelToken[] {
  const { input, file, begin, end, trimLeft, trimRight } = text;
  if (braces.length === 0 && !doubled) return [text as TopLevelToken];
  const pieces: Token[] = [];
  let from = begin;
  for (const brace of braces) {
    if (brace.begin > from)
      pieces.push(new TextToken(input, from, brace.begin, file, from === begin ? trimLeft : 0, 0, doubled));
    pieces.push(brace);
    from = brace.end;
  }
  if (end > from) pieces.push(new TextToken(input, from, end, file, from === begin ? trimLeft : 0, trimRight, doubled));
  return pieces as TopLevelToken[];
}

/** Maximum characters of `{name}`: each `.` in it adds a possible element name. */
export const MAX_BRACE = 200;

/** A limit that a layout's tags, outputs and elements exceed, with its position. */
export class MarkError extends Error {
  readonly position: { line: number; column: number };

  constructor(message: string, mark: TopLevelToken) {
    super(message);
    const [line, column] = mark.getPosition();
    this.position = { line: line as number, column: column as number };
  }
}

/**
 * Throws a MarkError at the first tag, output or element above the limits: Liquid's parser takes quadratic time in their
 * number, and does not bound their operands.
 * @param used marks and their characters so far, which are increased
 */
export function checkMarks(
  tokens: readonly TopLevelToken[],
  limits: LayoutLimits,
  used: { marks: number; markup: number },
): void {
  for (const token of tokens) {
    if (token.kind === TokenKind.HTML) continue;
    const length = token.end - token.begin;
    const maxLength = token instanceof BraceToken ? MAX_BRACE : limits.markLength;
    used.marks += 1;
    used.markup += length;
    if (length > maxLength) throw new MarkError(`This is longer than ${maxLength} characters`, token);
    if (used.marks > limits.marks)
      throw new MarkError(`A layout has at most ${limits.marks} tags, outputs and elements`, token);
    if (used.markup > limits.markup)
      throw new MarkError(`A layout's tags, outputs and elements have at most ${limits.markup} characters`, token);
  }
}
