import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { jsonSchemas } from './json-schemas';

const folder = path.join(__dirname, '../../../schemas');

test('the JSON Schemas in schemas/ are up to date with scripts/json-schemas.mjs', () => {
  const written = readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]);
  expect(new Map(written as [string, string][])).toEqual(jsonSchemas());
});
