import type { Context, Liquid } from 'liquidjs';
import { plainText } from './html';
import { renderingOf } from './tags';

/** `this` of Liquid's filters. */
interface FilterThis {
  context: Context;
}

/** Named arguments of a filter: `{{ 'key' | t: count: 3 }}`. */
type Named = [name: string, value: unknown];

const english = { tag: 'en', timeZone: null, translate: () => null };

const localeOf = ({ context }: FilterThis) => renderingOf(context)?.data.locale ?? english;

/** Named arguments as an object. Error for one without a name. */
function options(args: readonly unknown[]): { [name: string]: unknown } {
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
  const message = localeOf(this).translate(name, options(values));
  if (message === null) renderingOf(this.context)?.data.onUnknownMessage?.(name);
  return message ?? name;
}

/** How long a date or time is written. */
const STYLES = ['full', 'long', 'medium', 'short'] as const;
type Style = (typeof STYLES)[number];

/** A date and time for `Intl`. Seconds since 1970 are a number, as in Liquid's filter `date`. */
function momentOf(value: unknown): Date | null {
  if (value === null || value === undefined || value === '') return null;
  if (value === 'now') return new Date();
  const moment = new Date(typeof value === 'number' ? value * 1000 : value instanceof Date ? value : plainText(value));
  return Number.isNaN(moment.getTime()) ? null : moment;
}

const DAY_ONLY = /^\d{4}-\d\d-\d\d$/;

/**
 * A date in the language and time zone of the site (docs/reference/layouts.md#dates-and-numbers). A day without a time is
 * that day in every time zone. What is no date stays unchanged.
 * @param args `date` and `time`, each `full`, `long`, `medium`, `short` or false; a long date alone without them
 */
function formatDate(this: FilterThis, value: unknown, ...args: unknown[]): unknown {
  const moment = momentOf(value);
  if (!moment) return value;
  const { tag, timeZone } = localeOf(this);
  const given = options(args);
  const isDay = typeof value === 'string' && DAY_ONLY.test(value);
  const zone = isDay ? 'UTC' : (timeZone ?? undefined);
  const timeStyle = isDay ? undefined : style('time', given.time);
  const dateStyle = style('date', given.date ?? (timeStyle === undefined ? 'long' : undefined));
  if (dateStyle === undefined && timeStyle === undefined) return '';
  return new Intl.DateTimeFormat(tag, { dateStyle, timeStyle, timeZone: zone }).format(moment);
}

function style(name: string, given: unknown): Style | undefined {
  if (given === undefined || given === null || given === false) return undefined;
  if (STYLES.includes(given as Style)) return given as Style;
  throw new Error(`"${name}" is one of ${STYLES.join(', ')}, not "${plainText(given)}"`);
}

/** Maximum digits after the decimal point, as in `Intl.NumberFormat`. */
const MAX_DIGITS = 20;

/**
 * A number in the language of the site; what is no number stays unchanged.
 * @param args `digits`: exactly so many after the decimal point; `currency`: a code such as `EUR`
 */
function formatNumber(this: FilterThis, value: unknown, ...args: unknown[]): unknown {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) return value;
  const { digits, currency } = options(args);
  if (digits !== undefined && !(Number.isInteger(digits) && Number(digits) >= 0 && Number(digits) <= MAX_DIGITS))
    throw new Error(`"digits" is a whole number from 0 to ${MAX_DIGITS}`);
  if (currency !== undefined && !/^[A-Z]{3}$/.test(plainText(currency)))
    throw new Error('"currency" is a code of three letters, such as EUR');
  const fixed =
    digits === undefined ? {} : { minimumFractionDigits: Number(digits), maximumFractionDigits: Number(digits) };
  const unit = currency === undefined ? {} : ({ style: 'currency', currency: plainText(currency) } as const);
  return new Intl.NumberFormat(localeOf(this).tag, { ...fixed, ...unit }).format(number);
}

/**
 * The address with query parameters set, or removed where the value is null or empty:
 * `{{ context.request.url | with_query: page: 2 }}`, or `with_query: name, value` for a computed name.
 */
function withQuery(this: FilterThis, address: unknown, ...args: unknown[]): string {
  const [rest = '', fragment] = plainText(address).split('#', 2);
  const [path = '', query = ''] = rest.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const given = args.length === 2 && !args.some(Array.isArray) ? { [plainText(args[0])]: args[1] } : options(args);
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

/** Registers the filters `t`, `format_date`, `format_number`, `with_query` and `asset_url`. */
export function registerLocaleFilters(liquid: Liquid): void {
  const filters = {
    t,
    format_date: formatDate,
    format_number: formatNumber,
    with_query: withQuery,
    asset_url: assetUrl,
  };
  for (const [name, filter] of Object.entries(filters)) liquid.registerFilter(name, filter as never);
}
