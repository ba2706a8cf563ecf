import { z } from 'zod';
import type { TimeSpan } from '../types';
import { type Check, check, shownAs } from '../yaml/check';
import { describe } from '../yaml/schema';

type Unit = TimeSpan['unit'];

/** Milliseconds of each unit; of a month and a year those of a long one. */
const UNITS: Record<Unit, number> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 31 * 86_400_000,
  year: 366 * 86_400_000,
};

/** A length of time such as `7 days`. @param most years that it may have, at most */
export function timeSpan({ units, example, most }: { units: Unit[]; example: string; most: number }): Check<TimeSpan> {
  const pattern = new RegExp(`^([1-9]\\d{0,4}) (${units.join('|')})s?$`);
  const notTime = (input: unknown) => `This must be a time such as ${example}, not ${describe(input)}`;
  const text = z.string({ error: ({ input }) => notTime(input) });
  return check(
    shownAs(text, () => z.string().regex(pattern)),
    (given, at): TimeSpan => {
      const [, count = '', unit] = pattern.exec(given.trim()) ?? [];
      if (unit === undefined) return at.fail(notTime(given));
      const span = { count: Number(count), unit: unit as Unit };
      if (lengthOf(span) > most * UNITS.year) at.fail(`This is longer than ${most === 10 ? 'ten' : most} years`);
      return span;
    },
  );
}

/** Milliseconds of a span; of months and years at least as many as they have. */
export const lengthOf = ({ count, unit }: TimeSpan): number => count * UNITS[unit];

/** The moment that lies a span before another one, in milliseconds since 1970. Months and years are those of the calendar, in UTC. */
export function timeBefore({ count, unit }: TimeSpan, moment: number): number {
  if (unit !== 'month' && unit !== 'year') return moment - count * UNITS[unit];
  const date = new Date(moment);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - count * (unit === 'year' ? 12 : 1));
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  // A month that is shorter ends earlier.
  return date.setUTCDate(Math.min(day, days));
}
