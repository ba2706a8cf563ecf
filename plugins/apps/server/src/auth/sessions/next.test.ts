import { describe, expect, test } from 'vitest';
import { safeNext } from './csrf';

const SITE = 'https://example.com/site';

describe('where to go after a login', () => {
  test.each([
    ['/site/', '/site/'],
    ['/site', '/site'],
    ['/site/articles/news?x=1#top', '/site/articles/news?x=1#top'],
    ['/site/@@apps/rating/record//a', '/site/@@apps/rating/record//a'],
    ['/site/a/../b', '/site/b'],
  ])('%j is inside the site', (next, expected) => {
    expect(safeNext(next, SITE)).toBe(expected);
  });

  test.each([
    [undefined],
    [null],
    [''],
    [['/site/']],
    ['https://evil.example/site/'],
    ['https://example.com/site/'],
    ['//evil.example/site/'],
    ['/\\evil.example/site/'],
    ['/\t/evil.example/site/'],
    ['/site\\..\\..\\evil'],
    ['/site/\r\nSet-Cookie: a=b'],
    [' /site/'],
    ['javascript:alert(1)'],
    ['site/'],
    ['/'],
    ['/sitemap'],
    ['/admin'],
    ['/site/../admin'],
    ['/site/%2e%2e/admin'],
    ['/site/..//evil.example'],
    ['/site/@@login?next=/site/'],
    ['/site/@@logout'],
    ['/site/%40%40logout'],
  ])('%j leads to the root of the site', (next) => {
    expect(safeNext(next, SITE)).toBe('/site/');
  });

  test('knows a site below another path', () => {
    expect(safeNext('/cms/site/a', 'https://example.com/cms/site')).toBe('/cms/site/a');
    expect(safeNext('/site/a', 'https://example.com/cms/site')).toBe('/cms/site/');
  });
});
