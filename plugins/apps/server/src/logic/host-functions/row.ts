import { z } from 'zod';
import { type Items, isItems, type Json } from '../../../../shared/json';

/**
 * The rights that a call needs beside correct arguments. apps/ checks them before the handler runs (`logic-host.ts`), the
 * last three in functions that the handler calls:
 *
 * - `view`, `create`, `edit`, `delete`: a right to records, needed only in another app (logic may do anything with its own
 *   app's records); all but `view` write, for which a GET request needs its token. `edit` and `delete` concern the record
 *   of the argument `id`.
 * - `manager`: a manager of the app, also of the own app; it writes.
 * - `block`: the block's `view_permission`.
 * - `content`: the requester's rights to the host's content.
 * - `content-change`: the same, in functions that may change content; no GET, HEAD or OPTIONS request can do so.
 */
export type Permission =
  | 'none'
  | 'view'
  | 'create'
  | 'edit'
  | 'delete'
  | 'manager'
  | 'block'
  | 'content'
  | 'content-change';

/** The calling session. */
export interface Caller {
  app: string;
  block: string | null;
  /** Characters of a log entry; longer ones are cut. */
  logEntrySize: number;
  /** The line of the theme's file at the top of a stack of frames. */
  lineOf(stack: string): number | null;
  countLog(): void;
}

/** A type that exists only for the compiler. */
export interface Type<T> {
  readonly type?: T;
}

export function returns<T>(): Type<T> {
  return {};
}

/** One host function: the server, both preludes, the types and the reference follow from this row. */
export interface HostFunction<Args extends Shape = Shape, Given = unknown, Result = unknown> {
  /** One line for the reference and for editors. */
  doc: string;
  /** Text that editors show after it. */
  details?: string;
  /** Its syntax in JavaScript and in Python, for the reference. Python's also declares a forwarding method. */
  written: readonly [javascript: string, python: string];
  /** Declarations of its methods for `shared/context-calls.d.ts`, by interface. */
  types?: Record<string, readonly string[]>;
  /** The same in Python, by the classes of `python/__builtins__.pyi`, without the `...` at the end. */
  python?: Record<string, readonly string[]>;
  /** Arguments by name. */
  args: Args;
  permission: Permission;
  /** False: it reads no record, so that pending changes need not be flushed before it. */
  flushes?: false;
  /**
   * Both preludes generate the method from this row: it passes the arguments on and returns the answer. Other methods are
   * written by hand in `sandbox/src`.
   */
  forwards?: Forwarding;
  /** Makes the handler's argument from the arguments of the call. */
  prepare?(caller: Caller, args: CheckedArguments<Args>): Given;
  /** Type of the handler's result. */
  returns: Type<Result>;
}

export interface Forwarding {
  /** The object of the method, which provides the arguments that identify the app or the record. */
  of: 'app' | 'record';
  method: string;
  /** Arguments that JavaScript also accepts by position. */
  positional: readonly string[];
}

/** A row of the table, whose arguments determine the type of its handler. */
export function row<Args extends Shape, Result, Given = CheckedArguments<Args>>(
  definition: HostFunction<Args, Given, Result>,
): HostFunction<Args, Given, Result> & { schema: z.ZodType<CheckedArguments<Args>> } {
  return { ...definition, schema: z.object(definition.args) as never };
}

/**
 * A schema of one argument. The reference shows its description; an error's message describes valid values, and
 * `problemOf` makes a sentence of it.
 */
export type Schema<T = unknown> = z.ZodType<T>;

/** Schemas by the names of the arguments. */
type Shape = Record<string, Schema>;

export type CheckedArguments<Args extends Shape> = { [Key in keyof Args]: z.infer<Args[Key]> };

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
    Partial<CheckedArguments<Options>>
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
