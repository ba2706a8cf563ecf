import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { jsonSchemas } from './json-schemas';

const theme = path.join(__dirname, '../../../../../themes/demo');
const paths = readdirSync(theme, { recursive: true, encoding: 'utf8' });
const schemas = jsonSchemas();

const files: [schema: string, path: RegExp, wrong: unknown][] = [
  ['definition.json', /^apps\/\w+\/blocks\/\w+\.yaml$/, { elements: { a: { type: 'NONE' } } }],
  ['settings.json', /^apps\/\w+\/settings\.yaml$/, { acl: 'all' }],
  ['theme.json', /^theme\.yaml$/, { no_such_key: 1 }],
  ['rules.json', /^rules\.yaml$/, [{ no_such_key: 1 }]],
];

test('each kind of file has a schema', () => {
  expect([...schemas.keys()].sort()).toEqual(files.map(([name]) => name).sort());
});

describe.each(files)('%s', (name, pattern, wrong) => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(schemas.get(name) ?? ''));
  const found = paths.filter((file) => pattern.test(file));

  test('accepts the files of the demo', () => {
    expect(found).not.toEqual([]);
    for (const file of found) {
      validate(load(readFileSync(path.join(theme, file), 'utf8')));
      expect(validate.errors ?? [], file).toEqual([]);
    }
  });

  test('refuses a wrong value', () => {
    expect(validate(wrong)).toBe(false);
  });
});
