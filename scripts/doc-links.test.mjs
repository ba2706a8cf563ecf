import { describe, expect, test } from 'vitest';
import { anchorsOf, linksIn, sourcesBelow, wrongLinks, wrongLinksBelow } from './doc-links.mjs';

test('every link to the documentation leads to a page and a heading', { timeout: 60_000 }, () => {
  expect(wrongLinksBelow('.')).toEqual([]);
});

test('comments, scripts, tests and pages are searched', () => {
  const files = sourcesBelow('.');
  expect(files).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/errors.md',
      'scripts/apps.mjs',
      'plugins/apps/server/src/common/errors.ts',
    ]),
  );
  expect(files.filter((file) => file.includes('node_modules'))).toEqual([]);
});

test('anchors are those that GitHub makes', () => {
  const page = [
    '# `mode`: values that the server computes',
    '## `context.request.response`',
    "### A site's locale, [below](x.md) ##",
    '## Größe & Co',
    '## Again',
    '## Again',
    '```sh\n# a comment\n```',
    '#no-heading',
  ].join('\n');
  expect(anchorsOf(page)).toEqual([
    'mode-values-that-the-server-computes',
    'contextrequestresponse',
    'a-sites-locale-below',
    'größe--co',
    'again',
    'again-1',
  ]);
});

describe('links', () => {
  const targets = (path, text) => linksIn(path, text).map(({ target }) => target);

  test('in a comment: pages by their path from the root', () => {
    const text = "/** See docs/a.md#b-c, and docs/d/e.md. */ read('../../docs/f.md'); // https://x.example/docs/g.md";
    expect(targets('src/x.ts', text)).toEqual(['docs/a.md#b-c', 'docs/d/e.md', 'docs/f.md']);
  });

  test('in a page: relative to it, outside of code', () => {
    const text = '[a](b.md#c) [`d`](../e/) [f](#g) [h](https://x.example) `[i](j.md)`\n```\n[k](l.md)\n```\ndocs/m.md';
    expect(targets('docs/n/o.md', text)).toEqual(['docs/m.md', 'docs/n/b.md#c', 'docs/e/', 'docs/n/o.md#g']);
  });
});

describe('broken links', () => {
  const pages = { 'docs/a.md': '# One two' };
  const wrong = (text, path = 'src/x.ts') => wrongLinks(path, text, (page) => pages[page] ?? null);

  test('a page or a heading that does not exist', () => {
    expect(wrong('docs/a.md docs/a.md#one-two')).toEqual([]);
    expect(wrong('docs/b.md')).toEqual(['docs/b.md: there is no docs/b.md']);
    expect(wrong('docs/a.md#two')).toEqual(['docs/a.md#two: docs/a.md has no heading #two']);
    expect(wrong('[x](b.md)', 'docs/c.md')).toEqual(['b.md: there is no docs/b.md']);
  });

  test.each([
    ['on one line', '(contract, section 5)'],
    ['without a comma', 'Contract sections 5 and 6'],
    ['over two lines of a comment', '(contract,\n * section 5)'],
    ['by the name of its page', '(interface.md, 2.1)'],
  ])('a specification outside of the repository, %s', (_how, text) => {
    expect(wrong(text)).toHaveLength(1);
  });
});
