import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkOf, pageOf } from '../docs/.vitepress/links.mjs';
import { sections } from '../docs/.vitepress/sections.mjs';
import { root, runBin } from './prepare.mjs';

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);

test('every page is in the navigation, once', () => {
  const named = sections.flatMap(({ pages: names }) => names);
  const folderOf = (page) => page.replace(/[^/]*$/, '');
  const isNamed = (page) =>
    named.includes(page) || (folderOf(page) !== '' && !page.endsWith('README.md') && named.includes(folderOf(page)));
  expect(pages.filter((page) => !isNamed(page))).toEqual([]);
  expect(named.filter((name) => !existsSync(join(root, 'docs', name)))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
});

test.each(pages.filter((page) => /^(start|operate|recipes)\//.test(page)))(
  '%s begins with a sentence about what it is for',
  (page) => {
    expect(readFileSync(join(root, 'docs', page), 'utf8')).toMatch(/^# .+\n\n[A-Z`][^\n]{20,}/);
  },
);

describe('links', () => {
  const repository = 'https://github.com/x/y';
  test.each([
    ['reference/logic.md', '../limits.md#logic', '../limits.md#logic'],
    ['reference/logic.md', 'README.md', 'index.md'],
    ['comparison.md', 'reference/README.md#reference', 'reference/index.md#reference'],
    ['comparison.md', '../CONTRIBUTING.md', `${repository}/blob/main/CONTRIBUTING.md`],
    [
      'security.md',
      '../deploy/systemd/strapi-apps.service',
      `${repository}/blob/main/deploy/systemd/strapi-apps.service`,
    ],
    ['security.md', '#the-second-wall', '#the-second-wall'],
    ['security.md', 'https://nodejs.org/', 'https://nodejs.org/'],
  ])('in %s to %s', (page, href, expected) => {
    expect(linkOf(page, href, repository)).toBe(expected);
  });

  test('out of docs/ are text where the repository has no known address', () => {
    expect(linkOf('comparison.md', '../CONTRIBUTING.md', null)).toBe(null);
  });
});

describe('the site', () => {
  const site = mkdtempSync(join(tmpdir(), 'apps-site-'));
  beforeAll(
    () => runBin('vitepress', 'bin/vitepress.js', ['build', 'docs', '--outDir', site], { stdio: 'pipe' }),
    180_000,
  );
  afterAll(() => rmSync(site, { recursive: true, force: true }));

  test('has every page', () => {
    const missing = pages.filter((page) => !existsSync(join(site, pageOf(page).replace(/\.md$/, '.html'))));
    expect(missing).toEqual([]);
  });

  test('keeps the braces of Liquid', () => {
    const text = readFileSync(join(site, 'recipes', 'contact.html'), 'utf8').replace(/<[^>]+>/g, '');
    expect(text).toContain('{{ letter.email }}');
  });

  test('has an index for its search', () => {
    const chunks = readdirSync(join(site, 'assets', 'chunks'));
    expect(chunks.filter((name) => name.startsWith('@localSearchIndex'))).toHaveLength(1);
  });
});
