import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { grantRole } from './support/seed';
import { openStage, type Stage } from './support/stage';

const themesDirectory = path.resolve(__dirname, 'fixtures', 'site-themes');

const article = 'api::article.article';
const panel = `/content-manager/collection-types/${article}`;

interface Note {
  event: string;
  rule: string;
  documentId: string;
  title: string;
  path: string;
  secret: string | null;
  user: string | null;
}

describe('rules on events', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ themesDirectory, env: { APPS_THEME: 'events' } });
    const actions = ['find', 'findOne', 'create', 'update', 'delete'].map((action) => `${article}.${action}`);
    await grantRole(stage.host, 'editors', actions);
    await grantRole(stage.host, 'Public', [`${article}.find`, `${article}.findOne`]);
  });
  afterAll(() => stage?.close());
  beforeEach(() =>
    stage.host.run(async (strapi) => {
      await strapi.db.query('plugin::apps.rule').deleteMany({ where: {} });
      await strapi.db.query('plugin::apps.record').deleteMany({ where: {} });
    }),
  );

  /** Makes rules as an administrator would, through the panel. */
  async function makeRules(rules: { event: string; function?: string; name?: string; enabled?: boolean }[]) {
    for (const { event, function: called = 'note', name = event, enabled = true } of rules) {
      const json = { name, event, enabled, contentType: article, app: 'watch', block: 'content', function: called };
      const answer = await stage.send({
        as: 'root',
        send: 'POST /content-manager/collection-types/plugin::apps.rule',
        json,
      });
      expect(answer.status, answer.text).toBe(201);
    }
  }

  const all = ['create', 'update', 'delete', 'publish', 'unpublish'];

  async function notes(): Promise<Note[]> {
    const { json } = await stage.send<{ items: Note }[]>({ send: 'GET watch/records' });
    return json.map(({ items }) => items);
  }

  /** What has been noted once nothing more comes. */
  async function settled(count: number): Promise<Note[]> {
    await expect.poll(async () => (await notes()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return notes();
  }

  const events = (found: Note[]) => found.map(({ event }) => event);

  const failures = () =>
    stage.host.run(async (strapi) => {
      const rules = await strapi.db.query('plugin::apps.rule').findMany({ orderBy: { id: 'asc' } });
      return rules.map((rule) => (rule.failures ?? []).map(({ message }: { message: string }) => message));
    });

  const createByApi = async (title: string, as = 'eric') => {
    const answer = await stage.send<{ data: { documentId: string } }>({
      as,
      send: 'POST /api/articles',
      json: { data: { title, slug: title } },
    });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.data.documentId;
  };

  test('by an administrator, each event calls its function once, with their rights', async () => {
    await makeRules(all.map((event) => ({ event })));
    const made = await stage.send<{ data: { documentId: string } }>({
      as: 'root',
      send: `POST ${panel}`,
      json: { title: 'One', slug: 'one', secret: 'hush' },
    });
    expect(made.status, made.text).toBe(201);
    const id = made.json.data.documentId;
    expect(await settled(1)).toMatchObject([
      {
        event: 'create',
        rule: 'create',
        documentId: id,
        title: 'One',
        path: '/',
        secret: null,
        user: 'root@example.com',
        manager: true,
      },
    ]);
    await stage.send({ as: 'root', send: `PUT ${panel}/${id}`, json: { title: 'Two' } });
    expect(await settled(2)).toMatchObject([{}, { event: 'update', title: 'Two' }]);
    const published = await stage.send({ as: 'root', send: `POST ${panel}/${id}/actions/publish`, json: {} });
    expect(published.status, published.text).toBe(200);
    const afterPublish = await settled(3);
    expect(events(afterPublish).filter((event) => event === 'publish')).toHaveLength(1);
    expect(afterPublish.find(({ event }) => event === 'publish')).toMatchObject({
      title: 'Two',
      path: '/articles/one',
    });
    await stage.send({ as: 'root', send: `POST ${panel}/${id}/actions/unpublish`, json: {} });
    expect(events(await settled(afterPublish.length + 1)).at(-1)).toBe('unpublish');
    await stage.send({ as: 'root', send: `DELETE ${panel}/${id}` });
    const last = (await settled(afterPublish.length + 2)).at(-1);
    expect(last).toMatchObject({ event: 'delete', documentId: id, title: 'Two' });
  });

  test('by the content API, each event calls its function once, with the user’s rights', async () => {
    await makeRules(all.map((event) => ({ event })));
    const id = await createByApi('three');
    expect(await settled(2)).toMatchObject([
      { event: 'create', user: 'eric', title: 'three', path: '/articles/three', manager: false },
      { event: 'publish', user: 'eric', path: '/articles/three' },
    ]);
    await stage.send({ as: 'eric', send: `PUT /api/articles/${id}`, json: { data: { summary: 'new' } } });
    expect(events(await settled(4)).slice(2)).toEqual(['update', 'publish']);
    await stage.send({ as: 'eric', send: `DELETE /api/articles/${id}` });
    expect(events(await settled(5)).slice(4)).toEqual(['delete']);
  });

  test('what is rolled back was no event', async () => {
    await makeRules([{ event: 'create' }]);
    await stage.host.run((strapi) =>
      strapi.db
        .transaction(async () => {
          await strapi.documents('api::article.article').create({ data: { title: 'never', slug: 'never' } });
          throw new Error('no');
        })
        .catch(() => undefined),
    );
    await stage.host.run((strapi) =>
      strapi.db.transaction(async () => {
        await strapi.documents('api::article.article').create({ data: { title: 'once', slug: 'once' } });
      }),
    );
    expect(await settled(1)).toMatchObject([{ title: 'once', user: null }]);
  });

  test('a rule that is not enabled, and other content types, call nothing', async () => {
    await makeRules([{ event: 'create', enabled: false }]);
    await createByApi('four');
    await stage.host.run((strapi) => strapi.documents('api::page.page').create({ data: { title: 'P', slug: 'p' } }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await notes()).toEqual([]);
  });

  test('a failing and a slow rule leave the editor’s action whole, are listed, and the next rule runs', async () => {
    await makeRules([
      { event: 'create', function: 'fail' },
      { event: 'create', function: 'slow' },
      { event: 'create', function: 'missing' },
      { event: 'create', function: 'note' },
    ]);
    const begin = performance.now();
    await createByApi('five');
    expect(performance.now() - begin).toBeLessThan(1_500);
    expect(await settled(1)).toMatchObject([{ title: 'five' }]);
    const [failed, slow, missing, fine] = await failures();
    expect(failed).toEqual([expect.stringMatching(/^LogicError: .*boom/)]);
    expect(slow).toEqual([expect.stringMatching(/^LogicTimeoutError/)]);
    expect(missing).toEqual([expect.stringMatching(/^NotFoundError: .*no function "missing"/)]);
    expect(fine).toEqual([]);
    const listed = await stage.send<{ results: { name: string; failures: unknown }[] }>({
      as: 'root',
      send: 'GET /content-manager/collection-types/plugin::apps.rule?sort=id:ASC',
    });
    expect(listed.json.results[0]?.failures).toMatchObject([{ message: failed?.[0], documentId: expect.any(String) }]);
  });

  test('a rule that triggers itself stops after one round, and what it wrote is there', async () => {
    await makeRules([
      { event: 'create', function: 'again' },
      { event: 'update', function: 'again' },
    ]);
    const id = await createByApi('six');
    const found = await settled(2);
    expect(events(found)).toEqual(['create', 'update']);
    const draft = await stage.host.run(
      (strapi, id) => strapi.documents('api::article.article').findOne({ documentId: id }),
      id,
    );
    expect(draft?.summary).toBe('changed changed ');
    expect((await failures()).flat()).toEqual([]);
  });

  test('a rule can do no more than the acting user', async () => {
    await grantRole(stage.host, 'submitters', [`${article}.create`]);
    await makeRules([{ event: 'create', function: 'again' }]);
    await createByApi('seven', 'sam');
    await expect.poll(async () => (await failures()).flat()).toEqual([expect.stringMatching(/Forbidden|not allowed/i)]);
    expect(await notes()).toEqual([]);
  });

  describe('calls from code', () => {
    test('with content, parameters and a requester', async () => {
      await createByApi('eight');
      const result = await stage.host.run(async (strapi) => {
        const { call } = strapi.plugin('apps').service('apps');
        const user = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'eric' } });
        const auth = { strategy: { name: 'users-permissions' }, credentials: user };
        return [
          await call('watch/content/answer'),
          await call('watch/content/answer', { content: 'articles/eight', params: { a: [1] }, requester: { auth } }),
        ];
      });
      expect(result).toEqual([
        { params: {}, type: 'portal', title: 'Demo site', user: null },
        { params: { a: [1] }, type: article, title: 'eight', user: 'eric' },
      ]);
    });

    test('is a transaction', async () => {
      await stage.host.run(async (strapi) => {
        const { call } = strapi.plugin('apps').service('apps');
        await call('watch/content/write');
        await call('watch/content/half').catch(() => undefined);
      });
      expect(await stage.items('watch', 'written')).toMatchObject({ by: null });
      expect(await stage.items('watch', 'half')).toBeNull();
    });

    test.each([
      ['nonsense', 'BadRequestError'],
      ['nowhere/content/answer', 'NotFoundError'],
      ['watch/nowhere/answer', 'NotFoundError'],
      ['watch/content/nothing', 'NotFoundError'],
      ['watch/content/constructor', 'NotFoundError'],
      ['watch/content/fail', 'LogicError'],
    ])('%s: %s', async (target, name) => {
      const error = await stage.host.run(
        (strapi, target) =>
          strapi
            .plugin('apps')
            .service('apps')
            .call(target)
            .catch((error: Error) => error.name),
        target,
      );
      expect(error).toBe(name);
    });
  });
});
