import type { Context, Liquid } from 'liquidjs';
import { type Moment, readMoment, writeMoment } from '../../common/values/moments';
import { Html, plainText } from './html';
import { type FilterThis, localeOf, named } from './locale-filters';
import { renderingOf } from './tags';

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
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const offset = (moment: number): number => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day, hour, minute, second } = parts;
    return (Math.floor(moment / 1000) * 1000 - Date.UTC(year, month - 1, day, hour, minute, second)) / 60_000;
  };
  return offset(time + offset(time) * 60_000);
}

type Handler = (this: { context: Pick<Context, 'opts' | 'memoryLimit'> }, ...args: unknown[]) => unknown;

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
    const write = liquid.filters[name] as Handler;
    liquid.registerFilter(name, ofMoments(write, name === 'date') as never);
  }
}

/** @param hasZone whether the filter's second argument is a time zone */
function ofMoments(write: Handler, hasZone: boolean) {
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
