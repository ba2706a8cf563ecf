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

    const out = await send(stage.host.url, {
      method: 'GET',
      path: '/site/@@logout',
      headers: { accept: 'text/html', ...session },
    });
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
});
