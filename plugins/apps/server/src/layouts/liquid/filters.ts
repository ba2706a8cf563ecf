import type { Context, Liquid } from 'liquidjs';
import { type Moment, readMoment, writeMoment } from '../../common/time/moments';
import { Html, plainText } from './html';
import { renderingOf } from './tags';

/** `this` of Liquid's filters. */
interface FilterThis {
  context: Context;
}

/** Named arguments of a filter: `{{ 'key' | t: count: 3 }}`. */
type Named = [name: string, value: unknown];

const english = { tag: 'en', timeZone: null, translate: () => null };

/** The language, zone and messages of the page that a filter renders; English where a rendering has none. */
const localeOf = ({ context }: FilterThis) => renderingOf(context)?.data.locale ?? english;

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

/** How long a date or time is written. */
const STYLES = ['full', 'long', 'medium', 'short'] as const;
type Style = (typeof STYLES)[number];

/** The date that a value names; null for what is no date. A number is seconds since 1970, as in Liquid's filter `date`. */
function momentOf(value: unknown): Moment | null {
  const given = value instanceof Html ? value.valueOf() : value;
  if (typeof given === 'string' && given !== 'now' && given !== 'today') return readMoment(given);
  const time =
    typeof given === 'string'
      ? Date.now()
      : typeof given === 'number'
        ? given * 1000
        : given instanceof Date
          ? +given
          : Number.NaN;
  return Number.isNaN(new Date(time).getTime()) ? null : { time, kind: 'instant' };
}

const isNow = (value: unknown): boolean => {
  const given = value instanceof Html ? value.valueOf() : value;
  return given === 'now' || given === 'today';
};

const MINUTE = 60_000;
/** Hours and days begin at a quarter of an hour of UTC, in every zone. */
const QUARTER = 15 * MINUTE;

/**
 * Says until when the text stays the same that was made of the present.
 * @param time the present of which it was made @param step milliseconds between two texts; undefined: any
 */
function noteClock({ context }: Pick<FilterThis, 'context'>, time: number, step: number | undefined): void {
  renderingOf(context)?.data.onClock?.(step && (Math.floor(time / step) + 1) * step);
}

/** Conversions of Liquid's formats that change with the hour at most. */
const slow = new Set('aAbBCdehHIjklmnpPqtuUwWxyYzZ%');
const conversions = /%(?:[-_0^#:]+)?(?:\d+)?[EO]?(.)/g;

/** Milliseconds between two texts of a format, at least; undefined where they may differ at any time. @param zone may be minutes */
function stepOf(format: unknown, zone: unknown): number | undefined {
  if (typeof zone === 'number' && zone % 15 !== 0) return undefined;
  const letters = [...plainText(format).matchAll(conversions)].map(([, letter = '']) => letter);
  if (letters.length === 0 || !letters.every((letter) => slow.has(letter) || letter === 'M')) return undefined;
  return letters.includes('M') ? MINUTE : QUARTER;
}

/**
 * A date in the language and time zone of the site (docs/reference/layouts.md#dates-and-numbers). A day without a time, and a
 * time without a zone, are that day and hour in every zone. What is no date stays unchanged.
 * @param args `date` and `time`, each `full`, `long`, `medium`, `short` or false; a long date alone without them
 */
function formatDate(this: FilterThis, value: unknown, ...args: unknown[]): unknown {
  const moment = momentOf(value);
  if (!moment) return value;
  const given = named(args);
  const timeStyle = moment.kind === 'day' ? undefined : style('time', given.time);
  const dateStyle = style('date', given.date ?? (timeStyle === undefined ? 'long' : undefined));
  if (dateStyle === undefined && timeStyle === undefined) return '';
  if (isNow(value))
    noteClock(this, moment.time, timeStyle === undefined ? QUARTER : timeStyle === 'short' ? MINUTE : undefined);
  return writeMoment(moment, localeOf(this), { dateStyle, timeStyle });
}

function style(name: string, given: unknown): Style | undefined {
  if (given === undefined || given === null || given === false) return undefined;
  if (STYLES.includes(given as Style)) return given as Style;
  throw new Error(`"${name}" is one of ${STYLES.join(', ')}, not "${plainText(given)}"`);
}

/** A time zone as Liquid has it: its name, or minutes that are added to get UTC. */
type Zone = string | number | undefined;

/** Minutes that are added to the clock of a zone to get UTC, when it shows the same as the clock of UTC at `time`. */
function offsetAt(time: number, zone: Zone): number {
  if (typeof zone === 'number') return zone;
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const offset = (moment: number): number => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day, hour, minute, second } = parts;
    return (Math.floor(moment / 1000) * 1000 - Date.UTC(year, month - 1, day, hour, minute, second)) / 60_000;
  };
  return offset(time + offset(time) * 60_000);
}

type DateFilter = (this: { context: Pick<Context, 'opts' | 'memoryLimit'> }, ...args: unknown[]) => unknown;

/** Liquid's own filters that write a date. */
const OF_DATES = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'] as const;

/**
 * Registers `format_date`, and replaces Liquid's filters for dates by ones that read the same dates: they take a day and a time
 * without a zone for those of the zone that they write, and leave what is no date unchanged. A text of digits is seconds since
 * 1970 for them.
 */
export function registerDateFilters(liquid: Liquid): void {
  liquid.registerFilter('format_date', formatDate as never);
  for (const name of OF_DATES) {
    const write = liquid.filters[name] as DateFilter;
    liquid.registerFilter(name, ofMoments(write, name === 'date') as never);
  }
}

/** @param hasZone whether the filter's second argument is a time zone */
function ofMoments(write: DateFilter, hasZone: boolean) {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    const text = plainText(value);
    const moment = momentOf(/^\d{1,15}$/.test(text) ? Number(text) : value);
    if (!moment) return value;
    if (isNow(value)) noteClock(this as FilterThis, moment.time, hasZone ? stepOf(args[0], args[1]) : undefined);
    const { opts, memoryLimit } = this.context;
    const zone = ((hasZone ? args[1] : undefined) ?? opts.timezoneOffset) as Zone;
    const timezoneOffset = moment.kind === 'instant' ? zone : offsetAt(moment.time, zone);
    const time = moment.kind === 'instant' ? moment.time : moment.time + Number(timezoneOffset) * 60_000;
    const context = { opts: { ...opts, timezoneOffset }, memoryLimit } as Pick<Context, 'opts' | 'memoryLimit'>;
    return write.call({ context }, new Date(time), ...(hasZone ? args.slice(0, 1) : args));
  };
}

/** `this` of Liquid's filters. */
interface StandardThis {
  context: Context;
}

type StandardFilter = (this: StandardThis, ...values: unknown[]) => unknown;

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
  const own = { ...liquid.filters } as Record<string, StandardFilter>;
  for (const name of ['plus', 'minus', 'times', 'modulo']) {
    liquid.registerFilter(name, function (this: StandardThis, ...values: unknown[]) {
      return decimal((own[name] as StandardFilter).apply(this, values));
    } as never);
  }
  const textOf = (self: StandardThis, value: unknown): string =>
    String((own.append as StandardFilter).call(self, value, ''));

  liquid.registerFilter('truncatewords', function (this: StandardThis, value: unknown, ...args: unknown[]) {
    const count = Math.max(1, Number(args[0] ?? 15));
    const words = textOf(this, value)
      .trim()
      .split(/\s+/, count + 1);
    return words.length <= count
      ? textOf(this, value)
      : (own.truncatewords as StandardFilter).call(this, value, ...args);
  } as never);

  liquid.registerFilter('split', function (this: StandardThis, value: unknown, by: unknown) {
    const parts = (own.split as StandardFilter).call(this, value, by) as string[];
    return textOf(this, by) === '' ? Array.from(textOf(this, value)) : parts;
  } as never);
}
