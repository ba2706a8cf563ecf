import { z } from 'zod';
import { type Items, isItems, type Json } from '../../../../shared/json';

/**
 * A schema of one argument. The reference shows its description; an error's message describes valid values, and
 * `problemOf` makes a sentence of it.
 */
export type Schema<T = unknown> = z.ZodType<T>;

/** Schemas by the names of the arguments. */
export type Shape = Record<string, Schema>;

export type Checked<Args extends Shape> = { [Key in keyof Args]: z.infer<Args[Key]> };

export const string = z.string('a string').describe('a string');
export const boolean = z.boolean('a boolean').describe('a boolean');
export const number = z.number('a number').describe('a number');

const wholeNumber = 'a whole number, 0 or more';
export const count = z.int(wholeNumber).min(0, wholeNumber).describe(wholeNumber);

const httpStatus = 'an HTTP status from 200 to 599';
export const status = z.int(httpStatus).min(200, httpStatus).max(599, httpStatus).describe(httpStatus);

/** Not `z.record`, which drops an item called `__proto__` and copies all items. */
export const items = z.custom<Items>(isItems, 'an object').describe('an object');

const isIds = (value: unknown): value is Json => value === null || typeof value === 'string' || Array.isArray(value);

/** Ids as items have them; entries of the list that are no ids are left out. */
export const ids = z.custom<Json>(isIds, 'an id, or a list of ids').describe('an id, or a list of ids');

export function oneOf(names: readonly string[]) {
  const about = `one of ${names.join(', ')}`;
  return string.refine((name) => names.includes(name), about).describe(about);
}

/** Missing counts as null. */
export function nullable<T>(inner: Schema<T>) {
  return inner.nullable().default(null).describe(`${inner.description}, or null`);
}

export function list<T>(inner: Schema<T>) {
  return z
    .array(z.unknown(), 'a list')
    .superRefine((value, context) => checkEach(value.entries(), inner, context))
    .describe(`a list, each ${inner.description}`) as unknown as Schema<T[]>;
}

/**
 * Reports the first wrong entry only: zod makes an issue for each one, and the text of all of them, which takes seconds for
 * the entries of one message.
 */
function checkEach(entries: Iterable<[string | number, unknown]>, inner: Schema, context: z.RefinementCtx): void {
  for (const [key, entry] of entries) {
    const [issue] = inner.safeParse(entry).error?.issues ?? [];
    if (issue) return context.addIssue({ code: 'custom', message: issue.message, path: [key, ...issue.path] });
  }
}

/** An object with any keys and values of one schema. */
export function dictionary<T>(inner: Schema<T>) {
  return items
    .superRefine((value, context) => checkEach(Object.entries(value), inner, context))
    .describe(`an object, each value ${inner.description}`) as unknown as Schema<Record<string, T>>;
}

/** An object with the named keys, all optional (null counts as missing); other keys are refused by name. */
export function options<Options extends Shape>(shape: Options) {
  const known = z.preprocess((value: unknown, context) => {
    if (!isItems(value)) return value;
    const given = Object.entries(value).filter(([, entry]) => entry !== null);
    const unknown = given.find(([key]) => !Object.hasOwn(shape, key));
    if (unknown) context.addIssue({ code: 'unrecognized_keys', keys: [unknown[0]], input: value });
    return Object.fromEntries(given);
  }, z.object(shape, 'an object').partial());
  return known.describe(`an object with ${Object.keys(shape).join(', ')}`) as unknown as Schema<
    Partial<Checked<Options>>
  >;
}

/** The first problem as a sentence that names the argument: `change.inc.total must be a number`. */
export function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = (issue?.path ?? [])
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${String(part)}`))
    .join('');
  if (issue?.code === 'unrecognized_keys') return `${path} has no option ${issue.keys[0]}`;
  return `${path} must be ${issue?.message}`;
}
