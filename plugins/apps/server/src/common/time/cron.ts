import { Cron } from 'croner';
import cronstrue from 'cronstrue';

/** Maximum characters of a cron text: a list of all minutes has 169. */
const MAX_LENGTH = 500;

/** What the fields may hold; croner's further spellings (`@daily`, `?`, `+`, a date) are left out. */
const FIELDS = /^[\dA-Za-z*/,#-]+(?:\s+[\dA-Za-z*/,#-]+){4,5}$/;

/** From where a cron text must have a tick; any leap year comes within eight years. */
const PROBE = Date.UTC(2024, 0, 1);

/**
 * `no-wildcard`: times that name their hours count as times of the clock on the wall, and run once on both days of summer time;
 * others count as intervals (docs/reference/definitions.md#schedules).
 */
const rules = { paused: true, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' } as const;

/** Why a text is no cron text with ticks; null when it is one. */
export function cronProblem(text: string): string | null {
  if (text.length > MAX_LENGTH || !FIELDS.test(text.trim())) {
    return 'it needs five fields (minute, hour, day of the month, month, day of the week), or six with seconds before them';
  }
  try {
    const next = new Cron(text.trim(), { ...rules, timezone: 'UTC' }).nextRun(new Date(PROBE));
    return next === null ? 'no day has such a date' : null;
  } catch (error) {
    return inWords((error as Error).message);
  }
}

const fieldNames = ['second', 'minute', 'hour', 'day of the month', 'month', 'day of the week'];

/** croner's message without its own terms: `configuration entry 5 (FRY) contains illegal characters.` */
function inWords(message: string): string {
  return message
    .replace(/^CronPattern: (?:Syntax error, )?/, '')
    .replace(/^configuration entry (\d)/, (all, index) => fieldNames[index] ?? all)
    .replace(/\.$/, '');
}

/** Times of a schedule, in milliseconds since the epoch, whole seconds. */
export interface Ticks {
  /** The first tick after a time; null when there is none. */
  next(after: number): number | null;
  /** The latest ticks after one time and not after another, `max` at most, in their order. */
  between(after: number, until: number, max: number): number[];
}

/**
 * The ticks of a cron text.
 * @param text one without a `cronProblem` @param timeZone an IANA time zone; null: the server's
 */
export function ticksOf(text: string, timeZone: string | null): Ticks {
  const cron = new Cron(text.trim(), { ...rules, ...(timeZone === null ? {} : { timezone: timeZone }) });
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    between(after, until, max) {
      const found: number[] = [];
      // croner looks at whole seconds before the given one: the second of `until` counts too.
      let at = Math.floor(until / 1_000) * 1_000 + 1_000;
      while (found.length < max) {
        const tick = cron.previousRuns(1, new Date(at))[0]?.getTime();
        if (tick === undefined || tick <= after || tick >= at) break;
        found.push(tick);
        at = tick;
      }
      return found.reverse();
    },
  };
}

/** What a cron text means: `At 06:00, Monday through Friday, Europe/Paris`. */
export function cronWords(text: string, timeZone: string): string {
  return `${meaningOf(text)}, ${timeZone}`;
}

function meaningOf(text: string): string {
  try {
    return cronstrue.toString(text.trim(), { use24HourTimeFormat: true, throwExceptionOnParseError: true });
  } catch {
    // A spelling that croner knows and cronstrue does not.
    return `At ${text.trim()}`;
  }
}

/** Whether a text names a time zone. */
export function isTimeZone(given: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: given }) !== null;
  } catch {
    return false;
  }
}

/** The server's own time zone. */
export const serverTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
