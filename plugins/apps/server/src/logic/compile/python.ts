import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { definitionError } from '../../common/errors';
import type { SourceFile } from './task';

/**
 * A token of a Python file. A `value` is a bracket with its rewritten content. Every function here takes linear time,
 * because a theme file may contain anything.
 */
export interface Token {
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

/** Words after which a bracket begins a new value. */
const keywords = new Set(
  'and as assert async await break case class continue del elif else except for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Deeper nested text is not rewritten: MicroPython cannot parse it either. */
const MAX_BRACKETS = 200;

/**
 * Rewrites syntax that MicroPython does not support: `x[::-1]` of texts and tuples, `{**a}`, `[*a]` and `from x import *`.
 * Calls of `log` and `print` pass their line, which MicroPython does not know. Keeps line numbers.
 */
export function rewritePython(text: string, path = ''): string {
  const starred = text.replace(
    /^([ \t]*)from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+\*/gm,
    (_all, indent: string, dots: string, name = '') => `${indent}_import_all('${name}', ${dots.length}, globals())`,
  );
  return rewrite(tokenize(starred), path) ?? starred;
}

/** The tokens of a Python file; together they are its text. */
export function tokenize(text: string): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const token = stringAt(text, at) ?? tokenAt(text, at);
    found.push(token);
    at += token.text.length;
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

/** A string; an unclosed one extends to the end of the line or of the file. */
function stringAt(text: string, at: number): Token | undefined {
  const opening = /[a-zA-Z]{0,2}("""|'''|"|')/y;
  opening.lastIndex = at;
  const [prefix, quote] = opening.exec(text) ?? [];
  if (prefix === undefined || quote === undefined) return undefined;
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
  /** Whether it is a subscript of the value before it. */
  subscript: boolean;
  /** Whether it is in a `del` statement. */
  deleted: boolean;
  /** The position argument of a call of `log` or `print`. */
  position: string | null;
}

/** Rewrites all brackets from the inside out; undefined when they are nested too deeply. */
function rewrite(list: readonly Token[], path: string): string | undefined {
  const top: Token[] = [];
  const stack: Bracket[] = [];
  let deleted = false;
  let line = 1;
  for (const [index, token] of list.entries()) {
    const inside = stack.at(-1)?.inside ?? top;
    if (token.kind === 'open') {
      if (stack.length >= MAX_BRACKETS) return undefined;
      const before = inside.findLast(({ kind }) => kind !== 'space');
      const position = token.text === '(' && isLog(inside) ? `*_at(${line},${JSON.stringify(path)})` : null;
      stack.push({
        open: token,
        inside: [],
        subscript: isValue(before),
        deleted: deleted && stack.length === 0,
        position,
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

/** Whether a bracket after these tokens calls `print`, or a method `log`. */
function isLog(before: readonly Token[]): boolean {
  const [name, dot] = [before.at(-1)?.text, before.at(-2)?.text];
  return name === 'log' ? dot === '.' : name === 'print' && dot !== '.' && before.at(-3)?.text !== 'def';
}

/** The arguments followed by the position, which expands to no argument when the function is called. */
function withPosition({ open, inside, position }: Bracket, close: Token): string {
  // A generator may be the only argument without brackets, and no argument may follow `**`.
  const isFixed = inside.some((token) => token.text === 'for' || token.text === '**');
  if (position === null || isFixed) return `${open.text}${textOf(inside)}${close.text}`;
  const parts = split(inside, ',');
  const named = parts.findIndex(isNamed);
  const end = parts.findLastIndex((part) => part.some(({ kind }) => kind !== 'space')) + 1;
  const texts = parts.map(textOf);
  // MicroPython confuses keyword arguments before `*` with their values.
  texts.splice(named < 0 ? end : named, 0, position);
  return `${open.text}${texts.join(',')}${close.text}`;
}

/** Whether it is a keyword argument. */
function isNamed(part: readonly Token[]): boolean {
  const [name, equals] = part.filter(({ kind }) => kind !== 'space');
  return name?.kind === 'name' && equals?.text === '=';
}

function nextText(list: readonly Token[], index: number): string | undefined {
  const next = list[index + 1];
  return next?.kind === 'space' ? list[index + 2]?.text : next?.text;
}

/** Whether a bracket after this token is a subscript or a call of it. */
function isValue(token: Token | undefined): boolean {
  if (!token) return false;
  return token.kind === 'value' || token.kind === 'string' || (token.kind === 'name' && !keywords.has(token.text));
}

function textOf(list: readonly Token[]): string {
  return list.map(({ text }) => text).join('');
}

function bracketText(bracket: Bracket, close: Token, target: boolean): string {
  const { open, inside, subscript } = bracket;
  const plain = withPosition(bracket, close);
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

/** The entries of a display as arguments: those with a star unchanged, the others each in brackets. */
function displayText(inside: readonly Token[], star: string, [open, close]: [string, string]): string {
  const parts = split(inside, ',').map((part) => {
    const text = textOf(part);
    if (isStar(part, star)) return text.replace(star, '');
    return text.trim() === '' ? text : `${open}${text}${close}`;
  });
  return parts.join(',');
}

function split(list: readonly Token[], separator: string): Token[][] {
  let part: Token[] = [];
  const parts = [part];
  for (const token of list) {
    if (token.text === separator) {
      part = [];
      parts.push(part);
    } else part.push(token);
  }
  return parts;
}

/**
 * A file of a Python program, and the files of the app's folder that its imports may name. Python itself checks them when
 * it loads them in the sandbox (`sandbox/src/python`).
 */
export function compilePython({ path, text, paths }: SourceFile): { code: string; imports: string[] } {
  return { code: rewritePython(text, path), imports: candidates(path, text, paths) };
}

/** An import statement: the module after `from`, and the imported names, in brackets or up to the end of the line. */
const statement =
  /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import\b)(?:[ \t]*\(([^)]{0,2000})|((?:\\\r?\n|[^#\n])*))/gm;

/** Paths that the imports of a file could mean. Additional ones do no harm. */
function candidates(path: string, text: string, paths: ReadonlySet<string>): string[] {
  const here = posix.dirname(path);
  const maxLength = Math.max(0, ...[...paths].map(({ length }) => length));
  const found = new Set<string>();
  const add = (module: string) => {
    for (const file of filesOf(here, module)) if (paths.has(file)) found.add(file);
  };
  for (const [, from = '', inBrackets, onLine] of text.matchAll(statement)) {
    // No file has a path that long, and the text would be copied for each of the names.
    if (from.length > maxLength) continue;
    if (from !== '') add(from);
    for (const [name] of (inBrackets ?? onLine ?? '').matchAll(/[\w.]+/g)) {
      if (name.length <= maxLength) add(from === '' ? name : joined(from, name));
    }
  }
  return [...found];
}

function joined(from: string, name: string): string {
  return from.endsWith('.') ? from + name : `${from}.${name}`;
}

/** The possible files of a module, relative to the folder `here`, to the app's folder and to its `lib/`. */
function filesOf(here: string, module: string): string[] {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(module) ?? [];
  const folders = dots === '' ? ['', 'lib', here] : [posix.join(here, '../'.repeat(dots.length - 1))];
  const tail = name.replaceAll('.', '/');
  return folders.flatMap((folder) => [posix.join(folder, `${tail}.py`), posix.join(folder, tail, '__init__.py')]);
}

const name = 'strapi-plugin-apps-python';

/** The command that makes Python logic run (docs/reference/installation.md#python). */
const pythonCommand = `npm install ${name}`;

/** Whether the optional package with Python is installed; a new one is seen after a restart. */
export function hasPython(): boolean {
  try {
    createRequire(__filename).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The error of a `.py` file where Python is not installed. */
export const withoutPython = (file: string) =>
  definitionError(`Python logic needs the package ${name}. Run "${pythonCommand}", then restart Strapi`, { file });
