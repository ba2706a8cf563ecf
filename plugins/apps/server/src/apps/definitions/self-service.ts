import { z } from 'zod';
import type { SelfService } from '../types';
import { check, shownAs } from '../yaml/check';
import { boundedList, describe, mapping } from '../yaml/schema';
import { lengthOf, timeSpan } from './time-span';

/** The longest time: ten years. */
const until = timeSpan({ units: ['minute', 'hour', 'day', 'week'], example: '"7 days" or "12 hours"', most: 10 });

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

const whole = mapping({ allow, until });

/** What the holder of the link to a record may do with it (docs/reference/definitions.md#corrections-by-a-link). */
export const selfService = check(z.union([allowSchema, whole.schema], { error: notUses }), (value, at): SelfService => {
  const given = Array.isArray(value) ? { allow: value, until: undefined } : whole.read(value as never, at);
  if (given.allow === undefined) return at.fail('"self_service" needs "allow", a list of "view", "edit" and "delete"');
  return {
    edit: given.allow.includes('edit'),
    delete: given.allow.includes('delete'),
    until: given.until ? lengthOf(given.until) : null,
  };
});
