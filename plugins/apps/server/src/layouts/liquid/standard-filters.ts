import type { Context, Liquid } from 'liquidjs';

/** `this` of Liquid's filters. */
interface FilterThis {
  context: Context;
}

type Handler = (this: FilterThis, ...values: unknown[]) => unknown;

/** Digits of a number in binary that are those of its decimal text: 0.1 + 0.2 is 0.3 with them. */
const DIGITS = 15;

/** A number without the rounding of binary fractions: other implementations of Liquid count in decimals. */
const decimal = (result: unknown): unknown =>
  typeof result === 'number' && Number.isFinite(result) && !Number.isInteger(result)
    ? Number(result.toPrecision(DIGITS))
    : result;

/**
 * Replaces standard filters that do otherwise than Shopify's and Jekyll's: sums of prices have no binary fractions,
 * `truncatewords` adds no ellipsis to a text that is not cut, and `split: ""` cuts no emoji in two.
 */
export function registerStandardFilters(liquid: Liquid): void {
  const own = { ...liquid.filters } as Record<string, Handler>;
  for (const name of ['plus', 'minus', 'times', 'modulo']) {
    liquid.registerFilter(name, function (this: FilterThis, ...values: unknown[]) {
      return decimal((own[name] as Handler).apply(this, values));
    } as never);
  }
  const textOf = (self: FilterThis, value: unknown): string => String((own.append as Handler).call(self, value, ''));

  liquid.registerFilter('truncatewords', function (this: FilterThis, value: unknown, ...args: unknown[]) {
    const count = Math.max(1, Number(args[0] ?? 15));
    const words = textOf(this, value)
      .trim()
      .split(/\s+/, count + 1);
    return words.length <= count ? textOf(this, value) : (own.truncatewords as Handler).call(this, value, ...args);
  } as never);

  liquid.registerFilter('split', function (this: FilterThis, value: unknown, by: unknown) {
    const parts = (own.split as Handler).call(this, value, by) as string[];
    return textOf(this, by) === '' ? Array.from(textOf(this, value)) : parts;
  } as never);
}
