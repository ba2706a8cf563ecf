import type { Context, Liquid } from 'liquidjs';
import { Html, plainText } from './html';
import { renderingOf } from './tags';

/** `this` of Liquid's filters. */
export interface FilterThis {
  context: Context;
}

/** Named arguments of a filter: `{{ 'key' | t: count: 3 }}`. */
type Named = [name: string, value: unknown];

const english = { tag: 'en', timeZone: null, translate: () => null };

/** The language, zone and messages of the page that a filter renders; English where a rendering has none. */
export const localeOf = ({ context }: FilterThis) => renderingOf(context)?.data.locale ?? english;

/** Named arguments as an object. Error for one without a name. */
export function named(args: readonly unknown[]): { [name: string]: unknown } {
  return Object.fromEntries(
    args.map((one) => {
      if (Array.isArray(one)) return one as Named;
      throw new Error(`This filter takes named arguments such as "count: 3", not "${plainText(one)}"`);
    }),
  );
}

/** The message of a key in the language of the page (docs/reference/languages.md#messages); the key where there is none. */
function t(this: FilterThis, key: unknown, ...values: unknown[]): string {
  const name = plainText(key);
  const message = localeOf(this).translate(name, named(values));
  if (message === null) renderingOf(this.context)?.data.onUnknownMessage?.(name);
  return message ?? name;
}

/** Maximum digits after the decimal point, as in `Intl.NumberFormat`. */
const MAX_DIGITS = 20;

/** A number as text; one with zeros before it is a code, such as a postal code. */
const NUMBER = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** A number for `Intl`: a text with its own spelling, so that long ones keep their digits. */
function numberOf(value: unknown): number | Intl.StringNumericLiteral | null {
  const given = value instanceof Html ? value.valueOf() : value;
  if (typeof given === 'number') return Number.isFinite(given) ? given : null;
  const text = typeof given === 'string' ? given.trim() : '';
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? (text as Intl.StringNumericLiteral) : null;
}

/**
 * A number in the language of the site; what is no number stays unchanged.
 * @param args `digits`: exactly so many after the decimal point; `currency`: a code such as `EUR`; `grouping: false` without
 *   separators of thousands
 */
function formatNumber(this: FilterThis, value: unknown, ...args: unknown[]): unknown {
  const number = numberOf(value);
  if (number === null) return value;
  const { digits, currency, grouping = true } = named(args);
  if (digits !== undefined && !(Number.isInteger(digits) && Number(digits) >= 0 && Number(digits) <= MAX_DIGITS))
    throw new Error(`"digits" is a whole number from 0 to ${MAX_DIGITS}`);
  if (currency !== undefined && !/^[A-Z]{3}$/.test(plainText(currency)))
    throw new Error('"currency" is a code of three letters, such as EUR');
  const fixed =
    digits === undefined ? {} : { minimumFractionDigits: Number(digits), maximumFractionDigits: Number(digits) };
  const unit = currency === undefined ? {} : ({ style: 'currency', currency: plainText(currency) } as const);
  return new Intl.NumberFormat(localeOf(this).tag, { ...fixed, ...unit, useGrouping: grouping !== false }).format(
    number,
  );
}

/**
 * The address with query parameters set, or removed where the value is null or empty:
 * `{{ context.request.url | with_query: page: 2 }}`, or `with_query: name, value` for a computed name.
 */
function withQuery(this: FilterThis, address: unknown, ...args: unknown[]): string {
  const [rest = '', fragment] = plainText(address).split('#', 2);
  const [path = '', query = ''] = rest.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const given = args.length === 2 && !args.some(Array.isArray) ? { [plainText(args[0])]: args[1] } : named(args);
  for (const [name, value] of Object.entries(given)) {
    const text = plainText(value);
    if (text === '') parameters.delete(name);
    else parameters.set(name, text);
  }
  const text = parameters.toString();
  return `${path}${text === '' ? '' : `?${text}`}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** The address of a public file of the theme or app (docs/reference/layouts.md#public-files): `{{ "theme.css" | asset_url }}`. */
async function assetUrl(this: FilterThis, value: unknown): Promise<string> {
  const path = plainText(value);
  return (await renderingOf(this.context)?.data.assetUrl?.(path)) ?? path;
}

/** Registers the filters `t`, `format_number`, `with_query` and `asset_url`. */
export function registerLocaleFilters(liquid: Liquid): void {
  const filters = {
    t,
    format_number: formatNumber,
    with_query: withQuery,
    asset_url: assetUrl,
  };
  for (const [name, filter] of Object.entries(filters)) liquid.registerFilter(name, filter as never);
}
