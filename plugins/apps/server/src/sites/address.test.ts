import { describe, expect, test } from 'vitest';
import { isAppsError } from '../common/errors';
import { createAddressParser, urls } from './addresses';
import type { AppTarget } from './types';

const parse = createAddressParser(['site', 'intranet']);
const app = (target: AppTarget, content = '', site = 'site') => ({ kind: 'app', site, content, app: 'rating', target });

describe('parse', () => {
  test.each([
    ['/site/@@apps/rating', app({ kind: 'root' })],
    ['/site/@@apps/rating/', app({ kind: 'root' })],
    ['/@@apps/rating', app({ kind: 'root' })],
    ['/%40%40apps/rating', app({ kind: 'root' })],
    ['/site/%40@apps/rating', app({ kind: 'root' })],
    ['/s%69te/@@apps/rating', app({ kind: 'root' })],
    ['/intranet/@@apps/rating', app({ kind: 'root' }, '', 'intranet')],
    ['/site/articles/news/@@apps/rating', app({ kind: 'root' }, 'articles/news')],
    ['/site//articles/news//@@apps/rating', app({ kind: 'root' }, 'articles/news')],
    ['/site/a%2Fb/%7Ec/@@apps/rating', app({ kind: 'root' }, 'a%2Fb/~c')],
    ['/site/@@apps/rating/records', app({ kind: 'records' })],
    ['/site/@@apps/rating/records/', app({ kind: 'records' })],
    ['/site/@@apps/rating/search', app({ kind: 'search' })],
    ['/site/@@apps/rating/refresh', app({ kind: 'refresh' })],
    ['/site/@@apps/rating/blocks/rate', app({ kind: 'block', block: 'rate' })],
    ['/site/@@apps/rating/blocks/rate/', app({ kind: 'block', block: 'rate' })],
    ['/site/@@apps/rating/blocks/rate/like', app({ kind: 'element', block: 'rate', element: 'like' })],
    ['/site/@@apps/rating/blocks/rate/like/', app({ kind: 'element', block: 'rate', element: 'like' })],
    ['/site/@@apps/rating/record/1', app({ kind: 'record', id: '1', edit: false })],
    ['/site/@@apps/rating/history/a/b', app({ kind: 'history', id: 'a/b' })],
    ['/site/@@apps/rating/history%2F..', app({ kind: 'history', id: '..' })],
    ['/site/@@apps/rating/record//tutorial/news', app({ kind: 'record', id: '/tutorial/news', edit: false })],
    ['/site/@@apps/rating/record/%2Ftutorial%2Fnews', app({ kind: 'record', id: '/tutorial/news', edit: false })],
    ['/site/@@apps/rating/record/a%252Fb', app({ kind: 'record', id: 'a%2Fb', edit: false })],
    ['/site/@@apps/rating/record/a/', app({ kind: 'record', id: 'a/', edit: false })],
    ['/site/@@apps/rating/record/', 400],
    ['/site/@@apps/rating/record', 400],
    ['/site/@@apps/rating/record//', app({ kind: 'record', id: '/', edit: false })],
    ['/site/@@apps/rating/record/a/@@apps/b', app({ kind: 'record', id: 'a/@@apps/b', edit: false })],
    ['/site/@@apps/rating/record/../x', app({ kind: 'record', id: '../x', edit: false })],
    ['/site/@@apps/rating/record%2F..', app({ kind: 'record', id: '..', edit: false })],
    ['/site/@@apps/rating/record/%20é ', app({ kind: 'record', id: ' é ', edit: false })],
    ['/site/@@apps/rating/record/a/edit', app({ kind: 'record', id: 'a/edit', edit: true })],
    ['/site/@@apps/rating/record/edit', app({ kind: 'record', id: 'edit', edit: false })],
    ['/site/@@apps/rating/record//edit', app({ kind: 'record', id: '/edit', edit: false })],
    ['/site/@@apps/rating/record/%ZZ', 400],
    ['/site/@@apps/rating/record/%FF', 400],
    ['/site/@@apps/rating/record/%00', 400],
    ['/site/@@apps/rating/record/a%0Ab', 400],
    [`/site/@@apps/rating/record/${'x'.repeat(255)}`, app({ kind: 'record', id: 'x'.repeat(255), edit: false })],
    [
      `/site/@@apps/rating/record/${'%F0%9F%98%80'.repeat(255)}`,
      app({ kind: 'record', id: '😀'.repeat(255), edit: false }),
    ],
    [`/site/@@apps/rating/record/${'x'.repeat(256)}`, 400],
    [
      `/site/@@apps/rating/record/${'x'.repeat(255)}/edit`,
      app({ kind: 'record', id: `${'x'.repeat(255)}/edit`, edit: true }),
    ],
    ['/site/@@apps', 404],
    ['/site/@@apps/', 404],
    ['/site/@@apps/a..b', 404],
    ['/site/@@apps/..', 404],
    ['/site/@@apps/-a', 404],
    ['/site/@@apps/constructor', 404],
    ['/site/@@apps/__proto__', 404],
    ['/site/@@apps/ra%2Fting', 404],
    ['/site/@@apps/%ZZ', 404],
    ['/site/@@apps/rating/nope', 404],
    ['/site/@@apps/rating//', 404],
    ['/site/@@apps/rating/records/1', 404],
    ['/site/@@apps/rating/blocks', 404],
    ['/site/@@apps/rating/blocks/', 404],
    ['/site/@@apps/rating/blocks/a/b/c', 404],
    ['/site/@@apps/rating/blocks/a/%ZZ', 404],
    ['/site/%ZZ/@@apps/rating', 404],
    ['/nowhere/@@apps/rating', 404],
    ['/nowhere/articles/@@apps/rating', 404],
    ['/site', { kind: 'page', site: 'site', content: '' }],
    ['/site/', { kind: 'page', site: 'site', content: '' }],
    ['/site/articles/news', { kind: 'page', site: 'site', content: 'articles/news' }],
    ['/site/articles/news/', { kind: 'page', site: 'site', content: 'articles/news' }],
    ['/site/..%2F..', { kind: 'page', site: 'site', content: '..%2F..' }],
    ['/site/%ZZ', 404],
    ['/site/@@show-report', { kind: 'view', site: 'site', content: '', view: 'show-report' }],
    ['/@@show-report', { kind: 'view', site: 'site', content: '', view: 'show-report' }],
    [
      '/site/articles/news/@@show-report/',
      { kind: 'view', site: 'site', content: 'articles/news', view: 'show-report' },
    ],
    ['/site/@@show/report', 404],
    ['/site/@@', 404],
    ['/site/@@__proto__', 404],
    ['/site/@@login', { kind: 'login', site: 'site' }],
    ['/@@logout/', { kind: 'logout', site: 'site' }],
    ['/@@apps.js', { kind: 'script', site: 'site' }],
    ['/site/@@apps.live.js', { kind: 'live-script', site: 'site' }],
    ['/site/@@apps.css', { kind: 'style', site: 'site' }],
    ['/site/@@apps.openapi.json', { kind: 'openapi', site: 'site' }],
    ['/site/articles/@@login', 404],
    ['/site/@@login/x', 404],
    ['/site/@@theme/basic/assets/css/a.css', { kind: 'theme-asset', site: 'site', theme: 'basic', path: 'css/a.css' }],
    [
      '/@@theme/basic/apps/rating/assets/a%20b.css',
      { kind: 'theme-asset', site: 'site', theme: 'basic', app: 'rating', path: 'a b.css' },
    ],
    ['/site/@@theme/basic/assets/../layout.html', 404],
    ['/site/@@theme/basic/assets/%2e%2e/layout.html', 404],
    ['/site/@@theme/basic/assets/..%2Flayout.html', 404],
    ['/site/@@theme/basic/assets/a%5Cb', 404],
    ['/site/@@theme/basic/assets/a%00', 404],
    ['/site/@@theme/basic/assets/.env', 404],
    ['/site/@@theme/basic/assets//a', 404],
    ['/site/@@theme/basic/assets/', 404],
    ['/site/@@theme/basic/layout.html', 404],
    ['/site/@@theme/basic/apps/rating/settings.yaml', 404],
    ['/site/@@theme/..', 404],
    ['/', null],
    ['', null],
    ['/api/articles', null],
    ['/admin', null],
    ['/uploads/a.png', null],
    ['/favicon.ico', null],
    ['/siteful', null],
    ['/%ZZ', null],
    ['/constructor', null],
  ])('%s', (path, expected) => {
    let result: unknown;
    try {
      result = parse(path);
    } catch (error) {
      if (!isAppsError(error)) throw error;
      result = error.status;
    }
    expect(result).toEqual(expected);
  });
});

describe('urls', () => {
  const site = {
    id: 'site',
    title: 'Site',
    url: 'http://localhost:1337/site',
    theme: 'basic',
    locale: null,
    timeZone: null,
  };

  test.each([
    ['1', 'record/1'],
    ['/tutorial/news', 'record//tutorial/news'],
    ['a b?c#d%e', 'record/a%20b%3Fc%23d%25e'],
    ["é'(*)!&=+:;@,$[]", 'record/%C3%A9%27%28%2A%29%21%26%3D%2B%3A%3B%40%2C%24%5B%5D'],
    ['a/', 'record/a/'],
    ['..', 'record%2F..'],
    ['a/../b', 'record%2Fa%2F..%2Fb'],
    ['./b', 'record%2F.%2Fb'],
    ['...', 'record/...'],
  ])('the record %j has an address that leads back to it', (id, path) => {
    const url = urls.record(site, 'rating', id);
    expect(url).toBe(`http://localhost:1337/site/@@apps/rating/${path}`);
    expect(parse(new URL(url).pathname)).toMatchObject({ target: { id } });
  });

  test('keeps the content path', () => {
    expect(urls.app(site, 'rating', 'articles/news')).toBe('http://localhost:1337/site/articles/news/@@apps/rating');
    expect(urls.block(site, 'rating', 'rate')).toBe('http://localhost:1337/site/@@apps/rating/blocks/rate');
  });
});
