import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Host, startHost } from './support/host';
import { adminToken, apiToken, createUser, grantRole, userToken } from './support/seed';

interface Answer {
  data?: Record<string, unknown> | Record<string, unknown>[];
  username?: string;
}

const get = async (host: Host, path: string, token?: string) => {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined;
  const response = await fetch(host.url + path, { headers });
  return { status: response.status, body: (await response.json()) as Answer };
};

const counts = (host: Host) =>
  host.run(async (strapi) => ({
    administrators: await strapi.db.query('admin::user').count(),
    users: await strapi.db.query('plugin::users-permissions.user').count(),
    articles: await strapi.db.query('api::article.article').count(),
    pages: await strapi.db.query('api::page.page').count(),
    publicReads: await strapi.db
      .query('plugin::users-permissions.permission')
      .count({ where: { action: { $startsWith: 'api::' } } }),
  }));

describe('without the demo', () => {
  let host: Host;
  beforeAll(async () => {
    host = await startHost();
  });
  afterAll(() => host?.stop());

  test('nothing is made and nothing is granted', async () => {
    expect(await counts(host)).toEqual({ administrators: 0, users: 0, articles: 0, pages: 0, publicReads: 0 });
    expect((await get(host, '/api/articles')).status).toBe(403);
  });

  test('SQLite keeps a write-ahead log', async () => {
    const [row] = await host.run((strapi) => strapi.db.connection.raw('pragma journal_mode'));
    expect(row).toEqual({ journal_mode: 'wal' });
  });

  test('articles have drafts and a private field, pages have neither', async () => {
    await grantRole(host, 'Public', ['api::article.article.find', 'api::page.page.find']);
    await host.run(async (strapi) => {
      const article = (slug: string) => ({ title: slug, slug, secret: 'hush', tiles: [] });
      await strapi.documents('api::article.article').create({ data: article('shown'), status: 'published' });
      await strapi.documents('api::article.article').create({ data: article('draft') });
      await strapi.documents('api::page.page').create({ data: { title: 'About', slug: 'about' } });
    });
    const { body } = await get(host, '/api/articles');
    expect(body.data).toMatchObject([{ slug: 'shown' }]);
    expect(JSON.stringify(body)).not.toContain('hush');
    expect((await get(host, '/api/pages')).body.data).toMatchObject([{ slug: 'about' }]);
  });

  test('users, tokens and administrators made by the helpers are let in', async () => {
    await grantRole(host, 'members', ['plugin::users-permissions.user.me', 'api::page.page.find']);
    const user = await createUser(host, { username: 'una', role: 'members' });
    expect((await get(host, '/api/users/me', await userToken(host, user))).body).toMatchObject({ username: 'una' });
    const token = await apiToken(host, { name: 'reader', type: 'read-only' });
    expect((await get(host, '/api/articles', token)).status).toBe(200);
    const { status, body } = await get(host, '/admin/users/me', await adminToken(host));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ email: 'root@example.com' });
  });
});

describe('with the demo', () => {
  const first = { APPS_DEMO: 'true' };

  test('the first start makes it and prints who can log in, the second does nothing', async () => {
    const host = await startHost({ env: first });
    try {
      const made = await counts(host);
      expect(made).toMatchObject({ administrators: 1, users: 5 });
      expect(made.articles).toBeGreaterThan(2);
      const password = /mona +(\S+) +manager/.exec(host.output())?.[1];
      const login = await fetch(`${host.url}/api/auth/local`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier: 'mona', password }),
      });
      expect(login.status).toBe(200);
      expect((await get(host, '/api/articles')).status).toBe(200);
      for (const [, url = '', what] of host.output().matchAll(/^ {2}(http\S+) {2}\((.+)\)$/gm)) {
        if (what === 'the admin panel') continue;
        expect(url.startsWith(`${host.url}/site/`), url).toBe(true);
        expect([url, (await fetch(url)).status]).toEqual([
          url,
          /for (readers and )?editors$/.test(what ?? '') ? 401 : 200,
        ]);
      }

      const again = await startHost({ env: first, database: host.database });
      try {
        expect(await counts(again)).toEqual(made);
        expect(again.output()).not.toContain('passwords');
      } finally {
        await again.stop();
      }
    } finally {
      await host.stop();
    }
  });
});
