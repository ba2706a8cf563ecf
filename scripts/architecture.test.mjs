import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { importPicture, withPicture } from './architecture.mjs';
import { layers } from './check-imports.mjs';

const page = readFileSync('docs/architecture.md', 'utf8');

test('the picture of the imports agrees with the code (node scripts/architecture.mjs writes it)', {
  timeout: 60_000,
}, () => {
  expect(page).toBe(withPicture(page, importPicture('plugins/apps')));
});

test('a page without marks is refused', () => {
  expect(() => withPicture('# Architecture', '')).toThrow(/no marks/);
});

/** Paths that the page names: from the root, the plugin's folder or the server's source. */
const named = [...page.matchAll(/`([\w.-][\w./-]*(?:\/|\.(?:ts|mjs|md|json|py)))`/g)].map(([, path]) => path);
const bases = ['', 'plugins/apps/', 'plugins/apps/server/src/'];

test.each([...new Set(named)])('%s, which the page names, exists', (path) => {
  expect(bases.filter((base) => existsSync(base + path))).not.toEqual([]);
});

describe('each folder of the server has a row', () => {
  const below = (folder) =>
    (layers[folder] ?? []).flat().flatMap((name) => {
      const path = folder === '' ? name : `${folder}/${name}`;
      return [path, ...below(path)];
    });
  test.each(below('').filter((folder) => existsSync(`plugins/apps/server/src/${folder}`)))('%s', (folder) => {
    expect(page).toContain(`\n| \`${folder}/\` | `);
  });
});

describe('a request flow has five to ten steps, each with a file', () => {
  const flows = page.split(/^## /m).filter((section) => section.startsWith('Request flow: '));
  test('there are three', () => expect(flows).toHaveLength(3));
  test.each(flows.map((flow) => [flow.split('\n')[0], flow]))('%s', (_, flow) => {
    const steps = flow.match(/^\d+\. .*(?:\n {3}.*)*/gm) ?? [];
    expect(steps.length).toBeGreaterThanOrEqual(5);
    expect(steps.length).toBeLessThanOrEqual(10);
    for (const step of steps) expect(step).toMatch(/`[\w./-]+\.ts`/);
  });
});
