import { z } from 'zod';
import { type Items, isItems } from '../../../../shared/json';
import { bodyOf, must } from '../../common/request-schema';
import type { SearchOptions } from '../../indexes/types';

const trueOrFalse = z.boolean(must('true or false'));
const string = z.string(must('a string'));
const COUNT = must('a whole number, 0 or more');
const count = z.int(COUNT).min(0, COUNT);
const object = z.custom<Items>(isItems, must('an object'));

/** Null counts as a missing value. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Body of operation 11. */
export const searchBody: z.ZodType<SearchOptions> = bodyOf({
  query: optional(string),
  sort_index: optional(string),
  reverse: optional(trueOrFalse),
  limit: optional(count),
  offset: optional(count),
  names: optional(object),
  with_total: optional(trueOrFalse),
}).transform(({ sort_index: sortIndex, with_total: withTotal, ...others }) => ({ ...others, sortIndex, withTotal }));

const flag = z.enum(['', 'true', 'false'], must('true or false')).transform((text) => text !== 'false');
const digits = z
  .string(COUNT)
  .regex(/^\d{1,9}$/, COUNT)
  .transform(Number);
const NAMES = must('a JSON object');
const jsonText = z.string(NAMES).transform((text, context): Items => {
  try {
    const value: unknown = JSON.parse(text);
    if (isItems(value)) return value;
  } catch {
    // Text that is not JSON is reported like JSON of another shape.
  }
  context.addIssue({ code: 'custom', message: NAMES.error() });
  return z.NEVER;
});

/** Parameters of operation 11 by a plain link; unknown ones are ignored. */
export const searchParameters: z.ZodType<SearchOptions> = z
  .object({
    query: optional(string),
    sort_index: optional(string),
    reverse: optional(flag),
    limit: optional(digits),
    offset: optional(digits),
    names: optional(jsonText),
  })
  .transform(({ sort_index: sortIndex, ...others }) => ({ ...others, sortIndex }));

/** Body of operation 12, and of the panel's route for it. */
export const refreshBody = bodyOf({ rebuild: trueOrFalse.default(false) });
