import { z } from 'zod';
import type { SelfService } from '../types';
import { type Check, check, shownAs } from '../yaml/check';
import { boundedList, describe, mapping } from '../yaml/schema';

const UNITS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** Milliseconds of the longest time: ten years. */
const MAX_TIME = 3_653 * UNITS.day;

const TIME = /^([1-9]\d{0,4}) (minute|hour|day|week)s?$/;

const timeText = z.string({ error: ({ input }) => notTime(input) });

const notTime = (input: unknown) => `This must be a time such as "7 days" or "12 hours", not ${describe(input)}`;

/** A time such as `7 days`, in milliseconds. */
export const duration: Check<number> = check(
  shownAs(timeText, () => z.string().regex(TIME)),
  (given, at) => {
    const [, count = '', unit = ''] = TIME.exec(given.trim()) ?? [];
    const time = Number(count) * (UNITS[unit as keyof typeof UNITS] ?? Number.NaN);
    if (!(time > 0)) return at.fail(notTime(given));
    return time > MAX_TIME ? at.fail('This is longer than ten years') : time;
  },
);

const uses = ['view', 'edit', 'delete'] as const;

const notUses = ({ input }: { input?: unknown }) =>
  `This must be a list of "view", "edit" and "delete", not ${describe(input)}`;

const allowSchema = boundedList(
  uses.length,
  'The list has at most three entries: "view", "edit" and "delete"',
  shownAs(z.array(z.enum(uses, { error: notUses }), { error: notUses }).min(1, 'This list is empty'), () =>
    z.array(z.enum(uses)).min(1).max(uses.length),
  ),
);

const allow = check<(typeof uses)[number][]>(allowSchema);

const whole = mapping({ allow, until: duration });

/** What the holder of the link to a record may do with it (docs/reference/definitions.md#corrections-by-a-link). */
export const selfService = check(z.union([allowSchema, whole.schema], { error: notUses }), (value, at): SelfService => {
  const given = Array.isArray(value) ? { allow: value, until: undefined } : whole.read(value as never, at);
  if (given.allow === undefined) return at.fail('"self_service" needs "allow", a list of "view", "edit" and "delete"');
  return {
    edit: given.allow.includes('edit'),
    delete: given.allow.includes('delete'),
    until: given.until ?? null,
  };
});
