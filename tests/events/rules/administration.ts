import { beforeAll, describe, expect, test } from 'vitest';
import { article } from '../../support/seed';
import type { Stage } from '../../support/stage';
import { rule, rulesOf } from './requests';

export function administrationOfRules(stage: Stage): void {
  const { oldRule } = rulesOf(stage);

  describe('rules belong to those who manage apps', () => {
    const send = (as: string, line: string, json?: unknown) =>
      stage.send<{ id: string; error?: { name: string; message: string; details: { key?: string } } }>({
        as,
        send: line,
        json,
      });

    test('rules are made, seen, changed and deleted by those who manage apps', async () => {
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
          anonymous: 401,
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
        // A role may have kept permissions from a time when the type was in the Content Manager.
        for (const name of ['create', 'read', 'update', 'delete', 'publish']) {
          const action = `plugin::content-manager.explorer.${name}`;
          const data = { action, subject: 'plugin::apps.rule', role: roles[0].id, properties: {}, conditions: [] };
          await strapi.db.query('admin::permission').create({ data });
        }
      });
    });

    // `author` is Strapi's Author, with every permission on the type besides.
    test.each(['root', 'ada', 'author'])('%s finds no rules in the Content Manager', async (who) => {
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
      ['an enabled that is not true or false', { enabled: 'yes' }, 'enabled', /true or false/],
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
    test.each(wrong)('a rule with %s is refused', async (_name, change, key, message) => {
      const id = await oldRule(rule);
      for (const line of ['POST /apps/rules', `PUT /apps/rules/${id}`]) {
        const { status, json } = await send('ada', line, { ...rule, ...change });
        expect([status, json.error?.name, json.error?.details.key]).toEqual([400, 'BadRequestError', key]);
        expect(json.error?.message).toMatch(message);
      }
      expect((await send('ada', 'GET /apps/rules')).json).toMatchObject([rule]);
    });

    test('a rule without a key is 400, an unknown rule is 404', async () => {
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

    test('the choices list the values of a rule', async () => {
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
}
