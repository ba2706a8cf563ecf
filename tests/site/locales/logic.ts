import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';

/** Logic on sites in different locales. @param articleId of the article in all of them */
export function localesInLogic(stage: Stage, articleId: () => string): void {
  describe('logic', () => {
    const call = async (site: string, element: string, json?: object, as = 'eric') => {
      const line = `/${site}/articles/${articleId()}/@@apps/tongues/blocks/api/${element}`;
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
      expect(await call('site', `got?path=/articles/${articleId()}`)).toEqual([english, english, english]);
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
      }, articleId());
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
      }, articleId());
      expect(found).toEqual([
        item('site', 'en', 'News', 'news'),
        item('fr', 'fr', 'Nouvelles', 'nouvelles'),
        item('fr', 'fr', 'Nouvelles', 'nouvelles'),
        { title: 'Neues', locale: 'de', url: null, path: '/articles/neues' },
      ]);
    });
  });
}
