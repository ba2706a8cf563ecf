import { z } from 'zod';
import { cronProblem, isTimeZone } from '../../common/time/cron';
import type { Wrong } from '../../common/validation';
import type { Schedule } from '../types';
import { type Check, check } from '../yaml/check';
import { boundedList, describe, mapping, oneOf } from '../yaml/schema';

/** Maximum schedules of a block. */
const MAX_SCHEDULES = 20;

/** Names of functions in JavaScript and Python; `run` is one of the block. */
const NAME = /^[A-Za-z_$][\w$]{0,99}$/;

const notName = {
  error: ({ input }: Wrong) => `This must be the name of a function of the block, not ${describe(input)}`,
};

const notCron = {
  error: ({ input }: Wrong) => `This must be a cron text such as "0 6 * * 1-5", not ${describe(input)}`,
};

const cron = check<string>(
  z.string(notCron).superRefine((text, context) => {
    const problem = cronProblem(text);
    if (problem) context.addIssue(`${notCron.error({ input: text })}: ${problem}`);
  }),
);

const notZone = {
  error: ({ input }: Wrong) => `This must be a time zone such as Europe/Paris, not ${describe(input)}`,
};

const scheduleMapping = mapping({
  run: check<string>(z.string(notName).regex(NAME, notName)),
  cron,
  time_zone: check<string>(z.string(notZone).refine(isTimeZone, notZone)),
  missed: oneOf('skip', 'once', 'all'),
});

const schedule = check(scheduleMapping.schema, (value, at): Schedule => {
  const { run, cron: text, time_zone: timeZone = null, missed = 'once' } = scheduleMapping.read(value, at);
  if (run === undefined) return at.fail('A schedule needs a "run", the name of a function');
  if (text === undefined) return at.fail('A schedule needs a "cron", such as "0 6 * * 1-5"');
  return { run, cron: text.trim().replace(/\s+/g, ' '), timeZone, missed, position: at.position };
});

const list = boundedList(
  MAX_SCHEDULES,
  `A block has at most ${MAX_SCHEDULES} schedules`,
  z.array(schedule.schema, { error: ({ input }) => `This must be a list of schedules, not ${describe(input)}` }),
  (one) => schedule.schema.safeParse(one).success,
);

/** The key `schedules` of a definition (docs/reference/definitions.md#schedules). */
export const schedules: Check<Schedule[]> = check(list, (values, at): Schedule[] => {
  const found = new Map<string, Schedule>();
  for (const [index, value] of (values as unknown[]).entries()) {
    const node = at.child(index);
    const one = schedule.read(value, node);
    const key = JSON.stringify([one.run, one.cron, one.timeZone]);
    if (found.has(key)) node.fail('This schedule is there twice');
    found.set(key, one);
  }
  return [...found.values()];
});
