import { Context, type Liquid } from 'liquidjs';
import type { LayoutLimits } from './limits';

/** Liquid's context, whose clock ticks for every item that a filter such as `where_exp` or `group_by` looks at. */
export class TimedContext extends Context {
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

/**
 * Makes the clock tick before every filter, and keeps from them what one of them alone would be busy with for long:
 * huge lists, and expressions that were put together. An Error says what is too large.
 */
export function registerTimedFilters(liquid: Liquid, { listLength, markLength }: LayoutLimits): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    const { raw, handler } = typeof filter === 'function' ? { raw: false, handler: filter } : filter;
    const timed: Handler = function (value, ...args) {
      this.context.renderLimit.check(performance.now());
      if (lengthOf(value) > listLength) throw new Error(`The filter "${name}" takes lists of at most ${listLength}`);
      if (name.endsWith('_exp') && args.some((text) => String(text).length > markLength))
        throw new Error(`The filter "${name}" takes expressions of at most ${markLength} characters`);
      return (handler as Handler).call(this, value, ...args);
    };
    liquid.registerFilter(name, { raw: raw ?? false, handler: timed as typeof handler });
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
