import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { comparisonRule, operatorReference } from './reference';

const page = '../../../../../../docs/reference/search.md';

test('the reference page of search has the table and the rule of the operators', async () => {
  const old = readFileSync(join(__dirname, page), 'utf8');
  const made = old
    .replace(/^comparison = [^;]*;$/m, () => comparisonRule())
    .replace(/^\| Written \|.*(\n\|.*)*/m, () => operatorReference());
  await expect(made).toMatchFileSnapshot(page);
});
