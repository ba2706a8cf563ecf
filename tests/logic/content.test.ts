import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { adminToken, article, createUser, grantArticles, grantRole, userToken } from '../support/seed';
import { bearer, credentialHeaders, send } from '../support/send';
import { requestsOf } from './content/requests';

const headers: Record<string, Record<string, string>> = { anonymous: {} };

const stage = useStage({ env: { ...configured({}), TEST_RELATED: 'true' } });
const { request, documents, stored } = requestsOf(stage, headers);
beforeAll(async () => {
  const { host } = stage;
  await grantArticles(host, 'Public');
  await grantRole(host, 'blind');
  await grantArticles(host, 'writers', ['find', 'findOne', 'create', 'update', 'delete']);
  await grantArticles(host, 'creators-only', ['create']);
  for (const role of ['blind', 'writers', 'creators-only']) {
    const user = await createUser(host, { username: role, role });
    headers[role] = bearer(await userToken(host, user));
  }
  for (const who of ['readToken', 'fullToken', 'olga', 'root']) {
    headers[who] = credentialHeaders(await stage.credential(who));
  }
});

/** Documents of the articles, made again for every test. */
let ids: Record<string, string>;
beforeEach(async () => {
  ids = await stage.host.run(async (strapi) => {
    const articles = strapi.documents('api::article.article');
    for (const { documentId } of await articles.findMany({})) await articles.delete({ documentId });
    const made: Record<string, string> = {};
    for (const slug of ['one', 'two']) {
      const data = { title: `Title ${slug}`, slug, secret: `hush-${slug}`, tiles: [] };
      made[slug] = (await articles.create({ data, status: 'published' })).documentId;
    }
    made.draft = (
      await articles.create({ data: { title: 'Draft', slug: 'draft', secret: 'hush-draft', tiles: [] } })
    ).documentId;
    return made;
  });
});

describe('reading', () => {
  test('published content is read without private fields', async () => {
    const { value } = await documents('anonymous', 'findMany', { sort: 'slug' });
    expect(value).toMatchObject([{ slug: 'one', title: 'Title one' }, { slug: 'two' }]);
    expect(Object.keys((value as object[])[0]!)).not.toContain('secret');
    expect(await documents('anonymous', 'count')).toEqual({ value: 2 });
    expect(await documents('anonymous', 'findFirst', { filters: { slug: 'two' } })).toMatchObject({
      value: { slug: 'two' },
    });
    expect(await documents('anonymous', 'findOne', { documentId: ids.one })).toMatchObject({ value: { slug: 'one' } });
  });

  const drafts: [string, object][] = [
    ['findMany', { status: 'draft' }],
    ['findMany', { filters: { slug: 'draft' } }],
    ['findMany', { filters: { publishedAt: { $null: true } } }],
    ['findMany', { publicationState: 'preview' }],
    ['findFirst', { filters: { slug: 'draft' } }],
    ['findFirst', { status: 'draft', filters: { slug: 'draft' } }],
    ['findOne', { documentId: 'DRAFT' }],
    ['findOne', { documentId: 'DRAFT', status: 'draft' }],
  ];
  test.each(drafts)('drafts are hidden from %s %j', async (method, params) => {
    for (const who of ['anonymous', 'readToken']) {
      const given = JSON.parse(JSON.stringify(params).replace('"DRAFT"', `"${ids.draft}"`));
      const outcome = await documents(who, method, given);
      expect(JSON.stringify(outcome)).not.toContain('"slug":"draft"');
      expect(JSON.stringify(outcome)).not.toContain('"Draft"');
    }
  });

  test('a draft is not counted', async () => {
    const { value, error } = await documents('anonymous', 'count', { status: 'draft' });
    if (error === undefined) expect(value).toBe(2);
  });

  /** Parameters that could disclose the private field, with a value that matches and one that does not. */
  const probes: [string, (text: string) => object][] = [
    ['filters', (text) => ({ filters: { secret: text } })],
    ['an operator', (text) => ({ filters: { secret: { $startsWith: text.slice(0, 6) } } })],
    ['$or', (text) => ({ filters: { $or: [{ secret: text }, { slug: 'absent' }] } })],
    ['$and and $not', (text) => ({ filters: { $and: [{ $not: { secret: { $ne: text } } }] } })],
    ['where', (text) => ({ where: { secret: text } })],
    ['fields', () => ({ fields: ['secret'] })],
    ['sort', (text) => ({ sort: text === 'hush-one' ? 'secret:asc' : 'secret:desc' })],
    ['sort as an object', (text) => ({ sort: { secret: text === 'hush-one' ? 'asc' : 'desc' } })],
    ['populate', () => ({ populate: { secret: true } })],
    ['populate of the creator', () => ({ populate: { createdBy: true } })],
    ['_q', (text) => ({ _q: text })],
  ];
  test.each(probes)('the private field cannot be probed by %s', async (_name, params) => {
    for (const method of ['findMany', 'findFirst', 'count']) {
      const hit = await documents('anonymous', method, params('hush-one'));
      const miss = await documents('anonymous', method, params('zzzz-none'));
      // Equal answers for a text that matches and one that does not.
      expect(JSON.stringify(hit).replaceAll('hush-one', 'X')).toBe(JSON.stringify(miss).replaceAll('zzzz-none', 'X'));
      expect(JSON.stringify(hit)).not.toContain('password');
    }
  });

  const refused: [who: string, method: string, params: object, uid?: string][] = [
    ['blind', 'findMany', {}],
    ['blind', 'findFirst', {}],
    ['blind', 'count', {}],
    ['anonymous', 'findMany', {}, 'api::page.page'],
    ['anonymous', 'findMany', {}, 'plugin::users-permissions.user'],
    ['anonymous', 'findMany', {}, 'admin::user'],
    ['fullToken', 'findMany', {}, 'admin::user'],
    ['anonymous', 'findMany', {}, 'plugin::apps.record'],
    ['anonymous', 'findMany', {}, '__proto__'],
    ['anonymous', 'findMany', {}, 'absent'],
    ['olga', 'findMany', {}],
  ];
  test.each(refused)('%s may not %s %j %s', async (who, method, params, uid) => {
    const outcome = await documents(who, method, params, uid);
    expect(outcome.error).toEqual(expect.any(String));
    expect(outcome.value).toBeUndefined();
  });

  test('read-only tokens and super admins read', async () => {
    for (const who of ['readToken', 'fullToken', 'root']) {
      const { value } = await documents(who, 'findMany', { filters: { slug: 'one' } });
      expect(value).toMatchObject([{ slug: 'one' }]);
    }
  });

  test('other methods do not exist', async () => {
    for (const method of ['deleteMany', 'clone', 'updateMany']) {
      expect(await documents('fullToken', method)).toEqual({ error: 'TypeError', message: expect.any(String) });
    }
    expect((await stored('one')).published).not.toBeNull();
  });
});

describe('writing', () => {
  const change = (documentId: string | undefined) => ({ documentId, data: { title: 'Changed' } });
  const forbidden: [who: string, method: string, params: () => object][] = [
    ['anonymous', 'update', () => change(ids.one)],
    ['anonymous', 'create', () => ({ data: { title: 'New', slug: 'new', tiles: [] } })],
    ['anonymous', 'delete', () => ({ documentId: ids.one })],
    ['anonymous', 'publish', () => ({ documentId: ids.draft })],
    ['anonymous', 'unpublish', () => ({ documentId: ids.one })],
    ['anonymous', 'discardDraft', () => ({ documentId: ids.one })],
    ['blind', 'update', () => change(ids.one)],
    ['creators-only', 'update', () => change(ids.one)],
    ['creators-only', 'delete', () => ({ documentId: ids.one })],
    ['readToken', 'update', () => change(ids.one)],
    ['readToken', 'delete', () => ({ documentId: ids.one })],
    ['olga', 'update', () => change(ids.one)],
  ];
  test.each(forbidden)('%s may not %s', async (who, method, params) => {
    expect((await documents(who, method, params())).error).toEqual(expect.any(String));
    expect((await stored('one')).published).toMatchObject({ title: 'Title one' });
    expect((await stored('draft')).published).toBeNull();
    expect((await stored('new')).draft).toBeNull();
  });

  test('logic may change what the role of its requester may', async () => {
    expect((await documents('writers', 'update', change(ids.one))).error).toBeUndefined();
    expect((await stored('one')).draft).toMatchObject({ title: 'Changed' });
    const { value, error } = await documents('writers', 'create', { data: { title: 'New', slug: 'new', tiles: [] } });
    expect([error, value]).toMatchObject([undefined, { title: 'New' }]);
    expect((await documents('writers', 'publish', { documentId: ids.draft })).error).toBeUndefined();
    expect((await stored('draft')).published).toMatchObject({ title: 'Draft' });
    expect((await documents('writers', 'unpublish', { documentId: ids.two })).error).toBeUndefined();
    expect((await stored('two')).published).toBeNull();
    expect((await documents('writers', 'delete', { documentId: ids.two })).error).toBeUndefined();
    expect((await stored('two')).draft).toBeNull();
  });

  test.each([
    ['anonymous', 'UnauthorizedError', 401],
    ['creators-only', 'ForbiddenError', 404],
    ['blind', 'ForbiddenError', 404],
    ['readToken', 'ForbiddenError', 403],
    ['olga', 'ForbiddenError', 404],
  ])('%s is refused with %s, and with its status when logic does not catch it', async (who, error, uncaught) => {
    const calls = forbidden.filter(
      ([name, method]) => name === 'anonymous' && !(who === 'creators-only' && method === 'create'),
    );
    for (const [, method, params] of calls)
      expect([method, (await documents(who, method, params())).error]).toEqual([method, error]);
    const { status } = await request(who, 'POST', '/articles/one/@@apps/content/blocks/api/update', { title: 'Never' });
    // A requester who may not read the item does not find its address.
    expect(status).toBe(uncaught);
  });

  test('the private field is written as REST writes it, and not read', async () => {
    const secretOf = (slug: string) =>
      stage.host.run(
        async (strapi, slug) =>
          (await strapi.db.query('api::article.article').findMany({ where: { slug } })).map(
            ({ secret }) => secret as string | null,
          ),
        slug,
      );
    for (const who of ['writers', 'fullToken']) {
      const [slug, restSlug] = [`logic-${who.toLowerCase()}`, `rest-${who.toLowerCase()}`];
      const data = (slug: string) => ({ title: 'S', slug, secret: 'written', tiles: [] });
      const { value } = await documents(who, 'create', { data: data(slug) });
      const rest = await send<{ data: { documentId: string } }>(stage.host.url, {
        method: 'POST',
        path: '/api/articles',
        headers: headers[who],
        json: { data: data(restSlug) },
      });
      expect([rest.status, rest.text.includes('written'), JSON.stringify(value).includes('written')]).toEqual([
        201,
        false,
        false,
      ]);
      expect(await secretOf(restSlug)).toEqual(['written', 'written']);
      expect(await secretOf(slug)).toEqual(['written', 'written']);
      const { documentId } = value as { documentId: string };
      await documents(who, 'update', { documentId, data: { secret: 'again' } });
      expect(await secretOf(slug)).toEqual(['again', 'again']);
    }
  });

  test('content.update changes what the requester may change', async () => {
    const path = '/articles/one/@@apps/content/blocks/api/update';
    expect((await request('anonymous', 'POST', path, { title: 'Never' })).status).toBeGreaterThanOrEqual(400);
    expect((await stored('one')).draft).toMatchObject({ title: 'Title one' });
    const answer = await request('writers', 'POST', path, { title: 'By content' });
    expect([answer.status, answer.json]).toEqual([200, 'By content']);
    expect((await stored('one')).draft).toMatchObject({ title: 'By content' });
  });

  test('writing is restricted to POST, with or without a token', async () => {
    const path = '/articles/one/@@apps/content/blocks/api/update?title=Never';
    for (const method of ['GET', 'HEAD']) {
      expect((await request('writers', method, path)).status).toBe(403);
      const bare = await send(stage.host.url, {
        method,
        path: `/site${path}`,
        headers: { accept: 'application/json', ...headers.writers },
      });
      expect(bare.status).toBe(403);
    }
    expect((await stored('one')).draft).toMatchObject({ title: 'Title one' });
  });

  test('records and content are rolled back together', async () => {
    const answer = await request('writers', 'POST', '/articles/one/@@apps/content/blocks/api/undo');
    expect(answer.status).toBe(500);
    expect((await stored('one')).draft).toMatchObject({ title: 'Title one' });
    expect(await stage.items('content', 'never-kept')).toBeNull();
  });
});

/** Makes an administrator who may do these things to articles: to all, or to own ones, with some fields. */
async function administrator(who: string, permissions: [actions: string, of: 'all' | 'own', fields?: string[]][]) {
  const email = `${who}@example.com`;
  headers[who] = bearer(await adminToken(stage.host, { email, actions: [] }));
  await stage.host.run(
    async (strapi, name, subject, permissions) => {
      const role = await strapi.db.query('admin::role').findOne({ where: { name } });
      const granted = permissions.flatMap(([actions, of, fields]) =>
        actions.split(' ').map((action) => ({
          action: `plugin::content-manager.explorer.${action}`,
          subject,
          properties: fields ? { fields } : {},
          conditions: of === 'own' ? ['admin::is-creator'] : [],
        })),
      );
      await strapi.service('admin::role').assignPermissions(role.id, granted);
    },
    email,
    article,
    permissions,
  );
}

describe('an administrator with permissions for own content', () => {
  const made = ['title', 'slug', 'tiles', 'related'];
  beforeAll(async () => {
    // As of two roles: the titles of all, and the texts of own ones.
    await administrator('texts', [
      ['read update', 'all', made],
      ['read update create', 'own', [...made, 'body']],
      ['publish', 'all'],
    ]);
    await administrator('owns', [
      ['read update create', 'own', [...made, 'body']],
      ['publish', 'own'],
    ]);
  });
  /** Of the administrator; it has others as related articles, one of them their own. */
  let own: string;
  beforeEach(async () => {
    await stage.host.run(async (strapi) => {
      for (const slug of ['one', 'two'])
        await strapi.db
          .query('api::article.article')
          .updateMany({ where: { slug }, data: { body: `text of ${slug}` } });
    });
  });
  async function make(who: string): Promise<void> {
    const create = async (slug: string, more: object) => {
      const data = { title: slug, slug, tiles: [], body: `text of ${slug}`, ...more };
      const { value, message } = await documents(who, 'create', { data });
      expect(message).toBeUndefined();
      return (value as { documentId: string }).documentId;
    };
    const second = await create('second', {});
    own = await create('own', { related: [ids.one, second] });
  }
  const read = async (who: string, params: object) =>
    (await documents(who, 'findMany', { sort: 'slug', ...params })).value as Record<string, unknown>[];

  test('reads the fields that are permitted for each document', async () => {
    await make('texts');
    expect((await read('texts', {})).map(({ slug, body }) => [slug, body])).toEqual([
      ['one', undefined],
      ['own', 'text of own'],
      ['second', 'text of second'],
      ['two', undefined],
    ]);
    const [found] = await read('texts', { filters: { slug: 'own' }, populate: 'related' });
    const related = found?.related as Record<string, unknown>[];
    expect(Object.fromEntries(related.map(({ slug, body }) => [slug, body]))).toEqual({
      one: undefined,
      second: 'text of second',
    });
  });

  test('changes the fields that are permitted for each document', async () => {
    await make('texts');
    const update = (documentId: unknown, data: object) => documents('texts', 'update', { documentId, data });
    expect(await update(ids.one, { body: 'Changed' })).toMatchObject({ error: 'BadRequestError' });
    expect(await update(ids.one, { title: 'Changed' })).toMatchObject({ value: { title: 'Changed' } });
    expect(await update(own, { body: 'Changed' })).toMatchObject({ value: { body: 'Changed' } });
    expect((await stored('one')).draft).toMatchObject({ title: 'Changed', body: 'text of one' });
  });

  test('finds no others by what a document of theirs populates', async () => {
    await make('owns');
    expect((await read('owns', { populate: 'related' })).map(({ slug, related }) => [slug, related])).toEqual([
      ['own', [expect.objectContaining({ slug: 'second', body: 'text of second' })]],
      ['second', []],
    ]);
  });

  test.each<[string, object]>([
    ['texts', { filters: { body: { $startsWith: 'text' } } }],
    ['texts', { filters: { $or: [{ $not: { body: 'x' } }] } }],
    ['texts', { sort: 'body:desc' }],
    ['texts', { filters: { related: { body: 'x' } } }],
    ['texts', { populate: { related: { filters: { body: 'x' } } } }],
    ['owns', { filters: { related: { title: 'x' } } }],
    ['owns', { filters: { related: { documentId: 'x' } } }],
    ['owns', { sort: 'related.title' }],
    ['owns', { sort: [{ related: { title: 'asc' } }] }],
    ['owns', { populate: { related: { sort: 'title' } } }],
    ['owns', { populate: { related: { populate: { related: { filters: { title: 'x' } } } } } }],
  ])('%s may not ask for %j', async (who, params) => {
    expect(await documents(who, 'findMany', params)).toMatchObject({
      error: 'BadRequestError',
      message: expect.stringMatching(/"(body|related)" cannot be used in (filters|sort)/),
    });
  });
});

test('an administrator who may publish only their own content does not publish that of others by an update', async () => {
  await administrator('own', [
    ['read create update', 'all', ['title', 'slug', 'tiles']],
    ['publish', 'own'],
  ]);
  const update = (documentId: unknown, more = {}) =>
    documents('own', 'update', { documentId, data: { title: 'Changed' }, ...more });
  expect(await update(ids.one)).toMatchObject({ error: 'NotFoundError' });
  expect(await update(ids.one, { status: 'draft' })).toMatchObject({ value: { title: 'Changed' } });
  expect(await stored('one')).toMatchObject({ draft: { title: 'Changed' }, published: { title: 'Title one' } });
  const { value } = await documents('own', 'create', { data: { title: 'Own', slug: 'own', tiles: [] } });
  expect(await update((value as { documentId: string }).documentId)).toMatchObject({ value: { title: 'Changed' } });
  expect(await stored('own')).toMatchObject({ published: { title: 'Changed' } });
});
