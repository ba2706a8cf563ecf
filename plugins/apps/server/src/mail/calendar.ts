/** A moment or a day that a calendar shows. */
export interface CalendarEvent {
  /** The same for each file about one event: a calendar then has it once. */
  uid: string;
  title: string;
  /** Where it is described; null for nowhere. */
  url: string | null;
  /** Milliseconds since 1970; of a whole day those at which it begins in UTC. */
  start: number;
  isDay: boolean;
  /** When the file is made, in milliseconds since 1970. */
  made: number;
}

/** Bytes of a line in UTF-8, without its end (RFC 5545, 3.1). */
const MAX_LINE = 75;

const DAY = 86_400_000;

/**
 * An iCalendar file with one event (RFC 5545). Moments are written in UTC, which each calendar shows in its own time zone.
 */
export function calendarFile({ uid, title, url, start, isDay, made }: CalendarEvent): string {
  const when = isDay
    ? [`DTSTART;VALUE=DATE:${day(start)}`, `DTEND;VALUE=DATE:${day(start + DAY)}`]
    : [`DTSTART:${moment(start)}`];
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//strapi-plugin-apps//receipt//EN', 'METHOD:PUBLISH'],
    ...['BEGIN:VEVENT', `UID:${escaped(uid)}`, `DTSTAMP:${moment(made)}`, ...when, `SUMMARY:${escaped(title)}`],
    ...(url === null ? [] : [`URL:${url}`]),
    ...['END:VEVENT', 'END:VCALENDAR'],
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

const digits = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '');

const moment = digits;

const day = (time: number): string => digits(time).slice(0, 8);

/** A text as a value: no line of its own can follow from it. */
const escaped = (text: string): string =>
  text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|[\r\n\u2028\u2029]/g, '\\n')
    .replace(/\p{Cc}/gu, '');

/** A line in parts of at most 75 bytes, none of which ends within a character. */
function folded(line: string): string {
  let [text, size] = ['', 0];
  for (const character of line) {
    const bytes = Buffer.byteLength(character);
    if (size + bytes > MAX_LINE) {
      text += '\r\n ';
      size = 1;
    }
    text += character;
    size += bytes;
  }
  return text;
}
