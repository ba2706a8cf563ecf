import path from 'node:path';
import type { Answer } from '../support/send';
import type { Case } from './cases/case';

/** Patterns that no answer may match. */
const leaks = [
  path.resolve(__dirname, '..', '..'),
  '/plugins/apps/',
  'node_modules',
  '/tmp/',
  'root:x:',
  'top-secret',
  'leaked',
  'SQLITE_',
  '[native code]',
];
/** A stack, as it stands in JSON too. An attack may read its own, so only errors are checked. */
const stack = /(\n|\\n)\s+at .+:\d+:\d+/;

/** Errors that belong to a status; never `InternalServerError`. */
const names: Record<number, RegExp> = {
  400: /^BadRequestError$/,
  401: /^UnauthorizedError$/,
  403: /^(ForbiddenError|CsrfError)$/,
  404: /^NotFoundError$/,
  413: /^PayloadTooLargeError$/,
  // A page shows the form again, with the errors beside its fields.
  422: /^(ValidationError)?$/,
  500: /^(LogicError|DefinitionError)$/,
  504: /^LogicTimeoutError$/,
};

/** The error of an answer; undefined if there is none. */
export function fault(expected: Case, { status, text, headers, json }: Answer): string | undefined {
  if (![expected.status].flat().includes(status)) return 'status';
  const leak = leaks.find((one) => text.includes(one));
  if (leak) return `shows ${leak}`;
  if (status >= 400) {
    if (stack.test(text)) return 'shows a stack';
    const { error } = (json ?? {}) as { error?: { name: string; message: string } };
    const [, pageName] = /<small data-error="(\w+)">/.exec(text) ?? [];
    const name = error?.name ?? pageName ?? '';
    if (!(expected.error ? name === expected.error : names[status]?.test(name))) return 'error';
    if (expected.message && !expected.message.test(error?.message ?? text)) return 'message';
  }
  if ('is' in expected && JSON.stringify(json) !== JSON.stringify(expected.is)) return 'value';
  if (status === 200 && expected.has && !expected.has.test(text)) return 'text';
  if (expected.lacks?.test(text)) return 'text it must not have';
  for (const [name, value] of Object.entries(expected.headers ?? {}))
    if ((headers[name] ?? null) !== value) return `header ${name}`;
  return undefined;
}
