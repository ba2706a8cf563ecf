import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { cookieOf, hiddenField, logIn } from '../../support/login';
import { userToken } from '../../support/seed';
import { type Answer, bearer, cookie, type Headers, locationOf, send } from '../../support/send';
import type { Stage } from '../../support/stage';
import { askersOf, expectRefused } from './who';

export function login(stage: Stage, twin: Host): void {
  const { whoIs } = askersOf(stage);

  describe('log in, log out', () => {
    const page = (path: string, headers: Headers = {}, form?: Record<string, string>) =>
      send(stage.host.url, { method: form ? 'POST' : 'GET', path, form, headers: { accept: 'text/html', ...headers } });
    const session = async (name: string): Promise<Headers> => {
      const { password } = await stage.user(name);
      return cookie(cookieOf(await logIn(stage.host.url, { name, password })));
    };
    /** Opens the logout form and sends it. */
    async function logOut(headers: Headers): Promise<Answer> {
      const form = await page('/site/@@logout', headers);
      expect(form.status).toBe(200);
      return page('/site/@@logout', headers, { _csrf: hiddenField(form.text, '_csrf') });
    }

    test('the session cookie is HttpOnly and Lax, holds in every process, and ends with the logout', async () => {
      const user = await stage.user('anna');
      const answer = await logIn(stage.host.url, { name: 'anna', password: user.password });
      expect(answer.status).toBe(303);
      const [set = ''] = answer.headers['set-cookie'] ?? [];
      expect(set).toMatch(/; ?HttpOnly/i);
      expect(set).toMatch(/; ?SameSite=Lax/i);
      expect(set).not.toMatch(/; ?Secure/i);
      const session = cookie(cookieOf(answer));
      for (const host of [stage.host, twin])
        expect((await whoIs(session, host)).json).toMatchObject({ user: 'anna', groups: ['authors'] });
      // An e-mail logs in as well.
      expect((await logIn(stage.host.url, { name: user.email, password: user.password })).status).toBe(303);

      const out = await logOut(session);
      expect(out.status).toBe(303);
      expect(out.headers['set-cookie']?.join()).toMatch(/Max-Age=0|Expires=Thu, 01 Jan 1970/i);
      for (const host of [twin, stage.host]) expectRefused(await whoIs(session, host));

      // A browser that still has the cookie is shown the form, and loses the cookie.
      const form = {
        method: 'GET',
        path: '/site/@@login?next=/site/about',
        headers: { accept: 'text/html', ...session },
      };
      const again = await send(stage.host.url, form);
      expect(again.status).toBe(401);
      for (const part of ['type="password"', 'name="next" value="/site/about"']) expect(again.text).toContain(part);
      expect(again.headers['set-cookie']?.join()).toMatch(/Max-Age=0/);
    });

    test('a telephone may add a blank and a capital, and its keyboard is asked not to', async () => {
      const { text } = await page('/site/@@login');
      const [tag = ''] = /<input[^>]* name="identifier"[^>]*>/.exec(text) ?? [];
      for (const attribute of ['autocapitalize="none"', 'autocorrect="off"', 'spellcheck="false"'])
        expect(tag).toContain(attribute);
      const { email, password } = await stage.user('anna');
      for (const name of ['anna ', ' Anna', 'ANNA', ` ${email.toUpperCase()} `])
        expect((await logIn(stage.host.url, { name, password })).status, name).toBe(303);
      expect((await logIn(stage.host.url, { name: 'anna', password: `${password} ` })).status).toBe(401);
    });

    test('a header wins over a cookie', async () => {
      const { password } = await stage.user('anna');
      const session = cookieOf(await logIn(stage.host.url, { name: 'anna', password }));
      const eric = await userToken(stage.host, await stage.user('eric'));
      expect((await whoIs({ cookie: session, ...bearer(eric) })).json).toMatchObject({ user: 'eric' });
      expectRefused(await whoIs({ cookie: session, ...bearer('garbage') }));
      // The last character of a signature has only four bits of title: A and B are the same.
      const changed = session.replace(/.$/, (last) => (last === 'A' ? 'Z' : 'A'));
      expectRefused(await whoIs(cookie(changed)));
    });

    test('a wrong password shows the form again, and logs no visitor in', async () => {
      const answer = await logIn(stage.host.url, { name: '<anna>', password: 'wrong' });
      expect(answer.status).toBe(401);
      expect(cookieOf(answer)).toBe('');
      expect(answer.text).toContain('&lt;anna&gt;');
      expect(answer.text).not.toContain('<anna>');
      expect(answer.text).toContain('type="password"');
    });

    test('the form needs its token', async () => {
      const { password } = await stage.user('anna');
      const answer = await logIn(stage.host.url, { name: 'anna', password }, { csrf: 'x' });
      expect([answer.status, cookieOf(answer)]).toEqual([403, '']);
    });

    const nexts = [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      'javascript:alert(1)',
      'https:evil.example',
      '\t//evil.example',
    ];
    test.each(nexts)('the login does not lead out of the site by next=%j', async (next) => {
      const { password } = await stage.user('anna');
      const answer = await logIn(stage.host.url, { name: 'anna', password }, { next });
      expect(answer.status).toBe(303);
      expect(new URL(String(answer.headers.location), stage.host.url).origin).toBe(stage.host.url);
    });

    test('a form of a logged-in visitor works with its own token', async () => {
      const { password } = await stage.user('anna');
      const session = cookie(cookieOf(await logIn(stage.host.url, { name: 'anna', password })));
      const path = '/site/@@apps/rights/blocks/form';
      const page = await send(stage.host.url, { method: 'GET', path, headers: { accept: 'text/html', ...session } });
      const form = { _csrf: hiddenField(page.text, '_csrf'), name: 'x', _save: '' };
      const post = (headers: Headers, fields: Record<string, string>) =>
        send(stage.host.url, { method: 'POST', path, headers: { accept: 'text/html', ...headers }, form: fields });
      expect((await post(session, form)).status).toBe(303);
      expect((await post({}, form)).status).toBe(403);
      expect((await post(session, { ...form, _csrf: '' })).status).toBe(403);
    });

    describe('a form of another page logs no visitor in or out', () => {
      const browsers: [string, (own: string) => Headers][] = [
        ['a browser without the cookie', () => ({})],
        ['a browser with a cookie of its own', (own) => cookie(own)],
        ['a browser with a cookie that is none', () => cookie('apps_login=x')],
      ];
      test.each(browsers)('the token of a form opened elsewhere is refused in %s', async (_name, headers) => {
        const { password } = await stage.user('anna');
        const foreign = hiddenField((await page('/site/@@login')).text, '_csrf');
        const rest = await send(stage.host.url, { method: 'GET', path: '/site/@@apps/open' });
        const own = cookieOf(await page('/site/@@login'));
        expect(own).toMatch(/^apps_login=[\w-]{22}$/);
        for (const _csrf of [foreign, String(rest.headers['x-csrf-token']), '', 'x']) {
          const form = { _csrf, identifier: '<anna>', password };
          const answer = await page('/site/@@login', headers(own), form);
          expect(answer.status).toBe(403);
          expect(cookieOf(answer)).not.toContain('apps_session');
          // The form is shown again, with nothing of what came from elsewhere.
          expect(answer.text).toContain('type="password"');
          expect(answer.text).not.toContain('anna');
          const json = { accept: 'application/json', ...headers(own) };
          expect((await page('/site/@@login', json, form)).json).toMatchObject({ error: { name: 'CsrfError' } });
        }
      });

      test('the cookie is HttpOnly and SameSite=Lax, and kept', async () => {
        const first = await page('/site/@@login');
        expect(first.headers['set-cookie']?.join()).toMatch(/^apps_login=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
        const again = await page('/site/@@login', cookie(cookieOf(first)));
        expect(again.headers['set-cookie']).toBeUndefined();
      });

      const origins: [Headers, boolean][] = [
        [{}, true],
        [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
        [{ 'sec-fetch-site': 'none' }, true],
        [{ origin: 'null' }, true],
        [{ origin: 'OWN' }, true],
        [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
        [{ 'sec-fetch-site': 'same-site', origin: 'null' }, false],
        [{ origin: 'https://evil.example' }, false],
        [{ origin: 'OWN.evil.example' }, false],
        [{ origin: 'http://127.0.0.1:1' }, false],
      ];
      const own = (headers: Headers): Headers =>
        JSON.parse(JSON.stringify(headers).replace('OWN', stage.host.url)) as Headers;
      test.each(origins)('a form with the headers %j is taken: %s', async (headers, taken) => {
        const { password } = await stage.user('anna');
        const login = await logIn(stage.host.url, { name: 'anna', password }, { headers: own(headers) });
        expect(login.status).toBe(taken ? 303 : 403);
        const who = await session('anna');

        const block = '/site/@@apps/rights/blocks/form';
        const _csrf = hiddenField((await page(block, who)).text, '_csrf');
        const form = { _csrf, name: 'x', _save: '' };
        expect((await page(block, { ...who, ...own(headers) }, form)).status).toBe(taken ? 303 : 403);
        // The host's CORS settings let no script send the header from elsewhere; if they did, the cookie would not count.
        const script = { ...who, ...own(headers), 'x-csrf-token': _csrf };
        expect((await page(block, script, { name: 'x', _save: '' })).status).toBe(taken ? 303 : 403);

        const logout = hiddenField((await page('/site/@@logout', who)).text, '_csrf');
        expect((await page('/site/@@logout', { ...who, ...own(headers) }, { _csrf: logout })).status).toBe(
          taken ? 303 : 403,
        );
        expect((await whoIs(who)).status).toBe(taken ? 401 : 200);
      });

      test('a link to the logout only asks, a form without its token is refused', async () => {
        const who = await session('anna');
        const asked = await page('/site/@@logout?next=/site/about', who);
        expect(asked.text).toContain('<form method="post"');
        expect(asked.text).toContain('name="next" value="/site/about"');
        const anonymous = hiddenField((await page('/site/@@login')).text, '_csrf');
        for (const _csrf of ['', 'x', anonymous]) {
          expect((await page('/site/@@logout', who, { _csrf })).status).toBe(403);
        }
        expect((await whoIs(who)).json).toMatchObject({ user: 'anna' });
        const form = { _csrf: hiddenField(asked.text, '_csrf'), next: '/site/about' };
        const out = await page('/site/@@logout', who, form);
        expect([out.status, locationOf(out).pathname]).toEqual([303, '/site/about']);
        // Without a session the logout has no form.
        for (const headers of [{}, who]) expect((await page('/site/@@logout', headers)).status).toBe(303);
      });
    });

    test('a new login ends the session that the browser had', async () => {
      const { password } = await stage.user('anna');
      const old = await session('anna');
      const other = await session('anna');
      const fresh = await logIn(stage.host.url, { name: 'anna', password }, { cookie: old.cookie });
      for (const host of [twin, stage.host]) {
        expectRefused(await whoIs(old, host));
        for (const headers of [other, cookie(cookieOf(fresh))]) expect((await whoIs(headers, host)).status).toBe(200);
      }
      // A failed one does not.
      await logIn(stage.host.url, { name: 'anna', password: 'wrong' }, { cookie: other.cookie });
      expect((await whoIs(other)).status).toBe(200);
    });
  });
}
