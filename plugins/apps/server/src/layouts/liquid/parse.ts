import { type Liquid, Parser, type Template, Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';
import { didYouMean } from '../../common/did-you-mean';
import type { LayoutLimits } from '../limits/limits';
import type { LayoutSource } from '../types';
import { BraceToken, splitBraces } from './braces';
import { candidates } from './elements';
import { asDefinitionError } from './layout-errors';
import { checkMarks } from './marks';
import { namedIn, namesContext, shownIn } from './shown';
import { setPartials } from './tags';

/** Delimiter that turns outputs off where `{{` is text: no layout is likely to contain it. */
const NO_OUTPUT = '\u0000{{';

/** Maximum depth of partials that render partials. */
const MAX_DEPTH = 10;

/** A parsed layout with the partials that it renders, and those that they render. */
export interface Parsed {
  path: string;
  text: string;
  templates: Template[];
  tokens: readonly TopLevelToken[];
  partials: readonly Parsed[];
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
export function parseLayout(liquid: Liquid, limits: LayoutLimits, source: LayoutSource): Parsed {
  return parse(source, { liquid, limits, used: { length: 0, marks: 0, markup: 0 }, outer: [] });
}

function parse({ path, text, rapido = false, problem, partials }: LayoutSource, parsing: Parsing): Parsed {
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
    const rendered: Parsed[] = [];
    setPartials(tokens, (name) => {
      const partial = parsePartial(name, partials, parsing);
      rendered.push(partial);
      return partial;
    });
    return { path, text, tokens, templates: new Parser(liquid).parseTokens([...tokens]), partials: rendered };
  });
}

function parsePartial(name: string, partials: LayoutSource['partials'], parsing: Parsing): Parsed {
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
export function usesOf(parsed: Parsed) {
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

const bracesOf = ({ tokens }: Parsed) =>
  tokens.filter((token) => token instanceof BraceToken) as unknown as BraceToken[];

/** The file and line of the first output that names a variable. */
export function lineOf(parsed: Parsed, name: string): { path: string; line: number } {
  for (const { path, tokens } of filesOf(parsed)) {
    const token = tokens.find((one) => one.kind === TokenKind.Output && one.getText().includes(name));
    if (token) return { path, line: token.getPosition()[0] ?? 1 };
  }
  return { path: parsed.path, line: 1 };
}

/** The layout and all of its partials. */
function filesOf(parsed: Parsed): Parsed[] {
  return [parsed, ...parsed.partials.flatMap(filesOf)];
}
