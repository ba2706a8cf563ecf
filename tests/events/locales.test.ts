import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { article, grantArticles } from '../support/seed';
import { siteThemes } from '../support/theme';
import { timeForMore } from '../support/time';

const panel = `/content-manager/collection-types/${article}`;

/** The notes of a rule's function: event, locale, title, path and state of the item. */
type Note = [event: string, locale: string, title: string, path: string, state: 'draft' | 'published'];

interface Case {
  title: string;
  as?: string;
  /** Locales that are published before; both are drafts then. */
  published?: string[];
  /** `:id` is the document. */
  send: string;
  json?: object;
  gives: Note[];
}

/** A document with the drafts `News` in English and `Nouvelles` in French, and what happens to it. */
const cases: Case[] = [
  {
    title: 'changing the French version',
    send: `PUT ${panel}/:id?locale=fr`,
    json: { title: 'Neuf' },
    gives: [['update', 'fr', 'Neuf', '/articles/nouvelles', 'draft']],
  },
  {
    title: 'changing the French draft of a public document',
    published: ['en', 'fr'],
    send: `PUT ${panel}/:id?locale=fr`,
    json: { title: 'Neuf', slug: 'neuf' },
    gives: [['update', 'fr', 'Neuf', '/articles/neuf', 'draft']],
  },
  {
    title: 'publishing the French version',
    send: `POST ${panel}/:id/actions/publish?locale=fr`,
    json: {},
    gives: [['publish', 'fr', 'Nouvelles', '/articles/nouvelles', 'published']],
  },
  {
    title: 'publishing it with a changed form',
    published: ['fr'],
    send: `POST ${panel}/:id/actions/publish?locale=fr`,
    json: { title: 'Neuf', slug: 'nouvelles' },
    gives: [['publish', 'fr', 'Neuf', '/articles/nouvelles', 'published']],
  },
  {
    title: 'unpublishing the French version',
    published: ['en', 'fr'],
    send: `POST ${panel}/:id/actions/unpublish?locale=fr`,
    json: {},
    gives: [['unpublish', 'fr', 'Nouvelles', '/articles/nouvelles', 'draft']],
  },
  {
    title: 'deleting the French version',
    published: ['en'],
    send: `DELETE ${panel}/:id?locale=fr`,
    gives: [['delete', 'fr', 'Nouvelles', '/articles/nouvelles', 'draft']],
  },
  {
    title: 'deleting the published French version',
    published: ['en', 'fr'],
    send: `DELETE ${panel}/:id?locale=fr`,
    gives: [['delete', 'fr', 'Nouvelles', '/articles/nouvelles', 'published']],
  },
  {
    title: 'deleting all versions',
    published: ['fr'],
    send: `DELETE ${panel}/:id?locale=*`,
    gives: [
      ['delete', 'en', 'News', '/articles/news', 'draft'],
      ['delete', 'fr', 'Nouvelles', '/articles/nouvelles', 'published'],
    ],
  },
  {
    title: 'deleting the French versions of several documents',
    send: `POST ${panel}/actions/bulkDelete`,
    json: { documentIds: [':id'], locale: 'fr' },
    gives: [['delete', 'fr', 'Nouvelles', '/articles/nouvelles', 'draft']],
  },
  {
    title: 'adding a German version',
    send: `PUT ${panel}/:id?locale=de`,
    json: { title: 'Neues', slug: 'neues' },
    gives: [['create', 'de', 'Neues', '/articles/neues', 'draft']],
  },
  {
    title: 'adding and publishing a German version',
    send: `POST ${panel}/:id/actions/publish?locale=de`,
    json: { title: 'Neues', slug: 'neues' },
    gives: [
      ['create', 'de', 'Neues', '/articles/neues', 'draft'],
      ['publish', 'de', 'Neues', '/articles/neues', 'published'],
    ],
  },
  {
    title: 'making a French document',
    send: `POST ${panel}?locale=fr`,
    json: { title: 'Autre', slug: 'autre' },
    gives: [['create', 'fr', 'Autre', '/articles/autre', 'draft']],
  },
  {
    title: 'discarding the changes of a draft',
    published: ['fr'],
    send: `POST ${panel}/:id/actions/discard?locale=fr`,
    json: {},
    gives: [],
  },
  {
    title: 'publishing several locales at once',
    send: `POST ${panel}/actions/bulkPublish`,
    json: { documentIds: [':id'], locale: ['en', 'fr'] },
    gives: [
      ['publish', 'en', 'News', '/articles/news', 'published'],
      ['publish', 'fr', 'Nouvelles', '/articles/nouvelles', 'published'],
    ],
  },
  {
    title: 'unpublishing several locales at once, of which one is public',
    published: ['fr'],
    send: `POST ${panel}/actions/bulkUnpublish`,
    json: { documentIds: [':id'], locale: ['en', 'fr'] },
    gives: [['unpublish', 'fr', 'Nouvelles', '/articles/nouvelles', 'draft']],
  },
  {
    title: 'copying a document',
    send: `POST ${panel}/clone/:id`,
    json: { title: 'Copy', slug: 'copy' },
    gives: [['create', 'en', 'Copy', '/articles/copy', 'draft']],
  },
  {
    title: 'changing the French version by the content API',
    as: 'eric',
    published: ['fr'],
    send: 'PUT /api/articles/:id?locale=fr&fields=summary',
    json: { data: { title: 'Neuf' } },
    gives: [
      ['update', 'fr', 'Neuf', '/articles/nouvelles', 'published'],
      ['publish', 'fr', 'Neuf', '/articles/nouvelles', 'published'],
    ],
  },
  {
    title: 'changing the default version by the content API',
    as: 'eric',
    send: 'PUT /api/articles/:id',
    json: { data: { title: 'New' } },
    gives: [
      ['update', 'en', 'New', '/articles/news', 'published'],
      ['publish', 'en', 'New', '/articles/news', 'published'],
    ],
  },
  {
    title: 'deleting the French version by the content API',
    as: 'eric',
    published: ['en'],
    send: 'DELETE /api/articles/:id?locale=fr',
    gives: [['delete', 'fr', 'Nouvelles', '/articles/nouvelles', 'draft']],
  },
];

describe('events of localized content', () => {
  const stage = useStage({
    themesDirectory: siteThemes,
    env: { APPS_THEME: 'events', ...configured({ localized: ['article'] }) },
  });
  beforeAll(async () => {
    await grantArticles(stage.host, 'editors', ['find', 'findOne', 'create', 'update', 'delete']);
    await grantArticles(stage.host, 'Public');
    await stage.host.run(async (strapi) => {
      for (const code of ['fr', 'de']) await strapi.plugin('i18n').service('locales').create({ code, name: code });
    });
  });

  beforeEach(() =>
    stage.host.run(async (strapi) => {
      for (const uid of ['plugin::apps.rule', 'plugin::apps.record', 'api::article.article']) {
        await strapi.db.query(uid as never).deleteMany({ where: {} });
      }
    }),
  );

  /** The document of the cases; made while there are no rules. */
  const makeDocument = (published: string[]) =>
    stage.host.run(async (strapi, published) => {
      const documents = strapi.documents('api::article.article');
      const { documentId } = await documents.create({ data: { title: 'News', slug: 'news' }, locale: 'en' });
      const data = { title: 'Nouvelles', slug: 'nouvelles' };
      await documents.update({ documentId, locale: 'fr', data: data as never });
      for (const locale of published) await documents.publish({ documentId, locale });
      return documentId as string;
    }, published);

  async function makeRules(events: string[], called = 'note') {
    for (const event of events) {
      const json = { name: event, event, contentType: article, app: 'watch', block: 'content', function: called };
      const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json });
      expect(answer.status, answer.text).toBe(201);
    }
  }

  async function notes(): Promise<Note[]> {
    const { json } = await stage.send<{ items: Record<string, string> }[]>({ send: 'GET watch/records' });
    return json.map(({ items }) => [items.event, items.locale, items.title, items.path, items.state] as Note);
  }

  test.each(cases)('$title', async ({ as = 'root', published = [], send, json, gives }) => {
    const id = await makeDocument(published);
    await makeRules(['create', 'update', 'delete', 'publish', 'unpublish']);
    const body = json && JSON.parse(JSON.stringify(json).replaceAll(':id', id));
    const answer = await stage.send({ as, send: send.replace(':id', id), json: body });
    expect(answer.status, answer.text).toBeLessThan(300);
    await expect.poll(async () => (await notes()).length).toBeGreaterThanOrEqual(gives.length);
    await timeForMore();
    expect(await notes()).toEqual(gives);
  });

  test('a change by a rule goes into the draft, in its locale', async () => {
    const id = await makeDocument(['en', 'fr']);
    await makeRules(['update'], 'again');
    await stage.send({ as: 'root', send: `PUT ${panel}/${id}?locale=fr`, json: { title: 'Neuf' } });
    const versions = () =>
      stage.host.run(async (strapi, documentId) => {
        const where = { documentId };
        const rows = await strapi.db.query('api::article.article').findMany({ where, orderBy: { id: 'asc' } });
        return rows.map(({ locale, publishedAt, title, summary }) => [
          `${locale} ${publishedAt ? 'published' : 'draft'}`,
          [title, summary],
        ]);
      }, id);
    await expect
      .poll(async () => Object.fromEntries(await versions()))
      .toEqual({
        'en draft': ['News', null],
        'en published': ['News', null],
        'fr draft': ['Neuf', 'changed '],
        'fr published': ['Nouvelles', null],
      });
  });
});
