import { Context, defaultOperators, type Liquid } from 'liquidjs';
import type { LayoutLimits } from './limits';
import { sizeOf } from './sizes';

/** Liquid's context, whose clock ticks for every item that a filter such as `where_exp` or `group_by` looks at. */
export class TimedContext extends Context {
  /** The HTML of an output whose variable does not exist. */
  onUnknown: (name: string) => string = () => '';
  /** The variable that was read last, if nothing defines it. */
  #unknown: string | undefined;

  override *_get(paths: Parameters<Context['_get']>[0]): IterableIterator<unknown> {
    const [name] = paths;
    const { scopes, environments } = this as unknown as { scopes: object[]; environments: object };
    const isKnown = typeof name !== 'string' || [...scopes, environments].some((scope) => name in scope);
    this.#unknown = isKnown ? undefined : name;
    return yield* super._get(paths);
  }

  /** What an output without a value shows: nothing, unless it is the variable that does not exist. */
  emptyOutput(): string {
    return this.#unknown === undefined ? '' : this.onUnknown(this.#unknown);
  }

  override push(scope: object): number {
    this.tick();
    return super.push(scope);
  }

  override spawn(scope?: object): Context {
    this.tick();
    return super.spawn(scope);
  }

  private tick(): void {
    this.renderLimit.check(performance.now());
  }
}

/** What Liquid calls a filter with. */
interface FilterThis {
  context: Context;
}

type Handler = (this: FilterThis, value: unknown, ...args: unknown[]) => unknown;

/** Filters whose work does not depend on the size of what they take. */
const constant = new Set(['raw', 'default', 'size', 'first', 'last']);

/** Filters that look for their first argument in a text: at worst they compare each character with each. */
const searching = new Set([
  'split',
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
]);

/** Characters of the text times characters of what is looked for in it. */
const MAX_SEARCH = 100_000_000;

/** Characters of a date's format: each letter of it takes as long as thousands of others. */
const MAX_FORMAT = 500;

/**
 * Makes the clock tick before every filter, and keeps from them what one of them alone would be busy with for long:
 * huge lists and texts, searches for long texts, and expressions that were put together. An Error says what is too large.
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
    const timed: Handler = function (value, ...args) {
      this.context.renderLimit.check(performance.now());
      if (isSmall(value) && args.every(isSmall)) return (handler as Handler).call(this, value, ...args);
      check([value, ...args]);
      const result = (handler as Handler).call(this, value, ...args);
      // It may have taken long: the next step is to know.
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

/** Smaller than any bound of a filter. */
const isSmall = (value: unknown): boolean =>
  typeof value === 'string' ? value.length < 200 : typeof value !== 'object' || value === null;

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
