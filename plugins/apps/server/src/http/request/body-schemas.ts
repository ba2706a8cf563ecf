import { z } from 'zod';
import { separatorNames } from '../../../../shared/cells';
import { type Items, isItems } from '../../../../shared/json';
import { checkNumbers } from '../../common/numbers';
import { bodyOf, must } from '../../common/validation';
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

/** True also for a name without a value, which Strapi reads as null. */
const flag = z
  .enum(['', 'true', 'false'], must('true or false'))
  .nullable()
  .transform((text) => text !== 'false');
const digits = z
  .string(COUNT)
  .regex(/^\d{1,9}$/, COUNT)
  .transform(Number);
const NAMES = must('a JSON object');
const jsonText = z.string(NAMES).transform((text, context): Items => {
  const value = parsed(text);
  if (isItems(value)) {
    checkNumbers(text, ' of "names"');
    return value;
  }
  context.addIssue({ code: 'custom', message: NAMES.error() });
  return z.NEVER;
});

/** Undefined for text that is not JSON: it is reported like JSON of another shape. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const searchShape = {
  query: string.optional(),
  sort_index: string.optional(),
  reverse: flag.optional(),
  limit: digits.optional(),
  offset: digits.optional(),
  names: jsonText.optional(),
  with_total: flag.optional(),
};

/** Parameters of operation 11 by a plain link. */
export const searchParameters: z.ZodType<SearchOptions> = z
  .object(searchShape)
  .transform(({ sort_index: sortIndex, with_total: withTotal, ...others }) => ({ ...others, sortIndex, withTotal }));

function wholeNumber(min: number, max: number) {
  const wanted = must(`a whole number from ${min} to ${max}`);
  return z
    .string(wanted)
    .regex(/^\d{1,16}$/, wanted)
    .transform(Number)
    .pipe(z.number().min(min, wanted).max(max, wanted))
    .optional();
}

/** Characters of a language tag. */
const MAX_LANGUAGE = 35;

/** The largest `limit` of operation 4; without `limit` everything is streamed. */
export const MAX_LIMIT = 10_000;

/** Parameters of operation 4. */
export const listParameters = z.object({
  cursor: z.string(must('a cursor given by this service')).optional(),
  limit: wholeNumber(1, MAX_LIMIT),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER),
});

/** Versions of one answer. */
export const MAX_VERSIONS = 100;

/** Parameters of the versions of a record. */
export const historyParameters = z.object({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  limit: wholeNumber(1, MAX_VERSIONS).transform((limit) => limit ?? MAX_VERSIONS),
});

/** Body that restores a version. */
export const restoreBody = bodyOf({
  version: z.int(must('the number of a version')).min(1, must('the number of a version')),
});

/** What a sender chooses about a table of records, in a query or in the panel's options. */
export const tableShape = {
  block: z.string(must('the name of a block')).optional(),
  language: z.string(must('a language, such as de')).max(MAX_LANGUAGE, must('a language, such as de')).optional(),
  separator: z.enum(separatorNames, must('"comma", "semicolon" or "tab"')).optional(),
  sheet: z.string(must('the name of a sheet')).optional(),
};

/** Parameters of operation 6 with a table. */
export const tableParameters = z.object(tableShape);

/** Names of the query parameters that lists and searches by a plain link take, and tables of records. */
export const parameterNames = {
  table: Object.keys(tableShape),
  list: Object.keys(listParameters.shape),
  history: Object.keys(historyParameters.shape),
  search: Object.keys(searchShape),
};

/** Body of operation 12, and of the panel's route for it. */
export const refreshBody = bodyOf({ rebuild: trueOrFalse.default(false) });
