import { beforeAll, describe, expect, test } from 'vitest';
import { adminRoutes } from '../../plugins/apps/shared/admin-api';
import { useStage } from '../support/hooks';
import { useOpenApi } from '../support/openapi';
import { html, type RowRequest } from '../support/stage';
import { runTable } from '../support/table';

const stage = useStage();
useOpenApi(stage);

describe('redirects stay in the site', () => {
  /** `ORIGIN` stands for the host's own. */
  const outside = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example/',
    'https:/\\evil.example',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'ORIGIN.evil.example/',
    'ORIGIN@evil.example/',
    'http://evil.example#ORIGIN/site/',
    '\thttps://evil.example/',
    '/site/@@apps/../../..//evil.example',
    'ORIGIN/site/@@apps/flow\r\nX-Evil: yes',
  ];
  const ways: [string, (target: string) => RowRequest][] = [
    [
      'returned by an action',
      (target) => ({ send: 'POST flow/blocks/leave', accept: html, form: { 'action.to': '', target } }),
    ],
    ['given to the response', (target) => ({ send: 'POST flow/blocks/leave/respond', json: { target } })],
  ];
  describe.each(ways)('%s', (_way, request) => {
    test.each(outside)('%j', async (target) => {
      const { status, headers } = await stage.send(request(target.replace('ORIGIN', stage.host.url)));
      expect(headers['x-evil']).toBeUndefined();
      if (headers.location === undefined) return expect(status).toBeGreaterThanOrEqual(400);
      // A browser resolves it to an address of the site.
      expect(new URL(headers.location, `${stage.host.url}/site/`).origin).toBe(stage.host.url);
    });

    const inside = ['ORIGIN/site/@@apps/flow/blocks/thanks', '/site/@@apps/flow/blocks/thanks', 'ORIGIN/site/?a=ü b#c'];
    test.each(inside)('%j', async (target) => {
      const { status, headers } = await stage.send(request(target.replace('ORIGIN', stage.host.url)));
      expect(status).toBe(303);
      expect(new URL(String(headers.location), stage.host.url).origin).toBe(stage.host.url);
    });
  });
});

describe('headers', () => {
  const refused: [name: string, value: string][] = [
    ['Set-Cookie', 'a=b'],
    ['Location', 'https://evil.example/'],
    ['Content-Length', '0'],
    ['Transfer-Encoding', 'chunked'],
    ['Access-Control-Allow-Origin', '*'],
    ['Content-Security-Policy', "default-src 'unsafe-inline'"],
    ['X-CSRF-Token', 'x'],
    ['Strict-Transport-Security', 'max-age=0'],
    ['Cache-Control', 'a\r\nX-Evil: yes'],
    ['Cache-Control\r\nX-Evil', 'yes'],
    ['__proto__', 'x'],
    ['', 'x'],
  ];
  test.each(refused)('%j: %j is not set', async (name, value) => {
    const plain = await stage.send({ send: 'POST open/blocks/values/number' });
    const { status, headers } = await stage.send({ send: 'POST flow/blocks/leave/header', json: { name, value } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['x-evil']).toBeUndefined();
    expect(headers['set-cookie']).toEqual(plain.headers['set-cookie']);
    expect(headers.location).toBeUndefined();
    for (const same of ['access-control-allow-origin', 'content-security-policy', 'strict-transport-security']) {
      expect(headers[same], same).toEqual(plain.headers[same]);
    }
  });
});

describe('a page whose logic sets headers', () => {
  const page = (name: string, value: string) =>
    `GET flow/blocks/headers?name=${encodeURIComponent(name)}&value=${encodeURIComponent(value)}`;
  runTable(stage, [
    {
      title: 'a page is not stored, although its logic allows it',
      send: page('Cache-Control', 'public, max-age=3600'),
      accept: html,
      status: 200,
      has: ['set'],
      answers: { 'cache-control': 'private, no-store' },
    },
    {
      title: 'Expires of logic is not set on a page',
      send: page('Expires', 'Thu, 01 Jan 2099 00:00:00 GMT'),
      accept: html,
      status: 200,
      answers: { expires: null },
    },
    {
      title: "Vary of logic is added to the page's own",
      send: page('Vary', 'Accept-Language'),
      accept: html,
      status: 200,
      answers: { vary: /Authorization.*Cookie.*Accept-Language/i },
    },
  ]);
});

describe('the result of an element', () => {
  runTable(stage, [
    {
      title: 'a result as JSON is not stored',
      send: 'GET open/blocks/values/number',
      status: 200,
      answers: { 'content-type': /json/, 'cache-control': 'private, no-store' },
    },
  ]);
});

describe('a page that is only read', () => {
  runTable(stage, [
    {
      title: 'a GET of a page whose logic writes writes nothing, and the page is whole',
      send: 'GET flow/blocks/writes',
      accept: html,
      status: 200,
      has: ['before', 'after'],
      lacks: ['it was written'],
    },
    {
      title: 'a GET of a page has written nothing',
      send: 'GET flow/record/written-by-display',
      status: 404,
      error: 'NotFoundError',
    },
    {
      title: 'HEAD of a page has the type of HTML',
      send: 'HEAD flow/blocks/thanks',
      accept: html,
      status: 200,
      answers: { 'content-type': /text\/html/ },
    },
    {
      title: 'a form is for its visitor alone',
      send: 'GET flow/blocks/item',
      accept: html,
      status: 200,
      answers: { 'cache-control': /private.*no-store/, vary: /Authorization.*Cookie/i },
    },
  ]);
});

describe('a record of a guarded block', () => {
  beforeAll(() => stage.put('guarded', 'r', { block: 'list', words: 'of the record' }));
  runTable(stage, [
    {
      title: 'the page of a guarded record needs a credential',
      send: 'GET guarded/record/r',
      accept: html,
      status: 401,
      lacks: ['guarded list'],
    },
    {
      title: 'the page of a guarded record needs the permission of its block',
      as: 'una',
      send: 'GET guarded/record/r',
      accept: html,
      status: 403,
      lacks: ['guarded list'],
    },
    {
      title: 'those who have both rights see the page',
      as: 'eric',
      send: 'GET guarded/record/r',
      accept: html,
      status: 200,
      has: ['guarded list inner value'],
    },
    {
      title: 'the items of a guarded record follow the acl',
      send: 'GET guarded/record/r',
      status: 200,
      gives: { words: 'of the record' },
    },
  ]);
});

describe("Strapi's own interface is unchanged", () => {
  runTable(stage, [
    {
      title: "a wrong login at Strapi's API is its own 400",
      send: 'POST /api/auth/local',
      json: { identifier: 'x', password: 'y' },
      csrf: false,
      status: 400,
      error: 'ValidationError',
    },
    { title: 'records are no content type of the API', send: 'GET /api/records', status: 404 },
    { title: 'records are no address of the plugin', send: 'GET /api/apps/records', status: 404 },
    { title: 'the admin interface needs an administrator', send: 'GET /admin/users', status: 401 },
  ]);
});

describe("the plugin's interface for the admin panel", () => {
  const lines = Object.values(adminRoutes).map(({ method, path }) => {
    return `${method} /apps${path.replace(':site', 'site').replace(':app', 'open')}`;
  });
  const refused: [who: string, status: number][] = [
    ['anonymous', 401],
    ['mona', 401],
    ['fullToken', 401],
    ['olga', 403],
  ];
  describe.each(lines)('%s', (line) => {
    // Every administrator may choose a block in the editor: that list alone needs no permission.
    test.each(refused.filter(([who]) => who !== 'olga' || !line.endsWith('/blocks')))('%s: %i', async (as, status) => {
      const answer = await stage.send({
        as,
        send: line,
        ...(line.startsWith('GET') ? {} : { json: { theme: 'other' } }),
      });
      expect(answer.status, answer.text).toBe(status);
    });
  });

  test.each(['root', 'ada'])('%s is let in', async (as) => {
    // What needs a query or an existing run is refused for that reason (tests/admin/permissions.test.ts).
    for (const line of lines.filter((one) => one.startsWith('GET'))) {
      const answer = await stage.send({ as, send: `${line}?app=rights&block=form` });
      expect([200, 400, 404], `${line} ${answer.text}`).toContain(answer.status);
    }
  });

  test('the active theme can be changed, and is kept', async () => {
    const change = (theme: string) => stage.send({ as: 'root', send: 'PUT /apps/sites/site/theme', json: { theme } });
    expect((await change('nowhere')).status).toBe(404);
    expect((await change('../main')).status).toBe(404);
    expect((await change('other')).status).toBe(200);
    expect((await stage.send({ send: 'GET linked/blocks/hello', accept: html })).text).toContain(
      'Hello from the other theme',
    );
    expect((await stage.send({ send: 'GET flow' })).status).toBe(404);
    expect((await change('main')).status).toBe(200);
    expect((await stage.send({ send: 'GET flow' })).status).toBe(200);
  });
});
