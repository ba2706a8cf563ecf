import { z } from 'zod';
import { AppsError } from './errors';
import { didYouMean } from './text';

/** One thing that is wrong with a value from outside: configuration, a request's body, a file of a theme. */
export interface ValidationProblem {
  /** Keys and indexes that lead to the wrong value, or to the key that is wrong itself. */
  readonly path: readonly (string | number)[];
  /** What is wrong there: the value, the key's name, or that there is a key at all. */
  readonly wrong: 'value' | 'key' | 'unknown key';
  /** The schema's message; callers build a sentence from it. */
  readonly message: string;
}

type Validated<T> = { value: T; problems?: undefined } | { value?: undefined; problems: readonly ValidationProblem[] };

/** The issue that zod passes to a schema's `error`; `input` is undefined for a missing value. */
export type Wrong = { readonly input?: unknown };

const aboutUnknownKey = { wrong: 'unknown key' } as const;

/** Unknown keys that are reported for one mapping. A YAML file may repeat a large mapping a hundred times by aliases. */
const MAX_UNKNOWN = 20;

/**
 * Schema of a mapping with the keys of `shape` and no others; the message for an unknown key lists the known keys.
 * @param notMapping the message for any other value
 */
export function keysOf<Shape extends z.core.$ZodLooseShape>(shape: Shape, notMapping: (issue: Wrong) => string) {
  const known = Object.keys(shape).join(', ');
  // Not `strictObject`: its one issue for all unknown keys does not say which are known.
  const none = z.custom<never>(() => false, { error: known, params: aboutUnknownKey });
  const schema = z.object(shape, { error: notMapping }).catchall(none) as unknown as z.ZodObject<Shape, z.core.$strict>;
  return z.preprocess((value, context) => {
    // zod ignores this key.
    if (Object.hasOwn(Object(value), '__proto__'))
      context.addIssue({ code: 'custom', path: ['__proto__'], message: known, params: aboutUnknownKey });
    return withoutExcessKeys(value, shape);
  }, schema);
}

function withoutExcessKeys(value: unknown, shape: object): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  let left = MAX_UNKNOWN;
  const keys = Object.keys(value).filter((key) => Object.hasOwn(shape, key) || left-- > 0);
  return Object.fromEntries(keys.map((key) => [key, (value as Record<string, unknown>)[key]]));
}

/** Whether a schema refuses all other keys; used to generate JSON Schemas. */
export function refusesOtherKeys(schema: z.core.$ZodType): boolean {
  const def = schema._zod.def as { type: string; params?: unknown };
  return def.type === 'custom' && def.params === aboutUnknownKey;
}

/**
 * The parsed value, or all problems: unknown keys first, because one may explain a missing key, and outer mappings before
 * inner ones.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown): Validated<T> {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data };
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue));
  const rank = ({ wrong, path }: ValidationProblem) =>
    wrong === 'unknown key' ? path.length : Number.POSITIVE_INFINITY;
  return {
    problems: problems
      .map((problem) => [rank(problem), problem] as const)
      .sort(([a], [b]) => (a === b ? 0 : a - b))
      .map(([, problem]) => problem),
  };
}

function problemsOf(issue: z.core.$ZodIssue, outer: ValidationProblem['path'] = []): ValidationProblem[] {
  const path = [...outer, ...(issue.path as (string | number)[])];
  const { message } = issue;
  if (issue.code === 'invalid_key') return [{ path, wrong: 'key', message: issue.issues[0]?.message ?? message }];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return closest(issue.errors).flatMap((inner) => problemsOf(inner, path));
  }
  const { wrong = 'value' } = (issue.code === 'custom' ? issue.params : undefined) ?? {};
  return [{ path, wrong, message }];
}

/** Picks the alternative of a union that was most likely meant: its problems lie deepest. */
function closest(options: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  // At equal depth, problems of the value's type count less.
  const depth = (issues: z.core.$ZodIssue[]) =>
    Math.max(...issues.map(({ path, code }) => path.length + (/^invalid_(type|value)$/.test(code) ? 0 : 0.5)));
  return options.reduce((best, option) => (depth(option) > depth(best) ? option : best));
}

/** The message for a value that is not `wanted`. */
export const must = (wanted: string) => ({ error: () => `must be ${wanted}` });

/** Schema of a body with the keys of `shape` and no others. */
export const bodyOf = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => keysOf(shape, must('an object').error);

/** Validates a body. BadRequestError for the first problem; `details.key` names the key. */
export function validateBody<T>(schema: z.ZodType<T>, body: unknown): T {
  return read(schema, body, ({ path, wrong, message }) => {
    const key = path.join('.');
    if (wrong !== 'unknown key') return [`"${key}" ${message}`, { key }];
    const name = String(path.at(-1));
    return [unknownName(`key "${key}" in the body`, name, message.split(', ')), { key }];
  });
}

/** The message for a name that is not among the known ones, with the one that was probably meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  if (known.length === 0) return `Unknown ${what}; there are none here`;
  const meant = didYouMean(name, known);
  return `Unknown ${what}${meant === '' ? '; known' : `${meant} Known`} are ${known.join(', ')}`;
}

/**
 * Validates the parameters of a query string. BadRequestError for the first problem; `details.parameter` names the
 * parameter.
 */
export function readParameters<T>(schema: z.ZodType<T>, query: unknown): T {
  return read(schema, query, ({ path, message }) => {
    const parameter = path.join('.');
    return [`The parameter "${parameter}" ${message}`, { parameter }];
  });
}

function read<T>(
  schema: z.ZodType<T>,
  given: unknown,
  describe: (problem: ValidationProblem) => [message: string, details: Record<string, string>],
): T {
  const { value, problems } = validate(schema, given);
  const [problem] = problems ?? [];
  if (!problem) return value as T;
  const [message, details] = describe(problem);
  throw new AppsError('BadRequestError', message, { details });
}
