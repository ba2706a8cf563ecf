import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkNode, hashOf, missingPackages, missingSecrets } from './prepare.mjs';

test.each([
  ['18.20.0', false],
  ['20.0.0', true],
  ['24.1.0', true],
  ['27.0.0', false],
])('Node.js %s is taken: %s', (version, taken) => {
  if (taken) expect(() => checkNode(version)).not.toThrow();
  else expect(() => checkNode(version)).toThrow(/20 to 26/);
});

describe('packages that are missing', () => {
  const wanted = {
    '': { name: 'host' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/a/node_modules/b': { version: '2.0.0' },
    'node_modules/for-another-node': { version: '3.0.0', optional: true },
    'node_modules/left-over': { version: '3.0.0', extraneous: true },
    'node_modules/workspace': { resolved: 'plugins/workspace', link: true },
    'plugins/workspace': { version: '0.1.0' },
  };
  const installed = {
    'node_modules/a': { version: '1.0.0' },
    'node_modules/a/node_modules/b': { version: '2.0.0' },
    'node_modules/workspace': { resolved: 'plugins/workspace', link: true },
  };

  test.each([
    ['all there', installed, []],
    ['another version', { ...installed, 'node_modules/a': { version: '1.0.1' } }, ['node_modules/a']],
    ['nothing installed', {}, ['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/workspace']],
  ])('%s', (_, present, missing) => {
    expect(missingPackages(wanted, present)).toEqual(missing);
  });
});

test('secrets are made for what neither the environment nor .env names', () => {
  const lines = missingSecrets({ JWT_SECRET: 'x' }, 'APP_KEYS=a,b\nAPI_TOKEN_SALT=\n# ENCRYPTION_KEY=old\n');
  expect(lines.map((line) => line.slice(0, line.indexOf('=')))).toEqual([
    'API_TOKEN_SALT',
    'ADMIN_JWT_SECRET',
    'TRANSFER_TOKEN_SALT',
    'ENCRYPTION_KEY',
  ]);
  const values = lines.map((line) => line.slice(line.indexOf('=') + 1));
  expect(new Set(values).size).toBe(values.length);
  for (const value of values) expect(value.length).toBeGreaterThanOrEqual(32);
});

describe('a hash of sources', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hash-'));
    writeFileSync(join(folder, 'a.ts'), 'a');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test.each([
    ['a changed file', () => writeFileSync(join(folder, 'a.ts'), 'b'), true],
    ['a new file', () => writeFileSync(join(folder, 'b.ts'), ''), true],
    ['a removed file', () => rmSync(join(folder, 'a.ts')), true],
    ['a new test', () => writeFileSync(join(folder, 'a.test.ts'), ''), false],
    ['a build', () => mkdirSync(join(folder, 'dist')), false],
  ])('%s', (_, change, changes) => {
    const before = hashOf([folder]);
    change();
    expect(hashOf([folder]) !== before).toBe(changes);
  });
});
