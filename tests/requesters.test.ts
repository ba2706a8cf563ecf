import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from './support/host';
import { cookieOf, hiddenField, logIn } from './support/login';
import { createUser, grantRole, userToken } from './support/seed';
import { type Answer, send } from './support/send';
import { openStage, type Stage, startTwin } from './support/stage';

let stage: Stage;
/** A second process on the same database. */
let twin: Host;
beforeAll(async () => {
  stage = await openStage();
  twin = await startTwin(stage);
});
afterAll(async () => {
  await twin?.stop();
  await stage?.close();
});

interface Who {
  user: string | null;
  groups: string[];
  manager: boolean;
}

type Headers = Record<string, string>;
const basic = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const cookie = (text: string): Headers => ({ cookie: text });

/** Asks the host who these headers belong to. */
const whoIs = (headers: Headers = {}, host: Host = stage.host): Promise<Answer<Who>> =>
  send<Who>(host.url, {
    method: 'GET',
    path: '/site/@@apps/rights/blocks/form/who',
    headers: { accept: 'application/json', ...headers },
  });

function expectRefused(answer: Answer): void {
  expect([answer.status, answer.json]).toMatchObject([
    401,
    { data: null, error: { status: 401, name: 'UnauthorizedError' } },
  ]);
  expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=".+"/);
}

describe('every kind of credential', () => {
  test('none', async () => {
    expect((await whoIs()).json).toMatchObject({ groups: ['Public'], manager: false });
  });

  test('a users-permissions JWT', async () => {
    const token = await userToken(stage.host, await stage.user('eric'));
    expect((await whoIs(bearer(token))).json).toMatchObject({ user: 'eric', groups: ['editors'] });
    expect((await whoIs({ authorization: `bearer ${token}` })).json).toMatchObject({ user: 'eric' });
  });

  const tokens: [string, Partial<Who>][] = [
    ['readToken', { groups: [], manager: false }],
    ['findToken', { groups: [], manager: false }],
    ['fullToken', { groups: [], manager: true }],
    ['manageToken', { groups: [], manager: true }],
    ['root', { manager: true }],
    ['ada', { manager: true }],
    ['olga', { manager: false }],
  ];
  test.each(tokens)('the token of %s', async (who, expected) => {
    const credential = (await stage.credential(who)) as { bearer: string };
    expect((await whoIs(bearer(credential.bearer))).json).toMatchObject(expected);
  });

  const people: [username: string, password: string][] = [
    ['plain', 'Password1'],
    ['dotted.name', 'Password1'],
    ['many.dots.in.name', 'pass.word.1'],
    ['co:lon', 'Password:1'],
    ['both.and:all', '.:pass.:'],
    ['space name', 'pass word'],
    ['jörg', 'pässwörd-✓'],
    ['Upper', 'PASSword1'],
    ['1234', '567890'],
    ['__proto__', 'Password1'],
    ["o'neil%", 'Password1'],
  ];
  test.each(people)('Basic of %s with %s', async (username, password) => {
    const email = `${Buffer.from(username).toString('hex')}@mail.example.com`;
    await createUser(stage.host, { username, password, email, role: 'readers' });
    for (const separator of ['.', ':']) {
      for (const name of [username, email]) {
        const answer = await whoIs(basic(`${name}${separator}${password}`));
        expect([name, answer.status, answer.json]).toMatchObject([name, 200, { user: username, groups: ['readers'] }]);
      }
    }
    expectRefused(await whoIs(basic(`${username}:${password}x`)));
  });

  test('a longer name is not taken for a shorter one with its password', async () => {
    await createUser(stage.host, { username: 'ann', password: 'bee.Cee', role: 'readers' });
    await createUser(stage.host, { username: 'ann.bee', password: 'Dee123', role: 'authors' });
    expect((await whoIs(basic('ann.bee.Cee'))).json).toMatchObject({ user: 'ann' });
    expect((await whoIs(basic('ann.bee.Dee123'))).json).toMatchObject({ user: 'ann.bee' });
  });

  const invalid: [string, Headers][] = [
    ['an unknown scheme', { authorization: 'Digest username="eric"' }],
    ['a scheme alone', { authorization: 'Bearer' }],
    ['an empty Basic', { authorization: 'Basic ' }],
    ['a Basic that is no Base64', { authorization: 'Basic !!!' }],
    ['a Basic without separator', basic('eric')],
    ['a Basic without name', basic(':password')],
    ['a Basic without password', basic('eric.')],
    ['a Basic of nobody', basic('nobody.at.all')],
    ['a Basic with a zero byte', basic('eric\u0000:x')],
    ['an endless Basic', basic('x.'.repeat(5_000))],
    ['a garbage bearer', bearer('garbage')],
    ['a garbage JWT', bearer('a.b.c')],
    [
      'an unsigned JWT',
      bearer(
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"id":1}').toString('base64url')}.`,
      ),
    ],
    ['a session that is none', cookie('apps_session=garbage')],
  ];
  test.each(invalid)('%s is never anonymous', async (_name, headers) => {
    expectRefused(await whoIs(headers));
  });

  test('a page request is not challenged: the browser would ask for a password', async () => {
    const answer = await whoIs({ ...bearer('garbage'), accept: 'text/html' });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, undefined]);
  });
});

describe('what was right is refused from the next request on, in every process', () => {
  const set = (host: Host, username: string, data: object) =>
    host.run(
      async (strapi, username, data) => {
        const users = strapi.db.query('plugin::users-permissions.user');
        const { id } = await users.findOne({ where: { username } });
        await strapi.plugin('users-permissions').service('user').edit(id, data);
      },
      username,
      data,
    );

  const changes: [string, (name: string) => Promise<unknown>][] = [
    ['a blocked user', (name) => set(stage.host, name, { blocked: true })],
    [
      'a deleted user',
      (name) =>
        stage.host.run(
          (strapi, username) => strapi.db.query('plugin::users-permissions.user').delete({ where: { username } }),
          name,
        ),
    ],
    [
      'a deleted role',
      (name) =>
        stage.host.run(
          (strapi, role) => strapi.db.query('plugin::users-permissions.role').delete({ where: { name: role } }),
          `of-${name}`,
        ),
    ],
  ];
  test.each(changes)('%s', async (what, change) => {
    const name = what.replace(/\W/g, '-');
    const user = await createUser(stage.host, { username: name, role: `of-${name}` });
    const session = cookieOf(await logIn(stage.host.url, { name, password: user.password }));
    const all = [basic(`${name}.${user.password}`), bearer(await userToken(stage.host, user)), cookie(session)];
    for (const host of [stage.host, twin]) {
      for (const headers of all) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
    }
    await change(name);
    for (const host of [twin, stage.host]) for (const headers of all) expectRefused(await whoIs(headers, host));
  });

  test('a changed password', async () => {
    const user = await createUser(stage.host, { username: 'changer', role: 'readers' });
    const session = cookie(cookieOf(await logIn(stage.host.url, { name: 'changer', password: user.password })));
    const old = basic(`changer.${user.password}`);
    for (const host of [stage.host, twin])
      for (const headers of [old, session]) expect((await whoIs(headers, host)).status).toBe(200);
    await set(stage.host, 'changer', { password: 'Other-Secret-2' });
    for (const host of [twin, stage.host])
      for (const headers of [old, session]) expectRefused(await whoIs(headers, host));
    for (const host of [twin, stage.host])
      expect((await whoIs(basic('changer.Other-Secret-2'), host)).json).toMatchObject({ user: 'changer' });
  });

  /** A token that users-permissions issued some seconds ago. */
  const olderToken = (id: number, seconds: number): Promise<string> =>
    stage.host.run(
      (strapi, id, iat) => strapi.plugin('users-permissions').service('jwt').issue({ id, iat }) as string,
      id,
      Math.floor(Date.now() / 1000) - seconds,
    );

  const ways: [string, (name: string, id: number) => Promise<string | undefined>][] = [
    ['by code', (name) => set(stage.host, name, { password: 'Other-Secret-2' }).then(() => undefined)],
    [
      'in the Content Manager',
      async (name) => {
        const documentId = await stage.host.run(
          async (strapi, username) =>
            (await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username } })).documentId,
          name,
        );
        const answer = await stage.send({
          as: 'root',
          send: `PUT /content-manager/collection-types/plugin::users-permissions.user/${documentId}`,
          json: { password: 'Other-Secret-2' },
        });
        expect(answer.status, answer.text).toBe(200);
        return undefined;
      },
    ],
    [
      'by its owner',
      async (name, id) => {
        const actions = ['plugin::users-permissions.auth.changePassword'];
        await grantRole(stage.host, 'readers', actions);
        const answer = await send<{ jwt: string }>(stage.host.url, {
          method: 'POST',
          path: '/api/auth/change-password',
          headers: bearer(await olderToken(id, 5)),
          json: {
            currentPassword: `Secret-${name}-1`,
            password: 'Other-Secret-2',
            passwordConfirmation: 'Other-Secret-2',
          },
        });
        expect(answer.status, answer.text).toBe(200);
        return answer.json.jwt;
      },
    ],
    [
      'by a reset',
      async (_name, id) => {
        await stage.host.run(
          (strapi, id) =>
            strapi.db
              .query('plugin::users-permissions.user')
              .update({ where: { id }, data: { resetPasswordToken: `reset-${id}` } }),
          id,
        );
        await grantRole(stage.host, 'Public', ['plugin::users-permissions.auth.resetPassword']);
        const password = 'Other-Secret-2';
        const answer = await send<{ jwt: string }>(stage.host.url, {
          method: 'POST',
          path: '/api/auth/reset-password',
          json: { code: `reset-${id}`, password, passwordConfirmation: password },
        });
        expect(answer.status, answer.text).toBe(200);
        return answer.json.jwt;
      },
    ],
  ];
  /** How users-permissions makes its JWTs: bound to a session, or by themselves. */
  const modes = ['legacy-support', 'refresh'];
  const useMode = (mode: string) =>
    Promise.all(
      [stage.host, twin].map((host) =>
        host.run((strapi, mode) => strapi.config.set('plugin::users-permissions.jwtManagement', mode) && null, mode),
      ),
    );
  afterAll(() => useMode('refresh'));

  test.each(modes.flatMap((mode) => ways.map((way) => [mode, ...way] as const)))(
    'in the mode %s: every token of a user whose password was changed %s',
    async (mode, way, change) => {
      await useMode(mode);
      const name = `changed-${mode}-${way}`.replace(/\W/g, '-');
      const user = await createUser(stage.host, { username: name, role: 'readers' });
      const session = cookieOf(await logIn(stage.host.url, { name, password: user.password }));
      const { refresh, active } = await stage.host.run(async (strapi, id) => {
        const manager = strapi.sessionManager('users-permissions');
        const { sessionId } = await manager.generateRefreshToken(String(id), undefined, { type: 'refresh' });
        return { refresh: sessionId, active: await manager.isSessionActive(sessionId) };
      }, user.id);
      expect(active).toBe(true);
      const all = [bearer(await olderToken(user.id, 10)), cookie(session), basic(`${name}.${user.password}`)];
      await stage.host.run(
        (strapi, id) =>
          strapi
            .plugin('users-permissions')
            .service('user')
            .edit(id, { email: `new-${id}@example.com` }),
        user.id,
      );
      for (const host of [stage.host, twin])
        for (const headers of all) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
      const given = await change(name, user.id);
      for (const host of [twin, stage.host]) for (const headers of all) expectRefused(await whoIs(headers, host));
      // Those that come with the change and after it are good at once.
      const fresh = [bearer(given ?? (await userToken(stage.host, user))), basic(`${name}.Other-Secret-2`)];
      for (const host of [twin, stage.host])
        for (const headers of fresh) expect((await whoIs(headers, host)).json).toMatchObject({ user: name });
      expect(
        await stage.host.run((strapi, id) => strapi.sessionManager('users-permissions').isSessionActive(id), refresh),
      ).toBe(false);
    },
  );

  test('a changed group counts at once', async () => {
    const user = await createUser(stage.host, { username: 'mover', role: 'readers' });
    const headers = basic(`mover.${user.password}`);
    expect((await whoIs(headers)).json).toMatchObject({ groups: ['readers'], rights: ['reader'] });
    await set(stage.host, 'mover', { role: await grantRole(stage.host, 'authors') });
    for (const host of [twin, stage.host])
      expect((await whoIs(headers, host)).json).toMatchObject({ groups: ['authors'] });
  });

  test('an unconfirmed user where confirmation is asked for', async () => {
    const confirmation = (wanted: boolean) =>
      stage.host.run(async (strapi, wanted) => {
        const store = strapi.store({ type: 'plugin', name: 'users-permissions', key: 'advanced' });
        await store.set({ value: { ...((await store.get({})) as object), email_confirmation: wanted } });
      }, wanted);
    const user = await createUser(stage.host, { username: 'doubtful', confirmed: false, role: 'readers' });
    const token = await userToken(stage.host, user);
    await confirmation(true);
    try {
      for (const headers of [basic(`doubtful.${user.password}`), bearer(token)]) expectRefused(await whoIs(headers));
    } finally {
      await confirmation(false);
    }
  });

  const tokenChanges: [string, object | null][] = [
    ['a revoked API token', null],
    ['an expired API token', { expiresAt: String(Date.now() - 1_000), lifespan: '604800000' }],
  ];
  test.each(tokenChanges)('%s', async (name, data) => {
    const { accessKey, id } = await stage.host.run(
      (strapi, name) =>
        strapi.service('admin::api-token').create({ name, description: '', type: 'full-access', lifespan: null }),
      name,
    );
    for (const host of [stage.host, twin])
      expect((await whoIs(bearer(accessKey), host)).json).toMatchObject({ manager: true });
    await stage.host.run(
      async (strapi, id, data) => {
        const tokens = strapi.db.query('admin::api-token');
        await (data ? tokens.update({ where: { id }, data }) : strapi.service('admin::api-token').revoke(id));
      },
      id,
      data,
    );
    for (const host of [twin, stage.host]) expectRefused(await whoIs(bearer(accessKey), host));
  });

  test('a deactivated administrator', async () => {
    const { bearer: token } = (await stage.credential('ada')) as { bearer: string };
    expect((await whoIs(bearer(token))).json).toMatchObject({ manager: true });
    await stage.host.run((strapi) =>
      strapi.db.query('admin::user').update({ where: { email: 'ada@example.com' }, data: { isActive: false } }),
    );
    for (const host of [twin, stage.host]) expectRefused(await whoIs(bearer(token), host));
  });
});

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

  test('the session cookie', async () => {
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

    // Whoever still has the cookie finds the form, and loses the cookie.
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

  test('a header wins over a cookie', async () => {
    const { password } = await stage.user('anna');
    const session = cookieOf(await logIn(stage.host.url, { name: 'anna', password }));
    const eric = await userToken(stage.host, await stage.user('eric'));
    expect((await whoIs({ cookie: session, ...bearer(eric) })).json).toMatchObject({ user: 'eric' });
    expectRefused(await whoIs({ cookie: session, ...bearer('garbage') }));
    // The last character of a signature has only four bits of it: A and B are the same.
    const changed = session.replace(/.$/, (last) => (last === 'A' ? 'Z' : 'A'));
    expectRefused(await whoIs(cookie(changed)));
  });

  test('a wrong password shows the form again, and logs nobody in', async () => {
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
  test.each(nexts)('no way out of the site by next=%j', async (next) => {
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

  describe('a form of another page logs nobody in or out', () => {
    const browsers: [string, (own: string) => Headers][] = [
      ['a browser without the cookie', () => ({})],
      ['a browser with a cookie of its own', (own) => cookie(own)],
      ['a browser with a cookie that is none', () => cookie('apps_login=x')],
    ];
    test.each(browsers)('the token of a form opened elsewhere, in %s', async (_name, headers) => {
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
    test.each(origins)('%j: %s', async (headers, taken) => {
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
      expect([out.status, new URL(String(out.headers.location)).pathname]).toEqual([303, '/site/about']);
      // With no session there is nothing to ask.
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
