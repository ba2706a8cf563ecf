import { Token, TokenKind, type TopLevelToken } from 'liquidjs';

/** Name of the tag behind single braces: no layout can write it, for a tag's name has no `{`. */
export const BRACE_TAG = '{}';

/** A `{name}`, `{name.key}` or `{name[key][key]}` of a layout. */
export class BraceToken extends Token {
  readonly name = BRACE_TAG;
  /** What is between the braces, before a `[key]`. */
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

/** Text between other tokens, with what Liquid's white space control (`{%-`) takes away at its ends. */
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

/** Where in the HTML the text is: single braces mean something in `html` and inside a tag's attributes only. */
type Place = 'html' | 'comment' | 'script tag' | 'style tag' | 'script' | 'style';

/** What ends or begins a place, and what looks exactly like an element (contract, sections 1 and 10). */
const MARKS = /<!--|-->|<\/?(script|style)(?=[\s/>])|>|\{([A-Za-z0-9_][A-Za-z0-9_.-]*)((?:\[[A-Za-z0-9_.-]+\])*)\}/gi;

/** The same where doubled braces are literal ones. */
const RAPIDO_MARKS = new RegExp(`\\{\\{|\\}\\}|${MARKS.source}`, 'gi');

/**
 * Liquid's tokens with the single-brace elements of their texts made tokens of their own, at their own places in the
 * file. Braces in scripts, styles, HTML comments and `{% raw %}` are text, as is everything else in braces. In a layout
 * made for Rapido only `{% raw %}` is: all other text has its literal braces doubled.
 */
export function splitBraces(tokens: TopLevelToken[], rapido = false): TopLevelToken[] {
  let place: Place = 'html';
  let raw = false;
  return tokens.flatMap((token): TopLevelToken[] => {
    if (token.kind === TokenKind.Tag) raw = (token as { name?: string }).name === 'raw';
    if (token.kind !== TokenKind.HTML) return [token];
    const { found, place: next } = scan(token, place, rapido);
    place = next;
    return raw ? [token] : cut(token as TextToken, found, rapido);
  });
}

function scan(token: Token, from: Place, rapido: boolean): { found: BraceToken[]; place: Place } {
  const text = token.getText();
  const found: BraceToken[] = [];
  let place = from;
  for (const match of text.matchAll(rapido ? RAPIDO_MARKS : MARKS)) {
    const [mark, tag, element, keys = ''] = match;
    if (element === undefined) {
      place = move(place, mark, tag?.toLowerCase() as 'script' | 'style' | undefined);
    } else if (rapido || place === 'html' || place.endsWith(' tag')) {
      const begin = token.begin + match.index;
      found.push(new BraceToken(token.input, begin, begin + mark.length, token.file, element, keys));
    }
  }
  return { found, place };
}

/** Where the text after a mark is. */
function move(place: Place, mark: string, tag: 'script' | 'style' | undefined): Place {
  switch (place) {
    case 'html':
      if (mark === '<!--') return 'comment';
      return tag && !mark.startsWith('</') ? `${tag} tag` : place;
    case 'comment':
      return mark === '-->' ? 'html' : place;
    case 'script tag':
    case 'style tag':
      return mark.endsWith('>') ? (place.slice(0, -' tag'.length) as Place) : place;
    default:
      return mark.startsWith('</') && tag === place ? 'html' : place;
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
