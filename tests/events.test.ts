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
  async function makeRules(
    rules: { event: string; function?: string; name?: string; enabled?: boolean; block?: string }[],
  ) {
    for (const { event, function: called = 'note', name = event, enabled = true, block = 'content' } of rules) {
      const json = { name, event, enabled, contentType: article, app: 'watch', block, function: called };
      const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json });
      expect(answer.status, answer.text).toBe(201);
    }
  }

  /** A rule from a time when its function existed. */
  const oldRule = (data: object) =>
    stage.host.run(async (strapi, data) => {
      const { documentId } = await strapi.documents('plugin::apps.rule' as never).create({ data: data as never });
      return documentId as string;
    }, data);
  const rule = { name: 'r', event: 'create', contentType: article, app: 'watch', block: 'content', function: 'note' };

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
        path: '/articles/one',
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
    ]);
    await oldRule({ ...rule, function: 'missing' });
    await oldRule({ ...rule, block: 'guarded', function: 'note' });
    await makeRules([{ event: 'create', function: 'note' }]);
    const begin = performance.now();
    await createByApi('five');
    expect(performance.now() - begin).toBeLessThan(1_500);
    expect(await settled(1)).toMatchObject([{ title: 'five' }]);
    const [failed, slow, missing, guarded, fine] = await failures();
    expect(failed).toEqual([expect.stringMatching(/^LogicError: .*boom/)]);
    expect(slow).toEqual([expect.stringMatching(/^LogicTimeoutError/)]);
    expect(missing).toEqual([expect.stringMatching(/^NotFoundError: .*no function "missing"/)]);
    // Only moderators may use the block, and eric is none.
    expect(guarded).toEqual([expect.stringMatching(/^ForbiddenError: .*"guarded"/)]);
    expect(fine).toEqual([]);
    const { json } = await stage.send<{ failures: { message: string }[] }[]>({ as: 'ada', send: 'GET /apps/rules' });
    expect(json.flatMap(({ failures }) => failures.map(({ message }) => message)).sort()).toEqual(
      [failed, slow, missing, guarded].flat().sort(),
    );
    expect(json[0]?.failures).toMatchObject([{ at: expect.any(String), documentId: expect.any(String) }]);
    expect(stage.host.output()).toMatch(/the rule "r" failed .*ForbiddenError/);
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

  test('a guarded block’s rule runs for those whom the block names', async () => {
    await makeRules([{ event: 'create', block: 'guarded' }]);
    await stage.send({ as: 'root', send: `POST ${panel}`, json: { title: 'G', slug: 'g' } });
    expect(await settled(1)).toMatchObject([{ title: 'G', manager: true }]);
    expect((await failures()).flat()).toEqual([]);
  });

  describe('rules belong to those who manage apps', () => {
    const send = (as: string, line: string, json?: unknown) =>
      stage.send<{ id: string; error?: { name: string; message: string; details: { key?: string } } }>({
        as,
        send: line,
        json,
      });

    test('who may make, see, change and delete them', async () => {
      const id = await oldRule(rule);
      const lines: [string, unknown?][] = [
        ['GET /apps/rules'],
        ['GET /apps/rules/choices'],
        ['GET /apps/rules/functions?app=watch&block=content'],
        ['POST /apps/rules', rule],
        [`PUT /apps/rules/${id}`, { enabled: false }],
        [`DELETE /apps/rules/${id}`],
      ];
      for (const [line, json] of lines) {
        for (const [who, status] of Object.entries({
          nobody: 401,
          olga: 403,
          author: 403,
          eric: 401,
          fullToken: 401,
        })) {
          expect([line, who, (await send(who, line, json)).status]).toEqual([line, who, status]);
        }
      }
      const stored = () => send('ada', 'GET /apps/rules');
      expect((await stored()).json).toMatchObject([{ ...rule, id, enabled: true, failures: [] }]);
      for (const [line, json] of lines) expect((await send('ada', line, json)).status).toBeLessThan(300);
      expect((await stored()).json).toMatchObject([{ ...rule, enabled: true }]);
    });

    beforeAll(async () => {
      await stage.credential('author');
      await stage.host.run(async (strapi) => {
        const users = strapi.db.query('admin::user');
        const { id, roles } = await users.findOne({ where: { email: 'author@example.com' }, populate: ['roles'] });
        const author = await strapi.db.query('admin::role').findOne({ where: { code: 'strapi-author' } });
        await users.update({ where: { id }, data: { roles: [roles[0].id, author.id] } });
        // What a role may have kept from a time when the type was in the Content Manager.
        for (const name of ['create', 'read', 'update', 'delete', 'publish']) {
          const action = `plugin::content-manager.explorer.${name}`;
          const data = { action, subject: 'plugin::apps.rule', role: roles[0].id, properties: {}, conditions: [] };
          await strapi.db.query('admin::permission').create({ data });
        }
      });
    });

    // `author` is Strapi's Author, with every permission on the type besides.
    test.each(['root', 'ada', 'author'])('%s finds none of them in the Content Manager', async (who) => {
      const id = await oldRule(rule);
      const base = '/content-manager/collection-types/plugin::apps.rule';
      const before = JSON.stringify((await send('ada', 'GET /apps/rules')).json);
      for (const [line, json] of [
        [`GET ${base}`],
        [`GET ${base.replace(':', '%3A')}`],
        [`GET ${base.replace('content', 'CONTENT')}/`],
        [`GET ${base}/${id}`],
        [`POST ${base}`, rule],
        [`PUT ${base}/${id}`, { function: 'fail' }],
        [`POST ${base}/clone/${id}`, rule],
        [`POST ${base}/actions/publish`, rule],
        [`DELETE ${base}/${id}`],
        [`POST ${base}/actions/bulkDelete`, { documentIds: [id] }],
      ] as [string, unknown?][]) {
        const { status } = await send(who, line, json);
        expect([line, status]).toEqual([line, 404]);
      }
      expect(JSON.stringify((await send('ada', 'GET /apps/rules')).json)).toBe(before);
      const types = await stage.send<{ data: { uid: string; isDisplayed: boolean }[] }>({
        as: 'root',
        send: 'GET /content-manager/content-types',
      });
      expect(types.json.data.find(({ uid }) => uid === 'plugin::apps.rule')?.isDisplayed ?? false).toBe(false);
      for (const line of ['GET /api/rules', 'POST /api/rules', `DELETE /api/rules/${id}`]) {
        const { status } = await send('fullToken', line, line.startsWith('POST') ? { data: rule } : undefined);
        expect([404, 405]).toContain(status);
      }
    });

    const wrong: [string, object, string, RegExp][] = [
      ['no name', { name: ' ' }, 'name', /1 to 255/],
      ['a name that is too long', { name: 'x'.repeat(256) }, 'name', /1 to 255/],
      ['no truth', { enabled: 'yes' }, 'enabled', /true or false/],
      ['an unknown event', { event: 'explode' }, 'event', /one of create, /],
      [
        'an unknown content type',
        { contentType: 'api::nothing.nothing' },
        'contentType',
        /no content type "api::nothing.nothing"\. There are: api::article\.article, api::page/,
      ],
      ['a content type of a plugin', { contentType: 'plugin::users-permissions.user' }, 'contentType', /no content/],
      ['an unknown app', { app: 'nowhere' }, 'app', /No site has an app "nowhere"\. There are: open, watch$/],
      ['a misspelt app', { app: 'wach' }, 'app', /No site has an app "wach", did you mean "watch"\? There are: open/],
      ['an app that is no id', { app: '../x' }, 'app', /id of an app/],
      ['an unknown block', { block: 'nowhere' }, 'block', /no block "nowhere".* There are: broken, content, guarded$/],
      ['a misspelt block', { block: 'contents' }, 'block', /did you mean "content"\?/],
      ['a broken block', { block: 'broken' }, 'block', /broken\.js/],
      [
        'an unknown function',
        { function: 'nothing' },
        'function',
        /no function "nothing".* There are: again, answer, /,
      ],
      ['a misspelt function', { function: 'notes' }, 'function', /did you mean "note"\?/],
      ['a function that every object has', { function: 'constructor' }, 'function', /no function "constructor"/],
      ['a function that is no name', { function: 'a.b' }, 'function', /name of a function/],
      ['an unknown key', { failures: [] }, 'failures', /Unknown key/],
    ];
    test.each(wrong)('%s is 400', async (_name, change, key, message) => {
      const id = await oldRule(rule);
      for (const line of ['POST /apps/rules', `PUT /apps/rules/${id}`]) {
        const { status, json } = await send('ada', line, { ...rule, ...change });
        expect([status, json.error?.name, json.error?.details.key]).toEqual([400, 'BadRequestError', key]);
        expect(json.error?.message).toMatch(message);
      }
      expect((await send('ada', 'GET /apps/rules')).json).toMatchObject([rule]);
    });

    test('what is missing is 400, what is not there 404', async () => {
      for (const key of Object.keys(rule)) {
        const { status, json } = await send('ada', 'POST /apps/rules', { ...rule, [key]: undefined });
        expect([status, json.error?.details.key]).toEqual([400, key]);
      }
      expect((await send('ada', 'PUT /apps/rules/nothing', { enabled: false })).status).toBe(404);
      expect((await send('ada', 'DELETE /apps/rules/nothing')).status).toBe(404);
    });

    test('a rule whose function is gone says so, can be switched off, and not on', async () => {
      const id = await oldRule({ ...rule, function: 'gone' });
      await oldRule({ ...rule, name: 'z' });
      const list = await send('ada', 'GET /apps/rules');
      expect(list.json).toMatchObject([
        { id, problem: expect.stringMatching(/no function "gone".* There are: again/) },
        { name: 'z', problem: null },
      ]);
      expect((await send('ada', `PUT /apps/rules/${id}`, { enabled: false })).json).toMatchObject({ enabled: false });
      expect((await send('ada', `PUT /apps/rules/${id}`, { enabled: true })).json.error?.details.key).toBe('function');
      expect((await send('ada', `PUT /apps/rules/${id}`, { function: 'note' })).json).toMatchObject({
        function: 'note',
      });
    });

    test('what a rule can be made of', async () => {
      expect((await send('ada', 'GET /apps/rules/choices')).json).toEqual({
        contentTypes: [
          { uid: article, name: 'Article', hasDrafts: true },
          { uid: 'api::page.page', name: 'Page', hasDrafts: expect.any(Boolean) },
        ],
        apps: [
          { id: 'open', blocks: [] },
          { id: 'watch', blocks: ['broken', 'content', 'guarded'] },
        ],
      });
      const functions = (block: string) => send('ada', `GET /apps/rules/functions?app=watch&block=${block}`);
      expect((await functions('guarded')).json).toEqual(['note']);
      expect((await functions('nowhere')).status).toBe(400);
    });
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
