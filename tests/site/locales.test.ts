import { beforeAll, beforeEach, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { article, grantRole } from '../support/seed';
import { siteThemes } from '../support/theme';
import { frenchSite } from './locales/french';
import { localesInLogic } from './locales/logic';
import { rows } from './locales/rows';

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

test.each(rows)('$title: $send is $status', async ({ title: _, send, status, error, has = [], lacks = [], ...row }) => {
  const answer = await stage.send<{ error?: { name: string } }>({ send: send.replace(':id', id), ...row });
  expect(answer.status, answer.text).toBe(status);
  if (error) expect(answer.json.error?.name).toBe(error);
  for (const text of has) expect(answer.text).toMatch(text);
  for (const text of lacks) expect(answer.text).not.toMatch(text);
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

frenchSite(stage);
localesInLogic(stage, () => id);
