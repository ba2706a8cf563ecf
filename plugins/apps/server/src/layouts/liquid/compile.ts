import { Context, defaultOperators, type Liquid } from 'liquidjs';
import { Clock, type LayoutLimits, MemoryLimiter, sizeOf } from '../limits';
import type { CompiledLayout, LayoutData, LayoutSource } from '../types';
import { Elements } from './elements';
import { derived } from './html';
import { definitionErrorOf, MarkedEmitter, withoutFailed } from './layout-errors';
import { lineOf, type ParsedLayout, parseLayout, usesOf } from './parse';
import { keepRendering, renderingOf } from './tags';

/** Liquid's registers: data that no layout can read. */
interface WithRegisters {
  registers: object;
}

/** Liquid's context that checks the clock for every item of a filter such as `where_exp` or `group_by`. */
class TimedContext extends Context {
  /** The HTML of an output whose variable does not exist. */
  onUnknown: (name: string) => string = () => '';
  /** The variable that was read last, if it is undefined. */
  #unknown: string | undefined;

  override *_get(paths: Parameters<Context['_get']>[0]): IterableIterator<unknown> {
    const [name] = paths;
    const { scopes, environments } = this as unknown as { scopes: object[]; environments: object };
    const isKnown = typeof name !== 'string' || [...scopes, environments].some((scope) => name in scope);
    this.#unknown = isKnown ? undefined : name;
    return yield* super._get(paths);
  }

  /** The HTML of an output without a value: '', or that of an undefined variable. */
  emptyOutput(): string {
    return this.#unknown === undefined ? '' : this.onUnknown(this.#unknown);
  }

  override push(scope: object): number {
    this.tick();
    return super.push(scope);
  }

  /** A context with the given variables only, of the same rendering: its limits and registers are this one's. */
  override spawn(scope: object = {}): TimedContext {
    this.tick();
    const { sync, opts, globals, strictVariables, ownPropertyOnly, renderLimit, memoryLimit, liquid } = this;
    const options = { sync, globals, strictVariables, ownPropertyOnly };
    const inner = new TimedContext(scope, opts, options, { renderLimit, memoryLimit, liquid });
    inner.onUnknown = this.onUnknown;
    (inner as unknown as WithRegisters).registers = (this as unknown as WithRegisters).registers;
    return inner;
  }

  private tick(): void {
    this.renderLimit.check(performance.now());
  }
}

/** `this` of Liquid's filters. */
interface FilterThis {
  context: Context;
}

type Handler = (this: FilterThis, value: unknown, ...args: unknown[]) => unknown;

/** Filters that take constant time. */
const constant = new Set(['raw', 'default', 'size', 'first', 'last']);

/** Filters that search a text for their first argument: quadratic time at worst. */
const searching = new Set([
  'split',
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
]);

/** Maximum characters of the text times characters of the search text. */
export const MAX_SEARCH = 100_000_000;

/** Maximum characters of a date's format: each letter takes as long as thousands of others in a text. */
export const MAX_FORMAT = 500;

/**
 * Checks the clock before every filter, and refuses arguments with which a single filter would take long: huge lists and
 * texts, searches for long texts, and long expressions. The Error names the limit.
 */
export function registerTimedFilters(liquid: Liquid, { listLength, filterSize, markLength }: LayoutLimits): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    const { raw, handler } = typeof filter === 'function' ? { raw: false, handler: filter } : filter;
    const refuse = (what: string): never => {
      throw new Error(`The filter "${name}" takes ${what}`);
    };
    const check = (all: unknown[]) => {
      const [value, argument] = all;
      if (all.some((one) => lengthOf(one) > listLength)) refuse(`lists of at most ${listLength}`);
      if (!constant.has(name) && sizeOf(all, filterSize) > filterSize)
        refuse(`at most ${filterSize} characters and entries of memory`);
      if (searching.has(name) && sizeOf(value, filterSize) * sizeOf(argument, filterSize) > MAX_SEARCH)
        refuse('no text that is so long to look for');
      if (name === 'date' && sizeOf(argument, filterSize) > MAX_FORMAT)
        refuse(`formats of at most ${MAX_FORMAT} characters`);
      if (name === 'sample' && sizeOf(value, filterSize) > listLength) refuse(`at most ${listLength} characters`);
      if (name.endsWith('_exp') && all.slice(1).some((text) => String(text).length > markLength))
        refuse(`expressions of at most ${markLength} characters`);
    };
    const timed: Handler = function (...given) {
      const [value, ...args] = withoutFailed(name, given);
      this.context.renderLimit.check(performance.now());
      if (name === 'sample') renderingOf(this.context as unknown as Context)?.data.onRandom?.();
      if (isSmall(value) && args.every(isSmall)) return (handler as Handler).call(this, value, ...args);
      check([value, ...args]);
      const result = derived(name, (handler as Handler).call(this, value, ...args), [value, ...args]);
      // Checked again, because the filter may have taken long.
      this.context.renderLimit.check(performance.now());
      return result;
    };
    liquid.registerFilter(name, { raw: raw ?? false, handler: timed as typeof handler });
  }
}

type BinaryOperator = (left: unknown, right: unknown, context: Context) => unknown;

/** Liquid's operator `contains`, with the same bound as the filters that search; lists are compared entry by entry. */
export function* contains(list: unknown, part: unknown, context: Context): Generator<unknown, boolean, boolean> {
  if (sizeOf(list, MAX_SEARCH) * sizeOf(part, MAX_SEARCH) > MAX_SEARCH && !Array.isArray(list)) {
    throw new Error('The operator "contains" takes no text that is so long to look for');
  }
  return yield (defaultOperators.contains as BinaryOperator)(list, part, context);
}

/** Whether a value is below all limits of a filter. */
const isSmall = (value: unknown): boolean =>
  typeof value === 'string' ? value.length < 200 : typeof value !== 'object' || value === null;

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

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

/** Liquid's options, by the language and time zone of a rendering. */
const known = new WeakMap<Liquid, Map<string, Liquid['options']>>();

/** Options that are kept: sites have few languages and time zones. */
const MAX_KNOWN = 1_000;

/** Liquid's options with the language and time zone of the rendering, for its filter `date`. */
function optionsFor(liquid: Liquid, { locale }: LayoutData): Liquid['options'] {
  const byLocale = known.get(liquid) ?? new Map<string, Liquid['options']>();
  known.set(liquid, byLocale);
  const key = `${locale?.tag} ${locale?.timeZone}`;
  const found = byLocale.get(key);
  if (found) return found;
  const timezoneOffset = locale?.timeZone ?? liquid.options.timezoneOffset;
  const own = timezoneOffset === undefined ? {} : { timezoneOffset };
  const made = { ...liquid.options, locale: locale?.tag ?? 'en', ...own };
  if (byLocale.size >= MAX_KNOWN) byLocale.clear();
  byLocale.set(key, made);
  return made;
}
