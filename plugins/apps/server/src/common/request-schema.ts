import type { z } from 'zod';
import { AppsError } from './errors';
import { keysOf, type Problem, validate } from './validation';

/** The message for a value that is not `wanted`. */
export const must = (wanted: string) => ({ error: () => `must be ${wanted}` });

/** Schema of a body with the keys of `shape` and no others. */
export const bodyOf = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => keysOf(shape, must('an object').error);

/** Validates a body. BadRequestError for the first problem; `details.key` names the key. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
  return read(schema, body, ({ path, wrong, message }) => {
    const key = path.join('.');
    const unknown = `Unknown key "${key}" in the body; known are ${message}`;
    return [wrong === 'unknown key' ? unknown : `"${key}" ${message}`, { key }];
  });
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
