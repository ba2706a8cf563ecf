import { stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { useHost } from '../support/hooks';
import type { Host } from '../support/host';
import { adminToken, apiToken, countsOf, createUser, grantRole, userToken } from '../support/seed';
import { bearer } from '../support/send';

interface Answer {
  data?: Record<string, unknown> | Record<string, unknown>[];
  username?: string;
}

const get = async (host: Host, path: string, token?: string) => {
  const headers = token ? bearer(token) : undefined;
  const response = await fetch(host.url + path, { headers });
  return { status: response.status, body: (await response.json()) as Answer };
};

describe('without the demo', () => {
  const host = useHost();

  test('a host without the demo makes nothing and grants nothing', async () => {
    expect(await countsOf(host)).toMatchObject({
      administrators: 0,
      users: 0,
      articles: 0,
      pages: 0,
      publicReads: 0,
    });
    expect((await get(host, '/api/articles')).status).toBe(403);
  });

  test('SQLite keeps a write-ahead log', async () => {
    const [row] = await host.run((strapi) => strapi.db.connection.raw('pragma journal_mode'));
    expect(row).toEqual({ journal_mode: 'wal' });
  });

  test('only the user of the server can read the files of SQLite', async () => {
    for (const name of [host.database, `${host.database}-wal`, `${host.database}-shm`])
      expect([name, ((await stat(name)).mode & 0o777).toString(8)]).toEqual([name, '600']);
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

  test('users, tokens and administrators made by the helpers can log in', async () => {
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
