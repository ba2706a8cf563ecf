import { type Liquid, Parser, type Template, Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';
import { didYouMean } from '../../common/text';
import type { LayoutLimits } from '../limits';
import type { LayoutSource, NamedElement } from '../types';
import { BraceToken, checkMarks, splitBraces } from './braces';
import { candidates } from './elements';
import { asDefinitionError } from './layout-errors';
import { setPartials } from './tags';

/** A quoted text, which is skipped, or `elements` as a variable with the member that follows it. */
const READ = /"[^"]*"|'[^']*'|(?<![\w.-])elements\b(?:\s*\.\s*([\w-]+)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

const CONTROL = /<(?:input|select|textarea|button)\b([^<>]*)/gi;
const CONTROL_NAME = /(?:^|[\s"'/])name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+))/i;

/** Replaces Liquid in a text: the name of a form control with Liquid in it never equals an element's. */
const GAP = '\u0000';

/** One place where Liquid reads `elements`: the element that it names, if it names one, and its offset in the file. */
interface Read {
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
function readsOf(tokens: readonly TopLevelToken[]): Read[] {
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
function shownIn(tokens: readonly TopLevelToken[]): (name: string) => boolean {
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
function namesContext(tokens: readonly TopLevelToken[]): boolean {
  return tokens.some((token) => token.kind !== TokenKind.HTML && /\bcontext\b/.test(token.getText()));
}

/**
 * Every place of a layout that names an element, in single braces or as `elements.name` in Liquid, in the order of the file.
 * A number in braces, which is text unless an element has that name, is left out. Takes linear time.
 */
function namedIn(
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

/** Delimiter that turns outputs off where `{{` is text: no layout is likely to contain it. */
const NO_OUTPUT = '\u0000{{';

/** Maximum depth of partials that render partials. */
const MAX_DEPTH = 10;

/** A parsed layout with the partials that it renders, and those that they render. */
export interface ParsedLayout {
  path: string;
  text: string;
  templates: Template[];
  tokens: readonly TopLevelToken[];
  partials: readonly ParsedLayout[];
}

interface Parsing {
  liquid: Liquid;
  limits: LayoutLimits;
  /** What the layout and its partials have used of the limits `sourceLength`, `marks` and `markup`. */
  used: { length: number; marks: number; markup: number };
  /** Names of the partials around the one that is parsed. */
  outer: readonly string[];
}

/**
 * Parses a layout and its partials (docs/reference/layouts.md#partials). Each place that renders a partial parses it once
 * more; the limits are for all of them together. DefinitionError with the position in the layout or partial.
 */
export function parseLayout(liquid: Liquid, limits: LayoutLimits, source: LayoutSource): ParsedLayout {
  return parse(source, { liquid, limits, used: { length: 0, marks: 0, markup: 0 }, outer: [] });
}

function parse({ path, text, rapido = false, problem, partials }: LayoutSource, parsing: Parsing): ParsedLayout {
  const { liquid, limits, used } = parsing;
  return asDefinitionError(path, liquid, () => {
    if (problem) throw new Error(problem);
    used.length += text.length;
    if (used.length > limits.sourceLength)
      throw new Error(`The layout is longer than ${limits.sourceLength} characters`);
    const options = rapido ? { ...liquid.options, outputDelimiterLeft: NO_OUTPUT } : liquid.options;
    const tokenizer = new Tokenizer(text, liquid.options.operators, path);
    const tokens = splitBraces(tokenizer.readTopLevelTokens(options), rapido);
    checkMarks(tokens, limits, used);
    const rendered: ParsedLayout[] = [];
    setPartials(tokens, (name) => {
      const partial = parsePartial(name, partials, parsing);
      rendered.push(partial);
      return partial;
    });
    return { path, text, tokens, templates: new Parser(liquid).parseTokens(queueOf(tokens)), partials: rendered };
  });
}

/**
 * Tokens for Liquid's parser, which only reads `length` and calls `shift`: in an array of more than about 16,000 entries,
 * `shift` moves all of them.
 */
function queueOf(tokens: readonly TopLevelToken[]): TopLevelToken[] {
  const rest = tokens.toReversed();
  rest.shift = () => rest.pop();
  return rest;
}

function parsePartial(name: string, partials: LayoutSource['partials'], parsing: Parsing): ParsedLayout {
  const source = partials?.get(name);
  const known = [...(partials?.keys() ?? [])];
  if (!source) {
    const meant = didYouMean(name.replace(/\.(?:html|liquid)$/, ''), known);
    throw new Error(
      `There is no partial "${name}"${meant || `: it would be partials/${name}.html of the app or its theme`}`,
    );
  }
  if (parsing.outer.includes(name)) {
    const way = [...parsing.outer.slice(parsing.outer.indexOf(name)), name].join(' → ');
    throw new Error(`The partial "${name}" renders itself (${way}): remove one of these {% render %}`);
  }
  if (parsing.outer.length === MAX_DEPTH) throw new Error(`Partials are nested more than ${MAX_DEPTH} deep`);
  return parse({ ...source, partials }, { ...parsing, outer: [...parsing.outer, name] });
}

/** What the files of a layout together show and read. */
export function usesOf(parsed: ParsedLayout) {
  const files = filesOf(parsed);
  const braces = files.flatMap(bracesOf);
  const elements = [...new Set(braces.filter(({ placed }) => placed).flatMap(candidates))];
  const placed = new Set(elements);
  const shown = files.map(({ tokens }) => shownIn(tokens));
  return {
    elements,
    shows: (name: string) => placed.has(name) || shown.some((isShown) => isShown(name)),
    namesContext: files.some(({ tokens }) => namesContext(tokens)),
    named: () =>
      files.flatMap((file) =>
        namedIn(file.text, bracesOf(file), file.tokens).map((found) => ({ ...found, path: file.path })),
      ),
  };
}

const bracesOf = ({ tokens }: ParsedLayout) =>
  tokens.filter((token) => token instanceof BraceToken) as unknown as BraceToken[];

/** The file and line of the first output that names a variable. */
export function lineOf(parsed: ParsedLayout, name: string): { path: string; line: number } {
  for (const { path, tokens } of filesOf(parsed)) {
    const token = tokens.find((one) => one.kind === TokenKind.Output && one.getText().includes(name));
    if (token) return { path, line: token.getPosition()[0] ?? 1 };
  }
  return { path: parsed.path, line: 1 };
}

/** The layout and all of its partials. */
function filesOf(parsed: ParsedLayout): ParsedLayout[] {
  return [parsed, ...parsed.partials.flatMap(filesOf)];
}
