import { beforeAll, describe, expect, test } from 'vitest';
import { useHost } from '../support/hooks';
import { logIn } from '../support/login';
import { adminToken, createUser } from '../support/seed';

/** docs/operate/production.md: logins in production, over plain HTTP and behind a proxy that ends HTTPS. */
const host = useHost({ env: { NODE_ENV: 'production', IS_PROXIED: 'true' } });
const https = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };

beforeAll(async () => {
  await createUser(host, { username: 'anna' });
  await adminToken(host);
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(host.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('the login of users-permissions, which keeps its refresh token in a cookie,', () => {
  const login = (headers?: Record<string, string>) =>
    post('/api/auth/local', { identifier: 'anna', password: 'Secret-anna-1' }, headers);

  test('over plain HTTP is 500, and the log says why', async () => {
    expect((await login()).status).toBe(500);
    expect(await host.printed()).toContain('Cannot send secure cookie over unencrypted connection');
  });

  test('behind a proxy that ends HTTPS sets a secure cookie', async () => {
    const answer = await login(https);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(/; secure/i);
  });
});

test('the login of the admin panel sets a secure cookie over HTTPS, one that is not over plain HTTP', async () => {
  const account = { email: 'root@example.com', password: 'Root-Secret-1' };
  const cookieOf = async (headers: Record<string, string>) => {
    const answer = await post('/admin/login', account, headers);
    expect(answer.status).toBe(200);
    return String(answer.headers.get('set-cookie'));
  };
  expect(await cookieOf(https)).toMatch(/; secure/i);
  expect(await cookieOf({})).not.toMatch(/; secure/i);
});

test('the login form of a site works over both, with a secure cookie over HTTPS', async () => {
  const account = { name: 'anna', password: 'Secret-anna-1' };
  expect(String((await logIn(host.url, account)).headers['set-cookie'])).not.toMatch(/; secure/i);
  expect(String((await logIn(host.url, account, { headers: https })).headers['set-cookie'])).toMatch(/; secure/i);
});
