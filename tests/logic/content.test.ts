import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';
import { adminToken, article, createUser, grantArticles, grantRole, userToken } from '../support/seed';
import { bearer, credentialHeaders, send } from '../support/send';
import { requestsOf } from './content/requests';

const headers: Record<string, Record<string, string>> = { anonymous: {} };

const stage = useStage();
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

test('an administrator who may publish only their own content does not publish that of others by an update', async () => {
  const email = 'own@example.com';
  headers.own = bearer(await adminToken(stage.host, { email, actions: [] }));
  await stage.host.run(
    async (strapi, name, subject) => {
      const role = await strapi.db.query('admin::role').findOne({ where: { name } });
      const permissions = ['read', 'create', 'update', 'publish'].map((action) => ({
        action: `plugin::content-manager.explorer.${action}`,
        subject,
        properties: action === 'publish' ? {} : { fields: ['title', 'slug', 'tiles'] },
        conditions: action === 'publish' ? ['admin::is-creator'] : [],
      }));
      await strapi.service('admin::role').assignPermissions(role.id, permissions);
    },
    email,
    article,
  );
  const update = (documentId: unknown, more = {}) =>
    documents('own', 'update', { documentId, data: { title: 'Changed' }, ...more });
  expect(await update(ids.one)).toMatchObject({ error: 'NotFoundError' });
  expect(await update(ids.one, { status: 'draft' })).toMatchObject({ value: { title: 'Changed' } });
  expect(await stored('one')).toMatchObject({ draft: { title: 'Changed' }, published: { title: 'Title one' } });
  const { value } = await documents('own', 'create', { data: { title: 'Own', slug: 'own', tiles: [] } });
  expect(await update((value as { documentId: string }).documentId)).toMatchObject({ value: { title: 'Changed' } });
  expect(await stored('own')).toMatchObject({ published: { title: 'Changed' } });
});
