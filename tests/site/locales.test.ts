import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { article, grantRole } from '../support/seed';
import type { Row } from '../support/stage';
import { siteThemes } from '../support/theme';

const panel = `/content-manager/collection-types/${article}`;
const theme = 'locales';

/** Sites over one set of content; Strapi does not know the last one's locale. */
const sites = [
  { id: 'site', title: 'English', theme },
  { id: 'fr', title: 'Français', theme, locale: 'fr', timeZone: 'Europe/Paris' },
  { id: 'fr-too', title: 'Encore', theme, locale: 'fr' },
  { id: 'it', title: 'Italiano', theme, locale: 'it' },
];

const stage = useStage({ themesDirectory: siteThemes, env: configured({ localized: ['article'], apps: { sites } }) });
let id: string;
beforeAll(async () => {
  const read = ['api::article.article', 'api::page.page'].flatMap((uid) => [`${uid}.find`, `${uid}.findOne`]);
  await grantRole(stage.host, 'Public', read);
  await grantRole(stage.host, 'editors', [...read, `${article}.create`, `${article}.update`]);
  await stage.host.run(async (strapi) => {
    for (const code of ['fr', 'de']) await strapi.plugin('i18n').service('locales').create({ code, name: code });
    await strapi.documents('api::page.page').create({ data: { title: 'About', slug: 'about' }, status: 'published' });
  });
});

/** An article in English, French and German, of which the German one is in no site. */
beforeEach(async () => {
  id = await stage.host.run(async (strapi) => {
    await strapi.db.query('api::article.article').deleteMany({ where: {} });
    await strapi.db.query('plugin::apps.record').deleteMany({ where: {} });
    const documents = strapi.documents('api::article.article');
    const { documentId } = await documents.create({ data: { title: 'News', slug: 'news' }, locale: 'en' });
    const others = [
      ['fr', { title: 'Nouvelles', slug: 'nouvelles' }],
      ['de', { title: 'Neues', slug: 'neues' }],
    ] as const;
    for (const [locale, data] of others) await documents.update({ documentId, locale, data: data as never });
    await documents.publish({ documentId, locale: '*' });
    return documentId as string;
  });
});

const manyFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']));

const page = { accept: 'text/html' };
const rows: Row[] = [
  {
    title: 'the default locale',
    send: 'GET /site/articles/news',
    ...page,
    status: 200,
    has: ['<h1>News<', 'lang="en"'],
  },
  {
    title: 'another locale',
    send: 'GET /fr/articles/nouvelles',
    ...page,
    status: 200,
    has: ['<h1>Nouvelles<', 'lang="fr"', '/fr/articles/nouvelles"', '<i>en news</i>'],
  },
  { title: 'the slug of another site', send: 'GET /fr/articles/news', ...page, status: 404 },
  { title: 'the slug of another site', send: 'GET /site/articles/nouvelles', ...page, status: 404 },
  { title: 'a locale that no site has', send: 'GET /site/articles/neues', ...page, status: 404 },
  { title: 'a site whose locale is missing', send: 'GET /it/articles/news', ...page, status: 404 },
  { title: 'the document', send: 'GET /fr/articles/:id', ...page, status: 200, has: ['<h1>Nouvelles<'] },
  { title: 'the document', send: 'GET /site/articles/:id', ...page, status: 200, has: ['<h1>News<'] },
  { title: 'what is not localized', send: 'GET /fr/about', ...page, status: 200, has: ['About'] },
  { title: 'the own locale', send: 'GET /site/articles/news?locale=en', ...page, status: 200 },
  { title: 'an empty locale', send: 'GET /site/articles/news?locale=', ...page, status: 200 },
  {
    title: 'the locale of another site',
    send: 'GET /site/articles/news?locale=fr',
    ...page,
    status: 400,
    has: [/site &quot;site&quot; is in the locale &quot;en&quot;/, '/fr<'],
  },
  {
    title: 'a locale that no site has',
    send: 'GET /fr/articles/nouvelles?locale=de',
    status: 400,
    error: 'BadRequestError',
    has: ['is in the locale \\"fr\\"', 'no site has that locale'],
  },
  { title: 'two locales', send: 'GET /site/?locale=en&locale=fr', status: 400 },
  { title: 'a locale as a list', send: 'GET /site/?locale[0]=fr', status: 400 },
  { title: 'an app', send: 'GET /site/@@apps/tongues?locale=fr', status: 400, error: 'BadRequestError' },
  { title: 'records', send: 'GET /site/@@apps/tongues/records?locale=fr', status: 400, error: 'BadRequestError' },
  { title: 'a block', send: 'GET /fr/articles/:id/@@apps/tongues/blocks/shared?locale=en', ...page, status: 400 },
  { title: 'a view', send: 'GET /fr/articles/:id/@@tongue?locale=en', ...page, status: 400 },
  { title: 'a view', send: 'GET /fr/articles/:id/@@tongue', ...page, status: 200, has: ['shared fr Nouvelles'] },
  {
    title: 'a shared rendering',
    send: 'GET /site/articles/:id',
    ...page,
    status: 200,
    has: ['shared en News'],
    lacks: ['shared fr'],
  },
  {
    title: 'a shared rendering',
    send: 'GET /fr/articles/:id',
    ...page,
    status: 200,
    has: ['shared fr Nouvelles'],
    lacks: ['shared en'],
  },
  {
    title: 'a page of a block',
    send: 'GET /site/@@words?page=2&a=b',
    ...page,
    status: 200,
    has: [
      '<p>1,200 loans</p>',
      '<b>€1,234.50</b>',
      'March 1, 2026; 11:30 PM',
      '<nav class="apps-paging" aria-label="Pages">',
      '/site/@@words?page=1&amp;a=b">Previous</a>',
      'Page 2 of 3',
      /<footer>Signed<\/footer>[\s\S]*<footer>Signed<\/footer>/,
      '<i>no.such</i>',
    ],
    lacks: ['Suiv'],
  },
  {
    title: 'a page of a block',
    send: 'GET /fr/@@words?page=2',
    ...page,
    status: 200,
    has: [
      '<p>1\u202f200 prêts</p>',
      '<b>1\u202f234,50\u00a0€</b>',
      '1 mars 2026; 00:30',
      '>Précédent</a>',
      'Page 2 sur 3',
      '>Page suivante</a>',
      /<footer>Signé<\/footer>[\s\S]*<footer>Signé<\/footer>/,
    ],
    lacks: ['Next', 'Signed'],
  },
  { title: 'a page of a block', send: 'GET /it/@@words', ...page, status: 200, has: ['Page 1 of 3', 'Signed'] },
];

test.each(rows)('$title: $send is $status', async ({ title: _, send, status, error, has = [], lacks = [], ...row }) => {
  const answer = await stage.send<{ error?: { name: string } }>({ send: send.replace(':id', id), ...row });
  expect(answer.status, answer.text).toBe(status);
  if (error) expect(answer.json.error?.name).toBe(error);
  for (const text of has) expect(answer.text).toMatch(text);
  for (const text of lacks) expect(answer.text).not.toMatch(text);
});

describe('the French site', () => {
  /** Texts of a page without those that say that they are English. */
  const french = (text: string) => text.replace(/<(\w+)[^>]* lang="en"[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, '');

  test.each([
    ['anonymous', 'in debug mode'],
    ['mona', 'by a manager'],
  ])('has no English word in a block with mistakes, seen by %s %s', async (as) => {
    const { status, text } = await stage.send({ as, send: 'GET /fr/@@wrong', accept: 'text/html' });
    expect(status).toBe(200);
    expect(text).toMatch(/affichée : <span lang="en">apps\/marks\/blocks\/wrong\.js:1: Error: no &lt;reason&gt;/);
    expect(text).toContain('<span lang="en">UNDEFINED ELEMENT</span>');
    expect(text.match(/<span lang="en">/g)).toHaveLength(4);
    expect(french(text).replace(/\s+/g, ' ').trim()).toBe('Cette partie n’a pas pu être affichée : silentSigné');
  });

  test('has a browser script with its words', async () => {
    const script = await stage.send({ send: 'GET /fr/@@apps.js', accept: '*/*' });
    expect(script.text).toContain('"updated":"Mis à jour"');
    const tag = String(script.headers.etag);
    const again = await stage.send({ send: 'GET /fr/@@apps.js', accept: '*/*', headers: { 'if-none-match': tag } });
    expect(again.status).toBe(304);
    expect((await stage.send({ send: 'GET /site/@@apps.js', accept: '*/*' })).text).not.toContain('{appsWords:');
  });

  test.each([
    ['a form that is too large', { name: 'x'.repeat(3_000_000) }, 413, 'Ce que vous avez envoyé est trop volumineux.'],
    [
      'a form with too many fields',
      manyFields(5_000),
      400,
      'Le serveur ne comprend pas ce que le navigateur a envoyé.',
    ],
  ])('answers %s in French', async (_what, form, status, text) => {
    const answer = await stage.send({ send: 'POST /fr/@@words', accept: 'text/html', form });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    expect(answer.text).toContain('lang="fr"');
  });
});

test('a block that a page includes in another locale is marked, and the page is whole', async () => {
  const answer = await stage.send({ send: `GET /site/articles/${id}`, accept: 'text/html' });
  expect(answer.text).toMatch(/<h1>News</);
  expect(answer.text).toMatch(/class="apps-error"/);
  expect(await stage.host.printed()).toMatch(/shared\?locale=fr" in .*BadRequestError.*"site" is in the locale "en"/);
});

test('an item knows only its public locales', async () => {
  await stage.host.run(
    (strapi, documentId) => strapi.documents('api::article.article').unpublish({ documentId, locale: 'en' }),
    id,
  );
  const answer = await stage.send({ send: 'GET /fr/articles/nouvelles', accept: 'text/html' });
  expect(answer.text).toMatch(/<i>de neues<\/i>/);
  expect(answer.text).not.toMatch(/<i>en/);
  expect(answer.text.match(/<i>/g)).toHaveLength(1);
  expect((await stage.send({ send: `GET /site/articles/${id}`, accept: 'text/html' })).status).toBe(404);
});

test('two locales may have one slug', async () => {
  await stage.host.run(async (strapi, documentId) => {
    const documents = strapi.documents('api::article.article');
    await documents.update({ documentId, locale: 'fr', data: { slug: 'news' } as never, status: 'published' });
  }, id);
  for (const [site, title] of [
    ['fr', 'Nouvelles'],
    ['site', 'News'],
  ]) {
    const answer = await stage.send({ send: `GET /${site}/articles/news`, accept: 'text/html' });
    expect(answer.text).toMatch(`<h1>${title}</h1>`);
  }
});

describe('logic', () => {
  const call = async (site: string, element: string, json?: object, as = 'eric') => {
    const line = `/${site}/articles/${id}/@@apps/tongues/blocks/api/${element}`;
    const app = await stage.send({ as, send: 'GET tongues' });
    const headers = { 'x-csrf-token': String(app.headers['x-csrf-token']) };
    const answer = await stage.send({ as, send: `${json ? 'POST' : 'GET'} ${line}`, json, headers });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  const item = (site: string, locale: string, title: string, slug: string) => ({
    title,
    locale,
    url: `${stage.host.url}/${site}/articles/${slug}`,
    path: `/articles/${slug}`,
  });

  test('finds content by the paths of its site, with addresses there', async () => {
    const french = item('fr', 'fr', 'Nouvelles', 'nouvelles');
    expect(await call('fr', 'got?path=/articles/nouvelles')).toEqual([french, french, french]);
    expect(await call('fr', 'got?path=/articles/news')).toEqual([null, null, french]);
    expect(await call('fr-too', 'got?path=/articles/nouvelles')).toMatchObject([
      { url: `${stage.host.url}/fr-too/articles/nouvelles` },
      {},
      {},
    ]);
    const english = item('site', 'en', 'News', 'news');
    expect(await call('site', `got?path=/articles/${id}`)).toEqual([english, english, english]);
  });

  test('reads and writes documents in the locale of its site, unless it names one', async () => {
    expect(await call('fr', 'all', {})).toEqual(['Nouvelles']);
    expect(await call('site', 'all', {})).toEqual(['News']);
    expect(await call('site', 'all', { locale: 'de' })).toEqual(['Neues']);
    expect(await call('fr', 'add', {})).toBe('fr');
    expect(await call('fr', 'write', {})).toEqual(['Nouvelles', 'written', 'fr', '/articles/nouvelles']);
    const stored = await stage.host.run(async (strapi, documentId) => {
      const where = { documentId, publishedAt: { $notNull: true } };
      const found = await strapi.db.query('api::article.article').findMany({ where, orderBy: { locale: 'asc' } });
      return found.map(({ locale, summary }) => [locale, summary]);
    }, id);
    expect(stored).toEqual([
      ['de', null],
      ['en', null],
      ['fr', 'written'],
    ]);
  });

  test('called from code gets the item of the site, or of the locale that is named', async () => {
    const found = await stage.host.run(async (strapi, documentId) => {
      const { call } = strapi.plugin('apps').service('apps');
      const content = { uid: 'api::article.article', documentId };
      return [
        await call('tongues/api/where', { content }),
        await call('tongues/api/where', { content, site: 'fr' }),
        await call('tongues/api/where', { content: { ...content, locale: 'fr' } }),
        await call('tongues/api/where', { content: { ...content, locale: 'de' } }),
      ];
    }, id);
    expect(found).toEqual([
      item('site', 'en', 'News', 'news'),
      item('fr', 'fr', 'Nouvelles', 'nouvelles'),
      item('fr', 'fr', 'Nouvelles', 'nouvelles'),
      { title: 'Neues', locale: 'de', url: null, path: '/articles/neues' },
    ]);
  });
});

test.each([
  ['en', 'site', 'site', '/articles/news'],
  ['fr', 'fr', 'fr', '/articles/nouvelles'],
  ['de', 'site', null, '/articles/neues'],
])('a rule on events runs in the site of the item’s locale: %s', async (locale, site, home, below) => {
  const json = { name: 'r', event: 'update', contentType: article, app: 'tongues', block: 'api', function: 'note' };
  const rule = await stage.send<{ id: string }>({ as: 'ada', send: 'POST /apps/rules', json });
  await stage.send({ as: 'root', send: `PUT ${panel}/${id}?locale=${locale}`, json: { summary: 'new' } });
  const records = () => stage.send<{ items: object }[]>({ send: `GET /${site}/@@apps/tongues/records` });
  await expect.poll(async () => (await records()).json.length).toBe(1);
  const { url } = stage.host;
  expect((await records()).json[0]?.items).toMatchObject({
    site,
    locale,
    url: home && `${url}/${home}${below}`,
    absolute: home && `${url}/${home}${below}`,
    path: below,
    block: `${url}/${site}${home ? below : ''}/@@apps/tongues/blocks/api`,
  });
  await stage.send({ as: 'ada', send: `DELETE /apps/rules/${rule.json.id}` });
});

test('the log says that Strapi does not know the locale of a site', async () => {
  const printed = await stage.host.printed();
  expect(printed).toMatch(/site "it" has the locale "it", which is none of Strapi's \(en\)/);
  expect(printed).not.toMatch(/site "site" has the locale/);
});
