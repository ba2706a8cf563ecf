const DAY = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
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
  return Date.UTC(year, month - 1, day, hour, minute, second);
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
