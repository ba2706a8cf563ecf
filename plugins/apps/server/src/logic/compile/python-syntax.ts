/**
 * A piece of a Python file. A `value` is a bracket with what is in it, already rewritten. Every function here takes time
 * in proportion to the text: a theme file may be anything.
 */
interface Token {
  kind: 'name' | 'string' | 'number' | 'open' | 'close' | 'other' | 'space' | 'value';
  text: string;
}

const patterns: [Token['kind'], RegExp][] = [
  ['space', /(?:[ \t\r\n\f]|\\\r?\n|#[^\n]*)+/y],
  ['name', /[\p{L}_][\p{L}\p{N}_]*/uy],
  ['number', /\d[\w.]*/y],
  ['open', /[([{]/y],
  ['close', /[)\]}]/y],
  ['other', /\*\*|:=|==|./suy],
];

/** Words after which a bracket begins a value of its own. */
const keywords = new Set(
  'and as assert async await break case class continue del elif else except for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Deeper than this, nothing is rewritten: MicroPython will not read it either. */
const mostBrackets = 200;

/**
 * Writes what MicroPython does not read in words that it does: `x[::-1]` of texts and tuples, `{**a}`, `[*a]` and
 * `from x import *`. Calls of `log` and `print` pass their line, which MicroPython does not know. Everything keeps its line.
 */
export function rewritePython(text: string, path = ''): string {
  const starred = text.replace(
    /^([ \t]*)from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+\*/gm,
    (_all, indent: string, dots: string, name = '') => `${indent}_import_all('${name}', ${dots.length}, globals())`,
  );
  return rewrite(tokenize(starred), path) ?? starred;
}

function tokenize(text: string): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < text.length; at += found[found.length - 1].text.length) {
    found.push(stringAt(text, at) ?? tokenAt(text, at));
  }
  return found;
}

function tokenAt(text: string, at: number): Token {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { kind, text: match[0] };
  }
  throw new Error('every character is a token');
}

/** A string, to the end of the line or of the file if it does not end before. */
function stringAt(text: string, at: number): Token | undefined {
  const opening = /[a-zA-Z]{0,2}("""|'''|"|')/y;
  opening.lastIndex = at;
  const [prefix, quote] = opening.exec(text) ?? [];
  if (prefix === undefined) return undefined;
  const long = quote.length === 3;
  let end = at + prefix.length;
  while (end < text.length && !text.startsWith(quote, end)) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '\n' && !long) return { kind: 'string', text: text.slice(at, end) };
    end += 1;
  }
  return { kind: 'string', text: text.slice(at, end + quote.length) };
}

interface Bracket {
  open: Token;
  inside: Token[];
  /** Whether it takes a part of the value before it. */
  subscript: boolean;
  /** Whether it stands in a `del` statement. */
  deleted: boolean;
  /** Where it calls `log` or `print`. */
  place: string | null;
}

/** The text with every bracket rewritten from the inside out; undefined when they are nested too deep. */
function rewrite(list: readonly Token[], path: string): string | undefined {
  const top: Token[] = [];
  const stack: Bracket[] = [];
  let deleted = false;
  let line = 1;
  for (const [index, token] of list.entries()) {
    const inside = stack.at(-1)?.inside ?? top;
    if (token.kind === 'open') {
      if (stack.length >= mostBrackets) return undefined;
      const before = inside.findLast(({ kind }) => kind !== 'space');
      const place = token.text === '(' && isLog(inside) ? `*_at(${line},${JSON.stringify(path)})` : null;
      stack.push({
        open: token,
        inside: [],
        subscript: isValue(before),
        deleted: deleted && stack.length === 0,
        place,
      });
    } else if (token.kind === 'close' && stack.length > 0) {
      const bracket = stack.pop() as Bracket;
      const outer = stack.at(-1)?.inside ?? top;
      const target = bracket.deleted || nextText(list, index) === '=';
      outer.push({ kind: 'value', text: bracketText(bracket, token, target) });
    } else {
      inside.push(token);
      if (stack.length === 0) deleted = token.text === 'del' || (deleted && !token.text.includes('\n'));
    }
    line += newlines(token.text);
  }
  const open = stack.map((bracket) => bracket.open.text + textOf(bracket.inside));
  return textOf(top) + open.join('');
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Whether a bracket after this calls `print`, or `log` of something. */
function isLog(before: readonly Token[]): boolean {
  const [name, dot] = [before.at(-1)?.text, before.at(-2)?.text];
  return name === 'log' ? dot === '.' : name === 'print' && dot !== '.' && before.at(-3)?.text !== 'def';
}

/** The arguments followed by the position, which expands to no argument when the function is called. */
function placed({ open, inside, place }: Bracket, close: Token): string {
  // A single generator needs no brackets of its own, and after `**` nothing may follow.
  const isFixed = inside.some((token) => token.text === 'for' || token.text === '**');
  if (place === null || isFixed) return `${open.text}${textOf(inside)}${close.text}`;
  const parts = split(inside, ',');
  const named = parts.findIndex(isNamed);
  const end = parts.findLastIndex((part) => part.some(({ kind }) => kind !== 'space')) + 1;
  const texts = parts.map(textOf);
  // MicroPython takes the names of arguments that come before `*` for their values.
  texts.splice(named < 0 ? end : named, 0, place);
  return `${open.text}${texts.join(',')}${close.text}`;
}

/** Whether an argument is given by its name. */
function isNamed(part: readonly Token[]): boolean {
  const [name, equals] = part.filter(({ kind }) => kind !== 'space');
  return name?.kind === 'name' && equals?.text === '=';
}

function nextText(list: readonly Token[], index: number): string | undefined {
  const next = list[index + 1];
  return next?.kind === 'space' ? list[index + 2]?.text : next?.text;
}

/** Whether a bracket after this takes a part of it, or calls it. */
function isValue(token: Token | undefined): boolean {
  if (!token) return false;
  return token.kind === 'value' || token.kind === 'string' || (token.kind === 'name' && !keywords.has(token.text));
}

function textOf(list: readonly Token[]): string {
  return list.map(({ text }) => text).join('');
}

function bracketText(bracket: Bracket, close: Token, target: boolean): string {
  const { open, inside, subscript } = bracket;
  const plain = placed(bracket, close);
  if (target || inside.some(({ text }) => text === 'lambda')) return plain;
  if (open.text === '[' && subscript) return sliceText(inside) ?? plain;
  if (open.text === '[' && hasStar(inside, '*')) return `_joined(${displayText(inside, '*', ['[', ']'])})`;
  if (open.text === '{' && hasStar(inside, '**')) return `_merged(${displayText(inside, '**', ['{', '}'])})`;
  return plain;
}

/** `start:stop:step` as a call; undefined when there is no step. */
function sliceText(inside: readonly Token[]): string | undefined {
  const parts = split(inside, ':');
  if (parts.length !== 3 || split(inside, ',').length > 1) return undefined;
  const values = parts.map(textOf).map((value) => (value.trim() === '' ? `${value}None` : value));
  return `.__slice__(${values.join(',')})`;
}

function hasStar(inside: readonly Token[], star: string): boolean {
  return split(inside, ',').some((part) => isStar(part, star));
}

function isStar(part: readonly Token[], star: string): boolean {
  return part.find(({ kind }) => kind !== 'space')?.text === star;
}

/** The entries of a display as arguments: those with a star as they are, the others in brackets of their own. */
function displayText(inside: readonly Token[], star: string, [open, close]: [string, string]): string {
  const parts = split(inside, ',').map((part) => {
    const text = textOf(part);
    if (isStar(part, star)) return text.replace(star, '');
    return text.trim() === '' ? text : `${open}${text}${close}`;
  });
  return parts.join(',');
}

function split(list: readonly Token[], separator: string): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of list) {
    if (token.text === separator) parts.push([]);
    else parts[parts.length - 1].push(token);
  }
  return parts;
}
