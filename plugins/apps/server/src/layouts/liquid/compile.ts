import type { Context, Liquid } from 'liquidjs';
import { Clock, type LayoutLimits, Memory } from '../limits/limits';
import type { CompiledLayout, LayoutData, LayoutSource } from '../types';
import { drive } from './drive';
import { Elements } from './elements';
import { MarkedEmitter } from './failed';
import { definitionErrorOf } from './layout-errors';
import { lineOf, type Parsed, parseLayout, usesOf } from './parse';
import { keepRendering } from './tags';
import { TimedContext } from './timed';

/** Parses a layout. DefinitionError with file, line and column for invalid Liquid, or above `limits`. */
export function compileLayout(liquid: Liquid, limits: LayoutLimits, source: LayoutSource): CompiledLayout {
  const parsed = parseLayout(liquid, limits, source);
  return { ...usesOf(parsed), render: (data) => render(liquid, limits, parsed, data) };
}

async function render(liquid: Liquid, limits: LayoutLimits, parsed: Parsed, data: LayoutData) {
  const clock = new Clock(limits);
  const emitter = new MarkedEmitter(limits.memory);
  const elements = new Elements(data, clock, (html) => emitter.mark(html));
  const scope = Object.assign(Object.create(null), data.variables, { elements: elements.drop, context: data.context });
  const limiters = { renderLimit: clock, memoryLimit: new Memory(limits), liquid } as unknown as ConstructorParameters<
    typeof Context
  >[3];
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
function unknownMarks(parsed: Parsed, { onUnknown }: LayoutData): (name: string) => string {
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
