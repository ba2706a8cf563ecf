/** The clock of the site's time zone, for logic in both languages (docs/reference/logic.md#the-sites-time). */

const HOUR = 3_600_000;

/** Hours by which a clock may differ from UTC, and one more. */
const MAX_OFFSET = 17;

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:$|[T ])/;
const ZONE = /(?:Z|[+-]\d\d:?\d\d)$/;

/** The clock of a zone shows this time as if it were UTC: milliseconds since 1970. */
function clockAt(time: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(time);
  const {
    year = 0,
    month = 1,
    day = 1,
    hour = 0,
    minute = 0,
    second = 0,
  } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return utc(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000 + (((time % 1000) + 1000) % 1000);
}

/** A day begins in UTC at this time. */
function utc(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime();
}

const two = (number: number): string => String(number).padStart(2, '0');

/** `2026-03-01T09:30:15+01:00`: the time in the zone, with its difference from UTC. */
export function zonedTime(time: number, timeZone: string): string {
  const second = Math.floor(time / 1000) * 1000;
  const clock = clockAt(second, timeZone);
  const minutes = Math.round((clock - second) / 60_000);
  const sign = minutes < 0 ? '-' : '+';
  const offset = `${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${new Date(clock).toISOString().slice(0, 19)}${sign}${offset}`;
}

/** The day that a text names; that of a time with a zone is the day in the site's zone. RangeError for another text. */
function dayOf(text: string, timeZone: string): number {
  const wrong = () =>
    new RangeError(`day_begin takes a date such as 2026-03-01, not ${JSON.stringify(text.slice(0, 40))}`);
  const [, ...numbers] = DATE.exec(text) ?? [];
  const [year = 0, month = 0, day = 0] = numbers.map(Number);
  const named = utc(year, month, day);
  if (numbers.length === 0 || new Date(named).toISOString().slice(0, 10) !== text.slice(0, 10)) throw wrong();
  if (text.length === 10 || !ZONE.test(text)) return named;
  const time = Date.parse(text.replace(' ', 'T'));
  if (Number.isNaN(time)) throw wrong();
  return Math.floor(clockAt(time, timeZone) / (24 * HOUR)) * 24 * HOUR;
}

/**
 * The moment at which a day of the zone begins, as `toISOString` writes it: most days at midnight, some an hour later, where
 * clocks are put forward at midnight.
 * @param day a date, or a time on the day; empty: the day of `now`
 * @param days added to it
 */
export function dayBegin(timeZone: string, now: number, day: string, days: number): string {
  const wanted = dayOf(day === '' ? zonedTime(now, timeZone) : day, timeZone) + Math.trunc(days) * 24 * HOUR;
  let [before, begun] = [wanted - MAX_OFFSET * HOUR, wanted + MAX_OFFSET * HOUR];
  while (begun - before > 1) {
    const middle = Math.floor((before + begun) / 2);
    if (clockAt(middle, timeZone) >= wanted) begun = middle;
    else before = middle;
  }
  return new Date(begun).toISOString();
}
