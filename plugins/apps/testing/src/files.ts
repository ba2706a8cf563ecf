import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRunOptions } from '../../shared/test-events';
import { CannotTest } from './host';
import type { TestableApp } from './plugin';

const TEST_FILE = /\.test\.(js|ts)$/;

export interface TestFile {
  app: TestableApp;
  /** Absolute. */
  path: string;
  /** Relative to the app's folder, with slashes. */
  name: string;
}

/** The test files of an app, or of all apps of the theme, by path. Throws CannotTest for an app without any. */
export function testFiles(
  site: { id: string; theme: string; apps: readonly TestableApp[] },
  { app: wanted }: Pick<TestRunOptions, 'app'>,
): TestFile[] {
  const apps = site.apps.filter(({ id }) => wanted === undefined || id === wanted);
  if (apps.length === 0) {
    const known = site.apps.map(({ id }) => id).join(', ') || 'none';
    throw new CannotTest(
      wanted === undefined
        ? `The theme "${site.theme}" of the site "${site.id}" has no apps`
        : `The theme "${site.theme}" of the site "${site.id}" has no app "${wanted}". It has: ${known}`,
    );
  }
  const files = apps.flatMap((app) =>
    filesIn(app.folder, 'tests').map((name) => ({ app, name, path: join(app.folder, name) })),
  );
  if (files.length === 0) {
    throw new CannotTest(
      wanted === undefined
        ? `No app of the theme "${site.theme}" has tests`
        : `The app "${wanted}" has no tests in ${join(apps[0]?.folder ?? '', 'tests')}`,
      'Write one: apps/<app>/tests/<name>.test.js (docs/reference/app-tests.md).',
    );
  }
  return files;
}

function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(root, name);
      return TEST_FILE.test(entry.name) ? [name] : [];
    });
}
