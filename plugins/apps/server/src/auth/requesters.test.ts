import { describe, expect, test } from 'vitest';
import { type CredentialContext, createRequesters, type Requesters } from './requesters';
import type { Roles, UserRow } from './rights/roles';
import { countersInMemory } from './testing/counters';

const JWT = 'user.j.wt';
const ADMIN_JWT = 'admin.j.wt';

const role = {
  name: 'Editors',
  type: 'editors',
  permissions: [{ action: 'plugin::apps.record.find' }],
  nameIsGroup: false,
};
const eric = {
  id: 1,
  documentId: 'eric1',
  username: 'eric',
  email: 'eric@example.com',
  password: 'hash of pw',
  provider: 'local',
  confirmed: true,
  blocked: false,
  role,
};
const admin = {
  id: 9,
  email: 'admin@example.com',
  firstname: null,
  lastname: null,
  roles: [{ code: 'strapi-super-admin' }],
};

/** The part of Strapi that identification uses; `users` are the rows of the users table. */
function make(users: object[] = [eric], config: Record<string, unknown> = {}): Requesters {
  const byFirst = (where: object) =>
    users.find((user) => Object.entries(where).every(([key, value]) => user[key as never] === value));
  const tables: Record<string, object> = {
    'plugin::users-permissions.user': {
      findOne: async ({ where }: { where: object }) => byFirst(where) ?? null,
      findMany: async () => users,
    },
    'plugin::apps.password-change': { findOne: async () => null },
  };
  const roles: Roles = {
    ofType: async (type) => (type === 'public' ? { name: 'Public', type, permissions: [] } : null),
    named: async (name) => (name === role.name ? role : null),
    all: async () => ['Public'],
    ofUser: async (key) => (byFirst(key) as UserRow | undefined) ?? null,
  };
  const services: Record<string, object> = {
    user: { validatePassword: async (password: string, hash: string) => hash === `hash of ${password}` },
    jwt: {
      async verify(token: string) {
        if (token === 'database.is.down') throw new Error('connection refused');
        if (token !== JWT) throw new Error('Invalid token.');
        return { id: 1 };
      },
    },
  };
  const session = {
    generateRefreshToken: async () => ({ sessionId: 'open' }),
    revokeSessionById: async () => true,
  };
  const known: Record<string, object> = {
    'content-api Bearer apitoken': {
      strategy: { name: 'content-api-token' },
      credentials: { id: 4, name: 'ci', type: 'read-only' },
    },
    [`admin Bearer ${ADMIN_JWT}`]: { strategy: { name: 'admin' }, credentials: admin, ability: { can: () => false } },
  };
  const auth = {
    async authenticate(ctx: { request: { header: { authorization: string } }; state: Record<string, unknown> }) {
      const { info } = ctx.state.route as { info: { type: string } };
      const found = known[`${info.type} ${ctx.request.header.authorization}`];
      if (found) Object.assign(ctx.state, { auth: found, user: info.type === 'admin' ? admin : undefined });
    },
  };
  const settings: Record<string, unknown> = { 'server.app.keys': ['key'], ...config };
  const strapi = {
    config: { get: (key: string, fallback?: unknown) => settings[key] ?? fallback },
    db: { query: (uid: string) => tables[uid], inTransaction: () => false },
    plugin: () => ({ service: (name: string) => services[name] }),
    contentType: () => ({}),
    sessionManager: () => session,
    store: () => ({ get: async () => null }),
    get: () => auth,
  };
  return createRequesters({
    stored: countersInMemory(Date.now),
    strapi: strapi as never,
    config: { csrf: { maxAge: 1000 }, trustedOrigins: [] },
    run: async () => [],
    roles,
    isSessionActive: async (_origin, id) => id === 'open',
    readTokenRows: async () => '',
  });
}

const ask = (authorization?: string, cookies: Record<string, string> = {}, secure = false): CredentialContext => ({
  request: { headers: authorization === undefined ? {} : { authorization } },
  ip: '1.1.1.1',
  secure,
  cookies: { get: (name) => cookies[name] },
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the requester of a request', () => {
  test.each([
    ['nothing', undefined, { kind: 'anonymous', credential: 'anonymous', identity: '', groups: ['Public'] }],
    ['Basic with a dot', basic('eric.pw'), { credential: 'basic', identity: 'user:eric1', groups: ['Editors'] }],
    ['Basic with a colon', basic('eric:pw'), { credential: 'basic', identity: 'user:eric1' }],
    ['a scheme in another case', basic('eric:pw').replace('Basic', 'bAsIc'), { identity: 'user:eric1' }],
    ['a JWT', `Bearer ${JWT}`, { kind: 'user', credential: 'bearer', identity: 'user:eric1', username: 'eric' }],
    ['an API token', 'Bearer apitoken', { kind: 'token', credential: 'bearer', identity: 'token:4', isManager: false }],
    ['an administrator', `Bearer ${ADMIN_JWT}`, { kind: 'administrator', identity: 'admin:9', isManager: true }],
  ])('%s', async (_name, header, expected) => {
    expect(await make().identify(ask(header))).toMatchObject(expected);
  });

  test.each([
    ['an empty header', ''],
    ['a scheme alone', 'Basic'],
    ['an unknown scheme', 'Digest username="eric"'],
    ['a name of Object', 'constructor x'],
    ['a wrong password', basic('eric:no')],
    ['Basic that is not Base64', 'Basic ***'],
    ['garbage', 'Bearer garbage'],
    ['two tokens', `Bearer ${JWT} ${JWT}`],
    ['a forged JWT', 'Bearer x.y.z'],
  ])('is never anonymous with %s', async (_name, header) => {
    await expect(make().identify(ask(header))).rejects.toMatchObject({ name: 'UnauthorizedError', status: 401 });
  });

  test.each([
    ['blocked', { ...eric, blocked: true }],
    ['without a role', { ...eric, role: null }],
    ['in the role of the public', { ...eric, role: { ...eric.role, name: 'Public', type: 'public' } }],
  ])('refuses a user who is %s, by every credential', async (_name, user) => {
    const { cookie } = await make().login(ask(), 'eric', 'pw');
    const session = { apps_session: cookie.split(/[=;]/)[1] ?? '' };
    for (const asking of [ask(basic('eric:pw')), ask(`Bearer ${JWT}`), ask(undefined, session)]) {
      await expect(make([user]).identify(asking)).rejects.toMatchObject({ status: 401 });
    }
  });

  test('a failure of the database is no wrong token', async () => {
    await expect(make().identify(ask('Bearer database.is.down'))).rejects.toThrow('connection refused');
  });
});

describe('cookies', () => {
  test('name who logged in, unless there is a header', async () => {
    const requesters = make();
    const { cookie, requester } = await requesters.login(ask(), 'eric', 'pw');
    const session = { apps_session: cookie.split(/[=;]/)[1] ?? '' };
    expect(requester).toMatchObject({ credential: 'cookie', identity: 'user:eric1' });
    expect(await requesters.identify(ask(undefined, session))).toMatchObject({
      credential: 'cookie',
      identity: 'user:eric1',
    });
    expect(await requesters.identify(ask('Bearer apitoken', session))).toMatchObject({ identity: 'token:4' });
    await expect(requesters.identify(ask('Bearer garbage', session))).rejects.toMatchObject({ status: 401 });
  });

  test('are deleted when they are refused', async () => {
    const refused = make().identify(ask(undefined, { apps_session: 'forged' }));
    await expect(refused).rejects.toMatchObject({
      status: 401,
      headers: { 'Set-Cookie': expect.stringMatching(/^apps_session=;.*Max-Age=0/) },
    });
  });

  test.each([
    ['Secure on https', {}, true, true],
    ['Secure behind a proxy, by the public URL', { 'server.url': 'https://example.com' }, false, true],
    ['not Secure on http', { 'server.url': 'http://example.com' }, false, false],
  ])('are %s', async (_name, config, secure, expected) => {
    const { cookie } = await make([eric], config).login(ask(undefined, {}, secure), 'eric', 'pw');
    expect(cookie.includes('; Secure')).toBe(expected);
  });

  test('of the admin panel name an administrator; stale ones are ignored', async () => {
    expect(await make().identify(ask(undefined, { jwtToken: ADMIN_JWT }))).toMatchObject({
      credential: 'cookie',
      identity: 'admin:9',
    });
    expect(await make().identify(ask(undefined, { jwtToken: 'x.y.z' }))).toMatchObject({ kind: 'anonymous' });
  });

  test.each([
    ['eric', 'no'],
    ['nobody', 'pw'],
  ])('are not given to %s with %s', async (identifier, password) => {
    await expect(make().login(ask(), identifier, password)).rejects.toMatchObject({ name: 'UnauthorizedError' });
  });
});

describe("requests of Strapi's own", () => {
  test.each([
    ['nobody', {}, { kind: 'anonymous' }],
    [
      'a user',
      { auth: { strategy: { name: 'users-permissions' }, credentials: { id: 1 } } },
      { identity: 'user:eric1' },
    ],
    ['the public', { auth: { strategy: { name: 'users-permissions' }, credentials: null } }, { kind: 'anonymous' }],
    [
      'an administrator',
      { auth: { strategy: { name: 'admin' }, credentials: admin, ability: { can: () => false } } },
      { identity: 'admin:9' },
    ],
  ])('act for %s', async (_name, state, expected) => {
    expect(await make().fromStrapi(state)).toMatchObject(expected);
  });

  test('are refused with an unknown strategy', async () => {
    const auth = { strategy: { name: 'other' }, credentials: {} };
    await expect(make().fromStrapi({ auth })).rejects.toMatchObject({ status: 401 });
  });
});

describe('auth of users and anonymous', () => {
  const verify = (auth: unknown, scope?: string): Promise<void> =>
    (auth as { strategy: { verify(auth: unknown, config: object): Promise<void> } }).strategy.verify(auth, { scope });

  test('grants what the role grants', async () => {
    const { auth } = await make().identify(ask(basic('eric:pw')));
    await expect(verify(auth, 'plugin::apps.record.find')).resolves.toBeUndefined();
    await expect(verify(auth)).resolves.toBeUndefined();
    await expect(verify(auth, 'api::article.article.find')).rejects.toMatchObject({ status: 403 });
  });

  test('grants nothing to a Public role without permissions', async () => {
    const { auth } = await make().anonymous();
    await expect(verify(auth, 'api::article.article.find')).rejects.toMatchObject({ status: 401 });
    await expect(verify(auth)).rejects.toMatchObject({ status: 401 });
  });

  test('anonymous in roles has their groups and permissions, and nothing of roles that do not exist', async () => {
    const requester = await make().anonymousIn(['Editors', 'Editor', 'Public']);
    expect(requester).toMatchObject({
      kind: 'anonymous',
      credential: 'anonymous',
      identity: '',
      username: null,
      profile: null,
      groups: ['Public', 'Editors'],
      isManager: false,
    });
    expect(requester.can('plugin::apps.record.find')).toBe(true);
    expect(requester.can('plugin::apps.record.create')).toBe(false);
    await expect(verify(requester.auth, 'plugin::apps.record.find')).resolves.toBeUndefined();
    await expect(verify(requester.auth, 'api::article.article.find')).rejects.toMatchObject({ status: 401 });
  });
});
