import { describe, expect, test, vi } from 'vitest';
import type { Items } from '../../../shared/json';
import type { Requester } from '../auth/types';
import { type ContentTypeInfo, contentProblems, createContent, type ReadContent } from './content';

const site = {
  id: 'site',
  title: 'The site',
  url: 'http://localhost/site',
  theme: 'basic',
  locale: 'en',
  timeZone: null,
};
const french = { ...site, id: 'fr', url: 'http://localhost/fr', locale: 'fr' };
const requester = { identity: 'user:1' } as Requester;

const type = (
  name: string,
  attributes: ContentTypeInfo['attributes'],
  kind: ContentTypeInfo['kind'] = 'collectionType',
) => ({
  uid: `api::${name}.${name}`,
  kind,
  singularName: name,
  pluralName: `${name}s`,
  attributes,
});

const types = [
  type('article', { title: { type: 'string' }, slug: { type: 'uid' } }),
  type('page', { slug: { type: 'uid' } }),
  type('note', { text: { type: 'string' } }),
  type('event', { code: { type: 'uid' }, year: { type: 'integer' } }),
  type('about', {}, 'singleType'),
];

const items: Record<string, Items[]> = {
  'api::article.article': [
    { id: 1, documentId: 'd1', title: 'News', slug: 'news/a b' },
    { id: 2, documentId: 'd2', title: 'Bare', slug: null },
  ],
  'api::page.page': [{ id: 3, documentId: 'd3', slug: 'contact' }],
  'api::note.note': [{ id: 4, documentId: 'd4', text: 'x' }],
  'api::event.event': [{ id: 5, documentId: 'd5', code: 'party', year: 2024 }],
  'api::about.about': [{ id: 6, documentId: 'd6', name: 'About us' }],
};

const read: ReadContent = async (uid, { documentId, slug }) =>
  items[uid]?.find((item) =>
    slug ? item[slug.field] === slug.value : documentId ? item.documentId === documentId : true,
  ) ?? null;

const config = {
  content: {
    'api::article.article': { path: '/articles/:slug' },
    'api::page.page': { path: '/:slug' },
    'api::event.event': { path: '/:year/:code' },
  },
};

const content = (readContent: ReadContent = read) =>
  createContent({ config, contentTypes: () => types, readContent, sites: async () => [site, french] });

describe('resolve', () => {
  test.each([
    ['', { type: 'portal', id: 'site', title: 'The site', path: '/', url: 'http://localhost/site' }],
    ['/', { type: 'portal' }],
    [
      'articles/news%2Fa%20b',
      {
        type: 'api::article.article',
        id: '1',
        documentId: 'd1',
        title: 'News',
        path: '/articles/news%2Fa%20b',
        url: 'http://localhost/site/articles/news%2Fa%20b',
      },
    ],
    ['/articles/d2/', { documentId: 'd2', path: '/articles/d2' }],
    ['contact', { documentId: 'd3', title: 'd3', path: '/contact' }],
    ['notes/d4', { documentId: 'd4', path: '/notes/d4' }],
    ['2024/party', { documentId: 'd5', path: '/2024/party' }],
    ['about', { documentId: 'd6', title: 'About us', path: '/about' }],
    ['2025/party', null],
    ['articles/none', null],
    ['articles', null],
    ['articles/', null],
    ['articles//d1', null],
    ['a/b/c', null],
    ['articles/%00', null],
    ['articles/%ZZ', null],
  ])('%j', async (path, expected) => {
    const item = await content().resolve(site, path, requester);
    if (expected === null) expect(item).toBeNull();
    else expect(item).toMatchObject(expected);
  });

  test('asks with the requester, and for the type with the fixed name first', async () => {
    const asked = vi.fn<ReadContent>(async () => null);
    await content(asked).resolve(site, 'about', requester);
    expect(asked.mock.calls).toEqual([
      ['api::about.about', {}, requester, 'en'],
      ['api::page.page', { slug: { field: 'slug', value: 'about' } }, requester, 'en'],
    ]);
  });
});

describe('find', () => {
  test('gives an item its address', async () => {
    const find = (uid: string, documentId: string) => content().find(site, { uid, documentId }, requester);
    expect(await find('api::article.article', 'd2')).toMatchObject({ path: '/articles/d2' });
    expect(await find('api::article.article', 'dx')).toBeNull();
    expect(await find('api::none.none', 'd1')).toBeNull();
  });

  test.each([
    ['the site’s own locale', 'en', 'http://localhost/site/articles/news'],
    ['no locale', undefined, 'http://localhost/site/articles/news'],
    ['the locale of another site', 'fr', 'http://localhost/fr/articles/news'],
    ['a locale that no site has', 'de', null],
  ])('an item in %s has the address of the site that has it', async (_name, locale, url) => {
    const asked: unknown[] = [];
    const readContent: ReadContent = async (_uid, _where, _requester, wanted) => {
      asked.push(wanted);
      return { id: 1, documentId: 'd1', slug: 'news', ...(locale && { locale }) };
    };
    const item = { uid: 'api::article.article', documentId: 'd1', ...(locale && { locale }) };
    const path = '/articles/news';
    expect(await content(readContent).find(site, item, requester)).toMatchObject({ url, path, locale: locale ?? null });
    expect(asked).toEqual([locale ?? 'en']);
  });
});

describe('the configuration of addresses', () => {
  test.each<[string, string, string[]]>([
    ['api::article.article', '/articles/:slug', []],
    ['api::event.event', '/events/:year/:slug', []],
    ['api::note.note', '/notes/:documentId', []],
    ['api::about.about', '/about', []],
    ['api::artcle.artcle', '/articles/:slug', ['api::artcle.artcle']],
    ['plugin::users-permissions.user', '/users/:username', ['plugin::users-permissions.user']],
    ['api::note.note', '/notes/:slug', ["'slug'"]],
    ['api::event.event', '/:month/:day/:code', ["'month'", "'day'"]],
  ])('of %s as %s names what is unknown: %j', (uid, path, unknown) => {
    const problems = contentProblems({ [uid]: { path } }, types);
    expect(problems).toHaveLength(unknown.length);
    for (const [at, name] of unknown.entries()) expect(problems[at]).toContain(name);
  });
});
