import { TokenKind, type TopLevelToken } from 'liquidjs';
import type { NamedElement } from '../types';
import type { BraceToken } from './braces';
import { candidates } from './elements';

/** A quoted text, which is skipped, or `elements` as a variable with the member that follows it. */
const READ = /"[^"]*"|'[^']*'|(?<![\w.-])elements\b(?:\s*\.\s*([\w-]+)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

const CONTROL = /<(?:input|select|textarea|button)\b([^<>]*)/gi;
const CONTROL_NAME = /(?:^|[\s"'/])name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+))/i;

/** Replaces Liquid in a text: the name of a form control with Liquid in it never equals an element's. */
const GAP = '\u0000';

/** One place where Liquid reads `elements`: the element that it names, if it names one, and its offset in the file. */
export interface Read {
  name: string | undefined;
  at: number;
}

/** Tokens outside of `{% comment %}`. */
function* uncommented(tokens: readonly TopLevelToken[]): Generator<TopLevelToken> {
  let comments = 0;
  for (const token of tokens) {
    const { name } = token as { name?: string };
    if (token.kind === TokenKind.Tag && name === 'comment') comments += 1;
    if (token.kind === TokenKind.Tag && name === 'endcomment') comments -= 1;
    if (comments === 0) yield token;
  }
}

/** Where the layout's Liquid reads `elements`. */
export function readsOf(tokens: readonly TopLevelToken[]): Read[] {
  return [...uncommented(tokens)].filter(({ kind }) => kind !== TokenKind.HTML).flatMap(readsIn);
}

function readsIn(token: TopLevelToken): Read[] {
  return [...token.getText().matchAll(READ)]
    .filter(([whole]) => whole.startsWith('elements'))
    .map((match) => ({ name: match.slice(1).find((found) => found !== undefined), at: token.begin + match.index }));
}

/**
 * Whether a layout shows an element, apart from single braces: its Liquid reads `elements.name`, or its own markup has a
 * form control of that name. True for all elements where Liquid reads `elements` without naming one, such as
 * `elements[name]`. Ignores `{% comment %}`. Takes linear time.
 */
export function shownIn(tokens: readonly TopLevelToken[]): (name: string) => boolean {
  const shown = new Set<string>();
  const texts: string[] = [];
  let everything = false;
  for (const token of uncommented(tokens)) {
    if (token.kind === TokenKind.HTML) texts.push(token.getText());
    else {
      texts.push(GAP);
      for (const { name } of readsIn(token)) {
        if (name === undefined) everything = true;
        else shown.add(name);
      }
    }
  }
  for (const name of controlNames(texts.join(''))) shown.add(name);
  return (name) => everything || shown.has(name);
}

/** Names of the form controls in a piece of HTML. */
function controlNames(html: string): string[] {
  return [...html.matchAll(CONTROL)].flatMap(([, attributes = '']) => {
    const [, ...quoted] = CONTROL_NAME.exec(attributes) ?? [];
    return quoted.find((found) => found !== undefined) ?? [];
  });
}

/** Whether a tag or output contains `context`, also as a quoted text: `{{ ["context"].record }}` reads it too. */
export function namesContext(tokens: readonly TopLevelToken[]): boolean {
  return tokens.some((token) => token.kind !== TokenKind.HTML && /\bcontext\b/.test(token.getText()));
}

/**
 * Every place of a layout that names an element, in single braces or as `elements.name` in Liquid, in the order of the file.
 * A number in braces, which is text unless an element has that name, is left out. Takes linear time.
 */
export function namedIn(
  text: string,
  braces: readonly BraceToken[],
  tokens: readonly TopLevelToken[],
): Omit<NamedElement, 'path'>[] {
  const inBraces = braces
    .filter(({ placed, element, keys }) => placed && !(/^\d+$/.test(element) && keys.length === 0))
    .map((brace) => ({ names: candidates(brace), at: brace.begin }));
  const inLiquid = readsOf(tokens).flatMap(({ name, at }) => (name === undefined ? [] : [{ names: [name], at }]));
  let [line, start, end] = [1, 0, text.indexOf('\n')];
  return [...inBraces, ...inLiquid]
    .sort((a, b) => a.at - b.at)
    .map(({ names, at }) => {
      while (end >= 0 && end < at) {
        line += 1;
        start = end + 1;
        end = text.indexOf('\n', start);
      }
      return { names, line, column: at - start + 1 };
    });
}
