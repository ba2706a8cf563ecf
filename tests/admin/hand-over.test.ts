import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { cookieOf, hiddenField } from '../support/login';
import { adminToken } from '../support/seed';
import { type Answer, bearer, type Headers, send } from '../support/send';

interface HandOver {
  token: string;
  url: string;
}

const stage = useStage();
/** A second process on the same database, and two whose clocks are ahead. */
const twin = useTwin(stage);
const later = useTwin(stage, { env: configured({ clockAhead: 50_000 }) });
const muchLater = useTwin(stage, { env: configured({ clockAhead: 61 * 60_000 }) });

let number = 0;
/** A new administrator who manages apps, and the headers of their requests to the panel's routes. */
async function manager(): Promise<{ email: string; panel: Headers }> {
  number += 1;
  const email = `manager${number}@example.com`;
  const token = await adminToken(stage.host, { email, actions: ['plugin::apps.manage'] });
  return { email, panel: bearer(token) };
}

const ask = (panel: Headers, site = 'site') =>
  send<HandOver>(stage.host.url, { method: 'POST', path: `/apps/sites/${site}/hand-over`, headers: panel, json: {} });

/** A hand-over, and the cookie of the browser that asked for it. */
async function handOver(panel: Headers): Promise<{ token: string; browser: string; at: string }> {
  const answer = await ask(panel);
  expect(answer.status, answer.text).toBe(201);
  const { pathname, search } = new URL(answer.json.url);
  return { token: answer.json.token, browser: cookieOf(answer), at: `${pathname}${search}` };
}

const page = (at: string, headers: Headers, { host = stage.host, method = 'GET' } = {}): Promise<Answer> =>
  send(host.url, { method, path: at, headers: { accept: 'text/html', ...headers } });

const whoIs = (headers: Headers, host: Host = stage.host) =>
  send<{ user: string; manager: boolean }>(host.url, {
    method: 'GET',
    path: '/site/@@apps/rights/blocks/form/who',
    headers: { accept: 'application/json', ...headers },
  });

async function session(panel: Headers): Promise<Headers> {
  const { at, browser } = await handOver(panel);
  const answer = await page(at, { cookie: browser });
  expect(answer.status, answer.text).toBe(303);
  return { cookie: cookieOf(answer) };
}

describe('a hand-over', () => {
  test.each([
    ['anonymous', 401],
    ['una', 401],
    ['fullToken', 401],
    ['olga', 403],
    ['ada', 201],
    ['root', 201],
  ])('a hand-over is given only to administrators who manage apps: %s %i', async (who, status) => {
    const credential = (await stage.credential(who)) as { bearer: string } | null;
    expect((await ask(credential ? bearer(credential.bearer) : {})).status).toBe(status);
  });

  test('a hand-over of an unknown site is 404', async () => {
    expect((await ask((await manager()).panel, 'none')).status).toBe(404);
  });

  test('a hand-over authorizes one request as a bearer, across all processes', async () => {
    const { email, panel } = await manager();
    const { token } = await handOver(panel);
    const answers = await Promise.all([stage.host, twin, stage.host, twin].map((host) => whoIs(bearer(token), host)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect(answers.find(({ status }) => status === 200)?.json).toMatchObject({ user: email, manager: true });
    expect((await whoIs(bearer(token))).status).toBe(401);
  });

  test('a hand-over ends after a minute, ends with the session of the panel, and cannot be forged', async () => {
    const { panel } = await manager();
    const { token } = await handOver(panel);
    for (const wrong of [token.slice(0, -2), token.replace(/^handover\.\d+/, 'handover.1'), 'handover.1.2.3.4.5'])
      expect((await whoIs(bearer(wrong))).status).toBe(401);
    expect((await whoIs(bearer(token), muchLater)).status).toBe(401);
    expect((await whoIs(bearer(token), later)).status).toBe(200);
    const { token: another } = await handOver(panel);
    await send(stage.host.url, { method: 'POST', path: '/admin/logout', headers: panel, json: {} });
    expect((await whoIs(bearer(another))).status).toBe(401);
  });
});

describe('the site opened by it', () => {
  test('knows the administrator in every process, and redirects away from the address with the token', async () => {
    const { email, panel } = await manager();
    const { at, browser } = await handOver(panel);
    const answer = await page(`${at}&next=${encodeURIComponent('/site/articles/one?a=1')}`, { cookie: browser });
    expect(answer).toMatchObject({
      status: 303,
      headers: {
        location: `${stage.host.url}/site/articles/one?a=1`,
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
      },
    });
    const [header] = answer.headers['set-cookie'] ?? [];
    expect(header).toMatch(/^apps_session=[^;]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/);
    for (const host of [stage.host, twin])
      expect((await whoIs({ cookie: cookieOf(answer) }, host)).json).toMatchObject({ user: email, manager: true });
    expect((await whoIs({ cookie: cookieOf(answer) }, muchLater)).status).toBe(401);
  });

  test.each([
    ['//evil.example/', '/site/'],
    ['/admin', '/site/'],
    ['/site/@@login?hand-over=x', '/site/'],
  ])('redirects only to pages of the site: %s', async (next, to) => {
    const { at, browser } = await handOver((await manager()).panel);
    const answer = await page(`${at}&next=${encodeURIComponent(next)}`, { cookie: browser });
    expect(answer.headers.location).toBe(`${stage.host.url}${to}`);
  });

  test('a hand-over opens once', async () => {
    const { at, browser } = await handOver((await manager()).panel);
    expect((await page(at, { cookie: browser }, { method: 'HEAD' })).status).toBe(200);
    expect((await page(at, { cookie: browser })).status).toBe(303);
    const again = await page(at, { cookie: browser });
    expect([again.status, cookieOf(again)]).toEqual([401, '']);
    expect(again.text).not.toContain('handover');
  });

  const foreign: [string, (browser: string) => Headers][] = [
    ['in a browser without the panel', () => ({})],
    ['in another browser', () => ({ cookie: 'apps_login=AAAAAAAAAAAAAAAAAAAAAA' })],
    ['by a link of another page', (browser) => ({ cookie: browser, 'sec-fetch-site': 'cross-site' })],
    ['by a page of a sibling host', (browser) => ({ cookie: browser, 'sec-fetch-site': 'same-site' })],
  ];
  test.each(foreign)('a hand-over opened %s is refused, and stays unused', async (_what, headers) => {
    const { at, browser } = await handOver((await manager()).panel);
    const answer = await page(at, headers(browser));
    expect([answer.status, cookieOf(answer).includes('apps_session')]).toEqual([403, false]);
    expect((await page(at, { cookie: browser, 'sec-fetch-site': 'same-origin' })).status).toBe(303);
  });

  test('takes only its own CSRF tokens', async () => {
    const { panel } = await manager();
    const cookie = await session(panel);
    const tokenOf = async (headers: Headers) => String((await whoAsks(headers)).headers['x-csrf-token'] ?? '');
    const whoAsks = (headers: Headers) =>
      send(stage.host.url, {
        method: 'GET',
        path: '/site/@@apps/plain',
        headers: { accept: 'application/json', ...headers },
      });
    const post = async (token: string) =>
      (
        await send(stage.host.url, {
          method: 'POST',
          path: '/site/@@apps/plain',
          headers: { accept: 'application/json', 'x-csrf-token': token, ...cookie },
          json: {},
        })
      ).status;
    expect(await post(await tokenOf(panel))).toBe(403);
    expect(await post(await tokenOf({}))).toBe(403);
    expect(await post(await tokenOf(cookie))).toBe(201);
  });
});

describe('the session ends, in every process', () => {
  const edit = (email: string, data: object) =>
    stage.host.run(
      async (strapi, email, data) => {
        const { id } = await strapi.db.query('admin::user').findOne({ where: { email } });
        await strapi.service('admin::user').updateById(id, data);
      },
      email,
      data,
    );
  const ends: [string, (who: { email: string; panel: Headers; cookie: Headers }) => Promise<unknown>][] = [
    [
      'by the logout of the site',
      async ({ cookie }) => {
        const form = await page('/site/@@logout', cookie);
        const csrf = hiddenField(form.text, '_csrf');
        await send(stage.host.url, {
          method: 'POST',
          path: '/site/@@logout',
          headers: { accept: 'text/html', ...cookie },
          form: { _csrf: csrf },
        });
      },
    ],
    [
      'by the logout of the panel',
      ({ panel }) => send(stage.host.url, { method: 'POST', path: '/admin/logout', headers: panel, json: {} }),
    ],
    ['when the administrator is deactivated', ({ email }) => edit(email, { isActive: false })],
    [
      'when the administrator is blocked',
      ({ email }) =>
        stage.host.run(
          (strapi, email) => strapi.db.query('admin::user').update({ where: { email }, data: { blocked: true } }),
          email,
        ),
    ],
    ['when the password is changed', ({ email }) => edit(email, { password: 'Other-Secret-2' })],
    [
      'when the administrator is deleted',
      ({ email }) =>
        stage.host.run(async (strapi, email) => {
          const { id } = await strapi.db.query('admin::user').findOne({ where: { email } });
          await strapi.service('admin::user').deleteById(id);
        }, email),
    ],
    [
      'when the permission is taken away',
      ({ email }) =>
        stage.host.run(async (strapi, name) => {
          const { id } = await strapi.db.query('admin::role').findOne({ where: { name } });
          await strapi.service('admin::role').assignPermissions(id, []);
        }, email),
    ],
  ];
  test.each(ends)('the session ends %s', async (_what, end) => {
    const { email, panel } = await manager();
    const cookie = await session(panel);
    for (const host of [stage.host, twin]) expect((await whoIs(cookie, host)).status).toBe(200);
    const { token } = await handOver(panel);
    await end({ email, panel, cookie });
    for (const host of [twin, stage.host]) expect((await whoIs(cookie, host)).status).toBe(401);
    if (!_what.includes('of the site')) expect((await whoIs(bearer(token))).status).toBe(401);
  });
});
