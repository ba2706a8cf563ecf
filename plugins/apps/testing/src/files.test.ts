import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testFiles } from './files';
import { CannotTest } from './host';
import type { TestableApp } from './plugin';

const folder = mkdtempSync(join(tmpdir(), 'apps-test-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const app = (id: string) => ({ id, folder: join(folder, id) }) as TestableApp;
const site = (...ids: string[]) => ({ id: 'site', theme: 'main', apps: ids.map(app) });

for (const name of ['b.test.ts', 'a.test.js', 'helper.js', 'deep/c.test.js', 'node_modules/d.test.js']) {
  mkdirSync(join(folder, 'rating', 'tests', name, '..'), { recursive: true });
  writeFileSync(join(folder, 'rating', 'tests', name), '');
}

describe('test files of apps', () => {
  test('are those below tests/ of the app, or of all apps', () => {
    const names = ['tests/a.test.js', 'tests/b.test.ts', 'tests/deep/c.test.js'];
    expect(testFiles(site('rating', 'untested'), {}).map(({ name }) => name)).toEqual(names);
    expect(testFiles(site('rating'), { app: 'rating' })[0]).toMatchObject({
      app: { id: 'rating' },
      path: join(folder, 'rating', 'tests', 'a.test.js'),
    });
  });

  test.each([
    [
      'an app that the theme lacks',
      site('card', 'rating'),
      { app: 'raiting' },
      'has no app "raiting". It has: card, rating',
    ],
    ['a theme without apps', site(), {}, 'The theme "main" of the site "site" has no apps'],
    ['an app without tests', site('untested'), { app: 'untested' }, 'The app "untested" has no tests in '],
    ['apps without tests', site('untested'), {}, 'No app of the theme "main" has tests'],
  ])('%s cannot be tested', (_title, tested, options, message) => {
    expect(() => testFiles(tested, options)).toThrow(CannotTest);
    expect(() => testFiles(tested, options)).toThrow(message);
  });
});
