import type { Context, Liquid } from 'liquidjs';
import { Clock, type LayoutLimits, MemoryLimiter } from '../limits';
import type { CompiledLayout, LayoutData, LayoutSource } from '../types';
import { Elements } from './elements';
import { definitionErrorOf, MarkedEmitter } from './layout-errors';
import { lineOf, type ParsedLayout, parseLayout, usesOf } from './parse';
import { keepRendering } from './tags';
import { TimedContext } from './timed';

interface Steps {
  next(value: unknown): IteratorResult<unknown>;
  throw(error: unknown): IteratorResult<unknown>;
}

const hasMethod = (value: unknown, name: string): boolean =>
  typeof value === 'object' && typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';

const isSteps = (value: unknown): value is Steps => hasMethod(value, 'next') && hasMethod(value, 'throw');
const isPromise = (value: unknown): value is PromiseLike<unknown> => hasMethod(value, 'then');

/** Steps between two updates of the clock; most steps also update it themselves. */
const STRIDE = 32;

/**
 * Runs one of Liquid's generators to its end, as Liquid's `toPromise` does, but yields to the server between slices of
 * time, and updates the clock between steps.
 */
async function drive(root: Steps, clock: Clock): Promise<unknown> {
  const running = [root];
  let [value, failed]: [unknown, boolean] = [undefined, false];
  let resumed = 0;
  for (let top: Steps | undefined = running.at(-1); top; top = running.at(-1)) {
    resumed += 1;
    if (resumed % STRIDE === 0) clock.update(performance.now());
    if (clock.isSliceOver) await clock.yieldToServer();
    if (clock.timeoutError && !failed) [value, failed] = [clock.timeoutError, true];
    try {
      const state: IteratorResult<unknown> = failed ? top.throw(value) : top.next(value);
      [value, failed] = [state.value, false];
      if (state.done) running.pop();
    } catch (error) {
      running.pop();
      [value, failed] = [error, true];
      continue;
    }
    if (isSteps(value)) {
      running.push(value);
      value = undefined;
    } else if (isPromise(value)) {
      try {
        value = await value;
      } catch (error) {
        [value, failed] = [error, true];
      }
    }
  }
  if (failed) throw value;
  return value;
}

/** Parses a layout. DefinitionError with file, line and column for invalid Liquid, or above `limits`. */
export function compileLayout(liquid: Liquid, limits: LayoutLimits, source: LayoutSource): CompiledLayout {
  const parsed = parseLayout(liquid, limits, source);
  return { ...usesOf(parsed), render: (data) => render(liquid, limits, parsed, data) };
}

async function render(liquid: Liquid, limits: LayoutLimits, parsed: ParsedLayout, data: LayoutData) {
  const clock = new Clock(limits);
  const emitter = new MarkedEmitter(limits.memory);
  const elements = new Elements(data, clock, (html) => emitter.mark(html));
  const scope = Object.assign(Object.create(null), data.variables, { elements: elements.drop, context: data.context });
  const limiters = {
    renderLimit: clock,
    memoryLimit: new MemoryLimiter(limits),
    liquid,
  } as unknown as ConstructorParameters<typeof Context>[3];
  const context = new TimedContext(scope, optionsFor(liquid, data), { sync: false }, limiters);
  context.onUnknown = unknownMarks(parsed, data);
  keepRendering(context, { elements, clock, data, scope });
  try {
    await drive(liquid.renderer.renderTemplates(parsed.templates, context, emitter) as Generator, clock);
    return emitter.end();
  } catch (error) {
    throw definitionErrorOf(error, parsed.path);
  }
}

/** Maximum unknown variables that one rendering reports: the layout is searched for each. */
const MAX_UNKNOWN = 20;

/** The HTML shown for each unknown variable; computed once. */
function unknownMarks(parsed: ParsedLayout, { onUnknown }: LayoutData): (name: string) => string {
  const marks = new Map<string, string>();
  return (name) => {
    if (marks.size >= MAX_UNKNOWN) return marks.get(name) ?? '';
    const mark = marks.get(name) ?? onUnknown?.(name, lineOf(parsed, name)) ?? '';
    marks.set(name, mark);
    return mark;
  };
}

/** Liquid's options with the language and time zone of the rendering, for its filter `date`. */
function optionsFor({ options }: Liquid, { locale }: LayoutData): Liquid['options'] {
  const timezoneOffset = locale?.timeZone ?? options.timezoneOffset;
  return { ...options, locale: locale?.tag ?? 'en', ...(timezoneOffset === undefined ? {} : { timezoneOffset }) };
}
