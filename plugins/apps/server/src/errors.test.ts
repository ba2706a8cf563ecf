import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AppsError, type ErrorName, errorStatuses, isAppsError } from './errors';

const page = readFileSync(join(__dirname, '../../../../docs/errors.md'), 'utf8');

describe('the table of errors', () => {
  test.each(Object.entries(errorStatuses))('%s (%i) is documented with its status', (name, status) => {
    const row = page.split('\n').find((line) => line.includes(`\`${name}\``));
    expect(row, `docs/errors.md has no line with \`${name}\``).toBeDefined();
    expect(row).toContain(String(status));
  });

  test.each(Object.keys(errorStatuses) as ErrorName[])('an AppsError "%s" has the status of the table', (name) => {
    const error = new AppsError(name, 'why');
    expect([error.status, error.message, isAppsError(error, name)]).toEqual([errorStatuses[name], 'why', true]);
  });
});
