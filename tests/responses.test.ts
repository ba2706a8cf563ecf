import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminRoutes } from '../plugins/apps/shared/admin-api';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const html = 'text/html';
const table = (rows: readonly Row[]) => runTable(() => stage, rows);

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
  const ways: [string, (target: string) => Omit<Row, 'it' | 'status'>][] = [
    [
      'returned by an action',
      (target) => ({ send: 'POST flow/blocks/leave', accept: html, form: { 'action.to': '', target } }),
    ],
    ['told to the response', (target) => ({ send: 'POST flow/blocks/leave/respond', json: { target } })],
  ];
  describe.each(ways)('%s', (_way, request) => {
    test.each(outside)('%j', async (target) => {
      const { status, headers } = await stage.send(request(target.replace('ORIGIN', stage.host.url)));
      expect(headers['x-evil']).toBeUndefined();
      if (headers.location === undefined) return expect(status).toBeGreaterThanOrEqual(400);
      // What a browser makes of it is an address of the site.
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

describe('a page that is only looked at', () => {
  table([
    {
      it: 'writes nothing, and stays whole',
      send: 'GET flow/blocks/writes',
      accept: html,
      status: 200,
      has: ['before', 'after'],
      lacks: ['it was written'],
    },
    { it: 'nothing was written', send: 'GET flow/record/written-by-display', status: 404, error: 'NotFoundError' },
    {
      it: 'HEAD of a page',
      send: 'HEAD flow/blocks/thanks',
      accept: html,
      status: 200,
      answers: { 'content-type': /text\/html/ },
    },
    {
      it: 'a form is for its visitor alone',
      send: 'GET flow/blocks/item',
      accept: html,
      status: 200,
      answers: { 'cache-control': /private.*no-store/, vary: /Authorization.*Cookie/i },
    },
  ]);
});

describe('a record of a guarded block', () => {
  beforeAll(() => stage.put('guarded', 'r', { block: 'list', words: 'of the record' }));
  table([
    {
      it: 'its page needs view_permission too',
      send: 'GET guarded/record/r',
      accept: html,
      status: 401,
      lacks: ['guarded list'],
    },
    {
      it: 'for users as well',
      as: 'una',
      send: 'GET guarded/record/r',
      accept: html,
      status: 403,
      lacks: ['guarded list'],
    },
    {
      it: 'those who have both see it',
      as: 'eric',
      send: 'GET guarded/record/r',
      accept: html,
      status: 200,
      has: ['guarded list inner value'],
    },
    {
      it: 'its items are a matter of the acl',
      send: 'GET guarded/record/r',
      status: 200,
      gives: { words: 'of the record' },
    },
  ]);
});

describe('Strapi stays as it is', () => {
  table([
    {
      it: 'a wrong login is its own 400',
      send: 'POST /api/auth/local',
      json: { identifier: 'x', password: 'y' },
      csrf: false,
      status: 400,
      error: 'ValidationError',
    },
    { it: 'records are no content type of the API', send: 'GET /api/records', status: 404 },
    { it: 'nor of the plugin', send: 'GET /api/apps/records', status: 404 },
    { it: 'the admin interface needs an administrator', send: 'GET /admin/users', status: 401 },
  ]);
});

describe("the plugin's interface for the admin panel", () => {
  const lines = Object.values(adminRoutes).map(({ method, path }) => {
    return `${method} /apps${path.replace(':site', 'site').replace(':app', 'open')}`;
  });
  const refused: [who: string, status: number][] = [
    ['nobody', 401],
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
    for (const line of lines.filter((one) => one.startsWith('GET'))) {
      // The query is what one of them asks for.
      const answer = await stage.send({ as, send: `${line}?app=rights&block=form` });
      expect([line, answer.status], answer.text).toEqual([line, 200]);
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
