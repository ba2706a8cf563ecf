import {
  type Context,
  type Liquid,
  LiquidError,
  Parser,
  type Template,
  Tokenizer,
  TokenKind,
  type TopLevelToken,
} from 'liquidjs';
import { AppsError, isAppsError, type SourcePosition } from '../errors';
import { BraceToken, splitBraces } from './braces';
import { drive } from './drive';
import { candidates, Elements } from './elements';
import { BoundedEmitter, Clock, type LayoutLimits, Memory } from './limits';
import { checkMarks, MarkError } from './marks';
import { shownIn } from './shown';
import { keepRendering } from './tags';
import { TimedContext } from './timed';
import type { CompiledLayout, LayoutData, LayoutSource } from './types';

/** Delimiter of an output where `{{` is text: a layout is unlikely to contain it. */
const NO_OUTPUT = '\u0000{{';

/** Parses a layout. DefinitionError with file, line and column if it is not Liquid, or more of it than `limits` allow. */
export function compileLayout(liquid: Liquid, limits: LayoutLimits, source: LayoutSource): CompiledLayout {
  const { path, text, rapido = false } = source;
  if (text.length > limits.sourceLength) {
    throw layoutError(`The layout is longer than ${limits.sourceLength} characters`, { file: path });
  }
  return asDefinitionError(path, () => {
    const { operators } = liquid.options;
    const options = rapido ? { ...liquid.options, outputDelimiterLeft: NO_OUTPUT } : liquid.options;
    const tokens = splitBraces(new Tokenizer(text, operators, path).readTopLevelTokens(options), rapido);
    checkMarks(tokens, limits);
    const braces = tokens.filter((token) => token instanceof BraceToken) as unknown as BraceToken[];
    const templates = new Parser(liquid).parseTokens([...tokens]);
    const elements = [...new Set(braces.filter(({ placed }) => placed).flatMap(candidates))];
    const placed = new Set(elements);
    const isShown = shownIn(tokens);
    return {
      elements,
      shows: (name) => placed.has(name) || isShown(name),
      render: (data) => render(liquid, limits, { templates, tokens, path }, data),
    };
  });
}

interface Parsed {
  templates: Template[];
  tokens: readonly TopLevelToken[];
  path: string;
}

async function render(liquid: Liquid, limits: LayoutLimits, { templates, tokens, path }: Parsed, data: LayoutData) {
  const clock = new Clock(limits, data.signal?.deadline);
  const elements = new Elements(data, clock);
  const scope = Object.assign(Object.create(null), data.variables, { elements: elements.drop, context: data.context });
  const limiters = { renderLimit: clock, memoryLimit: new Memory(limits), liquid } as unknown as ConstructorParameters<
    typeof Context
  >[3];
  const context = new TimedContext(scope, liquid.options, { sync: false }, limiters);
  context.onUnknown = unknownMarks(tokens, data);
  keepRendering(context, { elements, clock, data });
  const emitter = new BoundedEmitter(limits.memory);
  try {
    await drive(liquid.renderer.renderTemplates(templates, context, emitter) as Generator, clock);
  } catch (error) {
    throw definitionErrorOf(error, path);
  }
  return emitter.buffer;
}

/** Unknown variables that one rendering reports, at most: each is looked for in the layout. */
const MAX_UNKNOWN = 20;

/** The HTML shown for each unknown variable; computed once. */
function unknownMarks(tokens: readonly TopLevelToken[], { onUnknown }: LayoutData): (name: string) => string {
  const marks = new Map<string, string>();
  return (name) => {
    if (marks.size >= MAX_UNKNOWN) return marks.get(name) ?? '';
    const mark = marks.get(name) ?? onUnknown?.(name, lineOf(tokens, name)) ?? '';
    marks.set(name, mark);
    return mark;
  };
}

/** The line of the first output that names a variable. */
function lineOf(tokens: readonly TopLevelToken[], name: string): number {
  const token = tokens.find((one) => one.kind === TokenKind.Output && one.getText().includes(name));
  return token?.getPosition()[0] ?? 1;
}

function asDefinitionError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw definitionErrorOf(error, path);
  }
}

/** What went wrong, as an AppsError: those of elements as they are, Liquid's own with their place in the layout. */
function definitionErrorOf(error: unknown, file: string): AppsError {
  if (isAppsError(error)) return error;
  if (error instanceof MarkError) return layoutError(error.message, { file, ...error.place });
  if (!LiquidError.is(error)) return layoutError(messageOf(error), { file }, error);
  const { originalError, token } = error as LiquidError & { token: { getPosition(): [number, number] } };
  if (isAppsError(originalError)) return originalError;
  const [line, column] = token.getPosition();
  const message = originalError
    ? messageOf(originalError)
    : error.message.replace(/(, file:[^\n]*)?, line:\d+, col:\d+$/, '');
  return layoutError(message, { file, line, column }, error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function layoutError(message: string, position: SourcePosition, cause?: unknown): AppsError {
  const at = [position.file, position.line, position.column].filter((part) => part !== undefined).join(':');
  return new AppsError('DefinitionError', `${at}: ${message}`, { position, cause });
}
