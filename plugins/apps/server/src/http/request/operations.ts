import type { Context } from 'koa';
import { z } from 'zod';
import { separatorNames } from '../../../../shared/cells';
import { type Items, isItems } from '../../../../shared/json';
import type { RecordRight } from '../../auth';
import { AppsError } from '../../common/errors';
import { checkNumbers } from '../../common/numbers';
import { bodyOf, must, unknownName } from '../../common/validation';
import type { SearchOptions } from '../../indexes/types';
import type { AppTarget } from '../../sites/types';
import { hasBody } from './body';
import { fileFormat, mediaType } from './negotiate';

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
}).transform(({ sort_index: sortIndex, with_total: withTotal, ...others }) => ({ sortIndex, withTotal, ...others }));

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
  .transform(({ sort_index: sortIndex, with_total: withTotal, ...others }) => ({ sortIndex, withTotal, ...others }));

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

/** An operation of the JSON interface on an app or its records. */
interface Operation {
  /** The right to records that it needs; absent where it needs none, or only managers have it. */
  right?: RecordRight;
  /** Names of its query parameters. */
  parameters: readonly string[];
  /** Those of a body that is a table. */
  tableParameters?: readonly string[];
  /** Whether it takes a body. */
  body: boolean;
}

const reads = (parameters: readonly string[] = []): Operation => ({ right: 'view', parameters, body: false });
const takes = (right: RecordRight): Operation => ({ right, parameters: [], body: true });
const deletes = (right: RecordRight): Operation => ({ right, parameters: [], body: false });

/**
 * The operations whose names are all known (docs/reference/json-interface.md#unknown-names), by address and method. Elements and
 * forms are not here: logic reads any parameters and keys.
 */
const operations: Partial<Record<AppTarget['kind'], Readonly<Record<string, Operation>>>> = {
  root: { GET: { parameters: [], body: false }, POST: takes('create') },
  records: {
    GET: reads(parameterNames.list),
    POST: { ...takes('create'), tableParameters: parameterNames.table },
    DELETE: deletes('deleteAll'),
  },
  'records.csv': { GET: reads(parameterNames.list) },
  'records.xlsx': { GET: reads(parameterNames.list) },
  search: { GET: reads(parameterNames.search), POST: takes('view') },
  'search.csv': { GET: reads(parameterNames.search) },
  'search.xlsx': { GET: reads(parameterNames.search) },
  refresh: { POST: { parameters: [], body: true } },
  history: { GET: reads(parameterNames.history), POST: takes('edit') },
  record: {
    GET: reads(),
    POST: takes('edit'),
    PUT: takes('create'),
    PATCH: takes('edit'),
    DELETE: deletes('delete'),
  },
};

/** The operation of a method of an address; HEAD is GET. Undefined for pages and what else is not in the table. */
export function operationOf(kind: AppTarget['kind'], method: string, json: boolean): Operation | undefined {
  // The page of a record is for logic.
  if (kind === 'record' && !json) return undefined;
  return operations[kind]?.[method === 'HEAD' ? 'GET' : method];
}

/** The query parameter that marks a record's address after a visitor without the right to read has saved it. */
export const SAVED = 'saved';

/** Parameters that are never unknown: the site's locale (docs/reference/site.md#content-in-several-locales), and our own mark. */
const everywhere = new Set(['locale', SAVED]);

/**
 * BadRequestError for a query parameter that an operation of the JSON interface does not know, and for the keys of a body
 * that it does not take. Keys of bodies that it takes are checked by their schemas.
 */
export function requireKnownInput(ctx: Context, { body, ...operation }: Operation): void {
  const format = fileFormat(ctx);
  const isTable = format !== undefined && format !== 'ndjson';
  const parameters = (isTable && operation.tableParameters) || operation.parameters;
  const unknown = Object.keys(ctx.query).find((name) => !everywhere.has(name) && !parameters.includes(name));
  if (unknown !== undefined) {
    const message = unknownName(`parameter "${unknown}"`, unknown, parameters);
    throw new AppsError('BadRequestError', message, { details: { parameter: unknown } });
  }
  if (body || !hasBody(ctx)) return;
  if (mediaType(ctx) !== 'application/json')
    throw new AppsError('UnsupportedMediaTypeError', `${ctx.method} takes no body here`);
  const [key] = Object.keys((ctx.request as { body?: object }).body ?? {});
  if (key === undefined) return;
  const message = `Unknown key "${key}" in the body; ${ctx.method} takes no body here`;
  throw new AppsError('BadRequestError', message, { details: { key } });
}

/**
 * BadRequestError for a key of operation 10 that begins with `$` and is none of its operators: it would be stored as an item,
 * where a change was meant.
 */
export function requireKnownOperators(change: object): void {
  const unknown = Object.keys(change).find((name) => name.startsWith('$') && name !== '$inc');
  if (unknown === undefined) return;
  const message = unknownName(`operator "${unknown}" in the body`, unknown, ['$inc']);
  throw new AppsError('BadRequestError', message, { details: { key: unknown } });
}
