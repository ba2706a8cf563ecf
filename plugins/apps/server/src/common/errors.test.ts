import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AppsError, type ErrorName, errorStatuses, errorText, isAppsError, type SourcePosition } from './errors';

const page = readFileSync(join(__dirname, '../../../../../docs/errors.md'), 'utf8');

describe('the table of errors', () => {
  test('docs/errors.md has the same names, with the same statuses', () => {
    const documented = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, name, status]) => [
      name,
      Number(status),
    ]);
    expect(Object.fromEntries(documented)).toEqual(errorStatuses);
  });

  test.each(Object.keys(errorStatuses) as ErrorName[])('an AppsError "%s" has the status of the table', (name) => {
    const error = new AppsError(name, 'why');
    expect([error.status, error.message, isAppsError(error, name)]).toEqual([errorStatuses[name], 'why', true]);
  });
});

const position = { file: 'blocks/a.js', line: 3, column: 5 };
test.each<[SourcePosition | undefined, string | undefined, string]>([
  [position, undefined, 'apps/x/blocks/a.js:3:5: too slow'],
  [position, 'It stood in "f"', 'apps/x/blocks/a.js:3:5: too slow. It stood in "f"'],
  [{ file: 'blocks/a.js' }, undefined, 'apps/x/blocks/a.js: too slow'],
  [undefined, undefined, 'too slow'],
])('an error at %j, because of %j', (at, reason, text) => {
  expect(errorText(new AppsError('LogicError', 'too slow', { position: at, reason }), 'apps/x/')).toBe(text);
});

test('the failed part of the request comes before the position', () => {
  const error = new AppsError('LogicError', 'too slow', { position, subject: 'Record 3' });
  expect(errorText(error, 'apps/x/')).toBe('Record 3: apps/x/blocks/a.js:3:5: too slow');
  expect(errorText({ message: error.message, subject: error.subject })).toBe('Record 3: too slow');
});
