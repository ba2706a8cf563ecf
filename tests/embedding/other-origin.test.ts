import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, usePage, useStage } from '../support/hooks';
import { cookieOf, logIn } from '../support/login';
import { basic, send } from '../support/send';

/**
 * Pages of other origins, and the cookie of a visitor who is logged in. The host has Strapi's own CORS settings, which let
 * any page read with the visitor's cookies: the plugin must not depend on the host.
 */
const trusted = 'https://app.example';
const stage = useStage({ env: configured({ usualCors: true, apps: { trustedOrigins: [trusted] } }) });
let cookie: string;
beforeAll(async () => {
  await stage.put('rights', 'private', { name: 'private words', block: 'form' });
  const { password } = await stage.user('eric');
  cookie = cookieOf(await logIn(stage.host.url, { name: 'eric', password }));
});

describe('requests as browsers send them', () => {
  const document = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const read = (headers: Record<string, string>, accept = 'application/json') =>
    send(stage.host.url, {
      method: 'GET',
      path: '/site/@@apps/rights/record/private',
      headers: { accept, cookie, ...headers },
    });
  const cases: [string, Record<string, string>, boolean][] = [
    ['no browser', {}, true],
    ['a page of the site', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, true],
    ['an entered address', { 'sec-fetch-site': 'none', ...document }, true],
    ['a link of another site', { 'sec-fetch-site': 'cross-site', ...document }, true],
    ['a frame of another port', { 'sec-fetch-site': 'same-site', ...document, 'sec-fetch-dest': 'iframe' }, false],
    ['a script of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, false],
    ['a script of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, false],
    ['an older browser, another port', { origin: 'http://127.0.0.1:4000' }, false],
    ['an older browser, a frame of nowhere', { origin: 'null' }, false],
    ['a trusted page', { origin: trusted, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, true],
  ];
  test.each(cases)('a read by %s has the identity of its visitor or none', async (_, headers, identified) => {
    const answer = await read(headers);
    expect(answer.status).toBe(identified ? 200 : 401);
    expect(answer.text.includes('private words')).toBe(identified);
    expect((await read(headers, 'text/html')).status).toBe(identified ? 200 : 401);
  });

  test('an Authorization header counts from every origin', async () => {
    const { password } = await stage.user('eric');
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', ...basic(`eric:${password}`) };
    expect((await read(headers)).status).toBe(200);
  });

  test('Vary names the headers that an answer depends on', async () => {
    const own = await read({ 'sec-fetch-site': 'same-origin' });
    const foreign = await read({ 'sec-fetch-site': 'cross-site' });
    for (const { headers } of [own, foreign]) {
      for (const name of ['Authorization', 'Cookie', 'Origin', 'Sec-Fetch-Site']) expect(headers.vary).toContain(name);
    }
    const asset = await send(stage.host.url, { method: 'GET', path: '/site/@@apps.js', headers: { cookie } });
    expect(asset.headers.vary ?? '').not.toContain('Sec-Fetch');
  });

  test('a changing request without the identity is refused, with the token of the identity too', async () => {
    const app = { method: 'GET', path: '/site/@@apps/rights', headers: { accept: 'application/json', cookie } };
    const token = String((await send(stage.host.url, app)).headers['x-csrf-token']);
    const write = (headers: Record<string, string>) =>
      send(stage.host.url, {
        method: 'POST',
        path: '/site/@@apps/rights/record/private',
        headers: { accept: 'application/json', cookie, 'x-csrf-token': token, ...headers },
        json: { name: 'changed' },
      });
    for (const site of ['same-site', 'cross-site']) {
      expect((await write({ 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).status).toBe(403);
    }
    expect((await write({ origin: 'http://127.0.0.1:4000' })).status).toBe(403);
    expect((await stage.items('rights', 'private'))?.name).toBe('private words');
    expect((await write({ 'sec-fetch-site': 'same-origin', origin: stage.host.url })).status).toBe(200);
    await stage.send({ as: 'mona', send: 'PATCH rights/record/private', json: { name: 'private words' } });
  });
});

describe("Strapi's default (docs/operate/access.md#pages-of-other-origins)", () => {
  const origin = 'https://www.example.org';

  test('a preflight gets every origin allowed, with cookies, and only four headers', async () => {
    for (const asked of ['authorization', 'authorization,x-csrf-token', 'if-match']) {
      const { status, headers } = await send(stage.host.url, {
        method: 'OPTIONS',
        path: '/site/@@apps/open/record/any',
        headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': asked },
      });
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': 'Content-Type,Authorization,Origin,Accept',
      });
    }
  });

  test('an answer lets a program read no header', async () => {
    const { headers } = await send(stage.host.url, { method: 'GET', path: '/site/@@apps/open', headers: { origin } });
    expect(headers['x-csrf-token']).toBeDefined();
    expect(headers['access-control-expose-headers']).toBeUndefined();
  });
});

describe.skipIf(!hasBrowser)('a page on another port, in the browser of a visitor who is logged in', () => {
  const elsewhere = usePage(() => '<!doctype html><title>Elsewhere</title><p>Elsewhere</p>');
  const browser = useBrowser();
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    ({ page, context } = await browser.visitor());
    await page.goto(`${stage.host.url}/site/@@login`);
    await page.locator('#identifier').fill('eric');
    await page.locator('#password').fill((await stage.user('eric')).password);
    await page.locator('button').click();
    await page.waitForURL((url) => !url.pathname.endsWith('@@login'));
  });

  /** The answer that a script of the page gets from an address, with the visitor's cookies. */
  const steal = (address: string, init: RequestInit = {}) =>
    page.evaluate(
      async ([url, options]) => {
        const answer = await fetch(url, { credentials: 'include', ...options }).catch(() => null);
        return answer && { status: answer.status, text: await answer.text() };
      },
      [`${stage.host.url}/site/@@apps/rights/${address}`, init] as const,
    );

  /** Ids of records that count as made by the visitor. */
  const ofEric = async () => {
    const identity = `user:${await stage.host.run(async (strapi) => {
      const user = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'eric' } });
      return user.documentId as string;
    })}`;
    return stage.host.run(
      async (strapi, creator) => (await strapi.db.connection('apps_records').where({ creator })).map(({ id }) => id),
      identity,
    );
  };

  test('the page itself is read as always', async () => {
    await page.goto(`${stage.host.url}/site/@@apps/rights/record/private`);
    expect(await page.content()).toContain('private words');
    const own = await steal('record/private', { headers: { accept: 'application/json' } });
    expect(own?.text).toContain('private words');
    // The visitor's own requests find the texts that the tests below look for.
    await page.goto(`${stage.host.url}/site/@@apps/rights/blocks/form`);
    await page.locator('button[name=_save]').click();
    await page.waitForURL(/record/);
    const [made, ...others] = await ofEric();
    expect([made, others]).toEqual([expect.anything(), []]);
    await stage.host.run(
      async (strapi, id) => void (await strapi.db.connection('apps_records').where({ id }).del()),
      made,
    );
  });

  test('a script reads nothing with the cookies', async () => {
    await page.goto(elsewhere.origin);
    const answer = await steal('record/private', { headers: { accept: 'text/html' } });
    expect(answer?.status).toBe(401);
    expect(answer?.text).not.toContain('private words');
    const block = await steal('blocks/form/who', { headers: { accept: 'application/json' } });
    expect(block).toMatchObject({ status: 200 });
    expect(block?.text).not.toContain('eric');
  });

  test('a script writes nothing with them', async () => {
    await page.goto(elsewhere.origin);
    const form = await steal('blocks/form', { headers: { accept: 'text/html' } });
    const token = /name="_csrf" value="([^"]*)"/.exec(form?.text ?? '')?.[1] ?? '';
    expect(token).not.toBe('');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ name: 'forged', _save: '', _csrf: token }).toString();
    await steal('blocks/form', { method: 'POST', headers, body });
    expect(await ofEric()).toEqual([]);
  });

  test('a form of the page does nothing, and a link is followed as the visitor', async () => {
    await page.goto(elsewhere.origin);
    const own = await context.newPage();
    await own.goto(`${stage.host.url}/site/@@apps/rights/blocks/form`);
    // As if it had been stolen: the visitor's own token.
    const token = await own.locator('input[name=_csrf]').first().inputValue();
    await own.close();
    const target = `${stage.host.url}/site/@@apps/rights/blocks/form`;
    await page.evaluate(
      ([action, csrf]) => {
        document.body.innerHTML = `<form method="post" action="${action}"><input name="name" value="forged"><input name="_save"><input name="_csrf" value="${csrf}"><button>go</button></form>`;
      },
      [target, token] as const,
    );
    await page.locator('button').click();
    await page.waitForURL(target);
    expect(await page.content()).toContain('CsrfError');
    expect(await ofEric()).toEqual([]);

    await page.goto(elsewhere.origin);
    await page.evaluate((href) => {
      document.body.innerHTML = `<a href="${href}">go</a>`;
    }, target);
    await page.locator('a').click();
    await page.waitForURL(target);
    expect(await page.content()).toContain('name="_csrf"');
    const who = await steal('blocks/form/who', { headers: { accept: 'application/json' } });
    expect(who?.text).toContain('eric');
  });
});
