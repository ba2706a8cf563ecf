/** A date that a text names. */
export interface Moment {
  /** Milliseconds since 1970; of a `day` and of a `local` time those of the same day and hour in UTC. */
  time: number;
  /** A day, a day and time in no time zone, or a moment that is the same everywhere. */
  kind: 'day' | 'local' | 'instant';
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Reads a date `YYYY-MM-DD`, with or without a time and a zone, as ISO 8601 has it; null for one that does not exist. */
export function isoMoment(text: string): Moment | null {
  const found = ISO.exec(text);
  if (!found) return null;
  const numbers = found.slice(1, 7).map((part) => Number(part ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const time = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + Number((found[7] ?? '').padEnd(3, '0'));
  const offset = offsetMinutes(found[8]);
  if (offset === null) return null;
  const kind = found[8] !== undefined ? 'instant' : found[4] === undefined ? 'day' : 'local';
  return { time: time - offset * 60_000, kind };
}

function offsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes] = zone.slice(1).split(':').map(Number) as [number, number];
  if (hours > 14 || minutes > 59) return null;
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
}

/** Maximum characters of a date. */
const MAX_DATE = 100;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const TIME = String.raw`(?<hour>\d\d?):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<part>\d{1,9}))?)?(?: ?(?<half>[ap]m))?`;
const ZONE = String.raw` ?(?:GMT|UTC)?(?<zone>Z|(?<=GMT|UTC)(?![+-])|[+-]\d\d(?::?\d\d)?)(?: \([^()]*\))?`;
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.]?';

/** A year, a month and a day in numbers: databases write a blank before the time, and some people slashes. */
const NUMBERS = new RegExp(
  String.raw`^(?<year>\d{4})(?<dash>[-/])(?<month>\d\d?)\k<dash>(?<day>\d\d?)(?:(?:T| )${TIME}(?:${ZONE})?)?$`,
  'i',
);

/** The name of a month: the dates of HTTP, of mails and of `String(new Date())`, and those of Liquid's own documentation. */
const NAMES = [`(?<day>\\d\\d?) (?<month>${MONTH})`, `(?<month>${MONTH}) (?<day>\\d\\d?)`].map(
  (day) => new RegExp(String.raw`^(?:[a-z]{3,9}[.]?,? )?${day},? (?<year>\d{4})(?:,? ${TIME}(?:${ZONE})?)?$`, 'i'),
);

/**
 * Reads a date as layouts have it: ISO 8601, also with a blank in place of the `T`, and English names of months. Null for any
 * other text: which of `01.03.2026` is the month depends on who has written it.
 */
export function readMoment(text: string): Moment | null {
  if (text.length > MAX_DATE) return null;
  const trimmed = text.trim().replace(/ +/g, ' ');
  const { groups } = [NUMBERS, ...NAMES].map((form) => form.exec(trimmed)).find((found) => found !== null) ?? {};
  return groups ? isoMoment(isoText(groups)) : null;
}

function isoText({ year, month = '', day = '', hour, minute, second = '00', part = '', half, zone }: Groups): string {
  const named = months.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const date = `${year}-${two(named || month)}-${two(day)}`;
  if (hour === undefined) return date;
  const hours = half === undefined ? hour : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  return `${date}T${two(hours)}:${minute}:${second}.${part.slice(0, 3).padEnd(3, '0')}${isoZone(zone)}`;
}

type Groups = { [name: string]: string | undefined };

const two = (number: string | number): string => String(number).padStart(2, '0');

/** `Z` and `+hh:mm` of a zone; '' without one. */
function isoZone(zone: string | undefined): string {
  if (zone === undefined) return '';
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  return zone === '' || zone.toUpperCase() === 'Z' ? 'Z' : `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** The language of dates and numbers, and the zone in which moments are shown; null: the server's. */
export interface Region {
  tag: string;
  timeZone: string | null;
}

/** How a date and a time are written: at least one of them. */
type MomentStyle = Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>;

/** A date in a language. A day, and a time without a zone, are that day and hour in every zone. */
export function writeMoment({ time, kind }: Moment, { tag, timeZone }: Region, style: MomentStyle): string {
  const zone = kind === 'instant' ? (timeZone ?? undefined) : 'UTC';
  return new Intl.DateTimeFormat(tag, { ...style, timeZone: zone }).format(time);
}

/** A time of day, `09:30`, with or without seconds. */
const CLOCK = /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

/** A stored date, time or date and time; a time alone is that of a certain day. */
export const storedMoment = (text: string): Moment | null => isoMoment(CLOCK.test(text) ? `1970-01-01T${text}` : text);

/**
 * A stored date, time or date and time as people read it in a language: `March 1, 2026, 9:30 AM`, seconds where it has them.
 * Any other text unchanged.
 */
export function readableMoment(text: string, region: Region): string {
  const isClock = CLOCK.test(text);
  const moment = storedMoment(text);
  if (!moment) return text;
  const seconds = /:\d\d:(\d\d)/.exec(text)?.[1] ?? '00';
  const time = (): string => writeMoment(moment, region, { timeStyle: seconds === '00' ? 'short' : 'medium' });
  if (isClock) return time();
  const day = writeMoment(moment, region, { dateStyle: 'long' });
  return moment.kind === 'day' ? day : `${day}, ${time()}`;
}

/** A moment as people read it to whole minutes, of which none is promised too much. @param milliseconds since 1970 */
export function readableMinute(milliseconds: number, region: Region): string {
  const MINUTE = 60_000;
  return readableMoment(new Date(Math.floor(milliseconds / MINUTE) * MINUTE).toISOString(), region);
}

/** A number as people read it in a language, with all of its digits. @param useGrouping with separators of thousands */
export function readableNumber(value: number, { tag }: Region, useGrouping = true): string {
  return new Intl.NumberFormat(tag, { maximumFractionDigits: 20, useGrouping }).format(value);
}

const DAY = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/** What the clock of a zone shows at a time, as if it were UTC; both in whole seconds, as milliseconds since 1970. */
function clockAt(time: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(time);
  const read = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** What the clock of a zone shows at a moment, as if it were UTC, in milliseconds since 1970. A time without a zone is that time everywhere. */
export function onClock({ time, kind }: Moment, timeZone: string): number {
  if (kind !== 'instant') return time;
  const part = ((time % 1000) + 1000) % 1000;
  return clockAt(time - part, timeZone) + part;
}

/**
 * The moment at which the clock of a zone shows a time, in milliseconds since 1970. A time that the clock skips in spring is as much
 * later as it skips; of one that it shows twice in autumn, the first or the last.
 * @param local the shown time as if it were UTC, in whole seconds
 */
export function momentInZone(local: number, timeZone: string, twice: 'first' | 'last'): number {
  const offsets = [local - DAY, local + DAY].map((time) => clockAt(time, timeZone) - time);
  const moments = offsets.map((offset) => local - offset).sort((one, other) => one - other);
  const shown = moments.filter((time) => clockAt(time, timeZone) === local);
  const [first = 0, last = first] = shown.length > 0 ? shown : [local - (offsets[0] ?? 0)];
  return twice === 'first' ? first : last;
}
