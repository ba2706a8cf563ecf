import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';
import { cookieOf, logIn } from '../support/login';
import { createUser, userToken } from '../support/seed';
import { basic, bearer, credentialHeaders, type Headers, send } from '../support/send';
import { bearerWithoutToken } from './csrf/bearer';
import { tokensInOtherProcesses } from './csrf/other-processes';

const kinds = [
  'anonymous',
  'una by bearer',
  'una by Basic',
  'una by cookie',
  'eric by bearer',
  'token',
  'administrator',
] as const;
type Kind = (typeof kinds)[number];

const headers = {} as Record<Kind, Headers>;
const tokens = {} as Record<Kind, string>;

async function tokenOf(who: Headers, url = stage.host.url): Promise<string> {
  const answer = await send(url, { method: 'GET', path: '/site/@@apps/open', headers: who });
  return String(answer.headers['x-csrf-token']);
}

/** A request that everyone may make with a valid token. */
const ask = (who: Headers, token?: string, url = stage.host.url) =>
  send<{ error?: { name: string } }>(url, {
    method: 'POST',
    path: '/site/@@apps/open/search',
    headers: { accept: 'application/json', ...who, ...(token === undefined ? {} : { 'x-csrf-token': token }) },
    json: {},
  });

// Behind a proxy, so that tests may come from other addresses.
const stage = useStage({ env: { IS_PROXIED: 'true' } });
beforeAll(async () => {
  const una = await stage.user('una');
  const of = async (who: string) => credentialHeaders(await stage.credential(who));
  headers.anonymous = {};
  headers['una by bearer'] = bearer(await userToken(stage.host, una));
  headers['una by Basic'] = basic(`una.${una.password}`);
  headers['una by cookie'] = { cookie: cookieOf(await logIn(stage.host.url, { name: 'una', password: una.password })) };
  headers['eric by bearer'] = await of('eric');
  headers.token = await of('fullToken');
  headers.administrator = await of('root');
  for (const kind of kinds) tokens[kind] = await tokenOf(headers[kind]);
});

describe('a token is valid only for its own identity and kind of credential', () => {
  const pairs = kinds.flatMap((whose) => kinds.map((who) => [whose, who] as const));
  test.each(pairs)('the token of %s, used by %s', async (whose, who) => {
    const { status, json } = await ask(headers[who], tokens[whose]);
    expect([status, json?.error?.name]).toEqual(whose === who ? [200, undefined] : [403, 'CsrfError']);
  });

  const broken: [string, (good: string) => string | undefined][] = [
    ['no token', () => undefined],
    ['an empty token', () => ''],
    ['garbage', () => 'garbage'],
    ['a random one', () => randomBytes(32).toString('base64url')],
    ['a cut one', (good) => good.slice(0, -1)],
    ['a longer one', (good) => `${good}A`],
    ['one with another end', (good) => good.slice(0, -4) + (good.endsWith('AAAA') ? 'BBBB' : 'AAAA')],
    ['one with another beginning', (good) => (good.startsWith('1') ? '2' : '1') + good.slice(1)],
    ['two in one', (good) => `${good}, ${good}`],
    ['an endless one', () => 'x'.repeat(8_000)],
  ];
  test.each(broken)('%s', async (_name, change) => {
    for (const kind of ['anonymous', 'una by Basic'] as const) {
      const { status, json } = await ask(headers[kind], change(tokens[kind]));
      expect([status, json.error?.name]).toEqual([403, 'CsrfError']);
    }
  });

  test('the field of a form is no token of a JSON request', async () => {
    const { status } = await send(stage.host.url, {
      method: 'POST',
      path: `/site/@@apps/open/search?_csrf=${encodeURIComponent(tokens.anonymous)}`,
      headers: { accept: 'application/json' },
      json: {},
    });
    expect(status).toBe(403);
  });

  test('a valid token may be used again', async () => {
    for (let time = 0; time < 3; time += 1) expect((await ask({}, tokens.anonymous)).status).toBe(200);
  });

  test('an invalid credential is 401 with every token', async () => {
    expect((await ask({ authorization: 'Bearer garbage' }, tokens.anonymous)).status).toBe(401);
  });
});

bearerWithoutToken(stage, headers);
tokensInOtherProcesses(stage, { headers, tokens, tokenOf, ask });

// Last in the file: afterwards, logins from this address are refused for a while.
describe('failed logins are rate-limited', () => {
  const from = (address: string, name: string, password: string) =>
    send<{ error?: { name: string } }>(stage.host.url, {
      method: 'GET',
      path: '/site/@@apps/open',
      headers: {
        accept: 'application/json',
        'x-forwarded-for': address,
        ...basic(`${name}:${password}`),
      },
    });
  /** Guesses until a guess is refused by the limit; returns the number of guesses before. */
  const guesses = async (name: string, addressOf: (guess: number) => string): Promise<number> => {
    for (let guess = 0; guess < 200; guess += 1) {
      const { status, headers } = await from(addressOf(guess), name, `guess-${guess}`);
      if (status === 401) continue;
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      return guess;
    }
    throw new Error('Nothing was refused');
  };

  test('a guesser does not lock the owner out of form and Basic', async () => {
    const { password } = await createUser(stage.host, { username: 'owner', role: 'readers' });
    expect(await guesses('owner', () => '203.0.113.1')).toBe(10);
    expect((await from('203.0.113.1', 'owner', password)).status).toBe(429);
    expect((await from('203.0.113.2', 'owner', password)).status).toBe(200);
    const headers = { 'x-forwarded-for': '203.0.113.3' };
    expect((await logIn(stage.host.url, { name: 'owner', password }, { headers })).status).toBe(303);
  });

  test('many guessers together do not lock the owner out of an address where they have logged in', async () => {
    const { password } = await createUser(stage.host, { username: 'known', role: 'readers' });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const login = () => logIn(stage.host.url, { name: 'known', password }, { headers });
    expect((await login()).status).toBe(303);
    expect(await guesses('known', (guess) => `198.51.100.${guess}`)).toBe(100);
    expect((await from('203.0.113.10', 'known', password)).status).toBe(429);
    expect((await login()).status).toBe(303);
  });

  test('the addresses of one IPv6 network are one guesser', async () => {
    await createUser(stage.host, { username: 'sixth', role: 'readers' });
    expect(await guesses('sixth', (guess) => `2001:db8:5:6::${(guess + 1).toString(16)}`)).toBe(10);
  });

  test('logins of one account are limited by Basic and by the form, even with the right password', async () => {
    const user = await createUser(stage.host, { username: 'target', role: 'readers' });
    const attempt = (password: string) =>
      send<{ error: { name: string } }>(stage.host.url, {
        method: 'GET',
        path: '/site/@@apps/open',
        headers: {
          accept: 'application/json',
          ...basic(`target:${password}`),
        },
      });
    let answer = await attempt('wrong-0');
    for (let time = 1; time < 60 && answer.status === 401; time += 1) answer = await attempt(`wrong-${time}`);
    expect([answer.status, answer.json.error.name]).toEqual([429, 'RateLimitError']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await attempt(user.password)).status).toBe(429);
    expect((await logIn(stage.host.url, { name: 'target', password: user.password })).status).toBe(429);
    // Others go on.
    expect((await ask(headers['una by Basic'], tokens['una by Basic'])).status).toBe(200);
  });

  test('logins of one address are limited over many accounts', async () => {
    let status = 401;
    for (let time = 0; time < 200 && status === 401; time += 1) {
      ({ status } = await send(stage.host.url, {
        method: 'GET',
        path: '/site/@@apps/open',
        headers: basic(`guess${time}:password`),
      }));
    }
    expect(status).toBe(429);
    expect((await ask({}, tokens.anonymous)).status).toBe(200);
  });
});
