import type { z } from 'zod';
import { AppsError } from './errors';
import { didYouMean } from './text';
import { keysOf, type Problem, validate } from './validation';

/** The message for a value that is not `wanted`. */
export const must = (wanted: string) => ({ error: () => `must be ${wanted}` });

/** Schema of a body with the keys of `shape` and no others. */
export const bodyOf = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => keysOf(shape, must('an object').error);

/** Validates a body. BadRequestError for the first problem; `details.key` names the key. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
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
  describe: (problem: Problem) => [message: string, details: Record<string, string>],
): T {
  const { value, problems } = validate(schema, given);
  const [problem] = problems ?? [];
  if (!problem) return value as T;
  const [message, details] = describe(problem);
  throw new AppsError('BadRequestError', message, { details });
}
