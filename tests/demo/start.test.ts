import { beforeAll, describe, expect, test } from 'vitest';
import { useHost } from '../support/hooks';
import { startHost } from '../support/host';
import { countsOf } from '../support/seed';
import { printedPasswords, visitor } from './apps/visitor';

describe('two starts with the demo', () => {
  const env = { APPS_DEMO: 'true' };
  const first = useHost({ env });
  let made: Awaited<ReturnType<typeof countsOf>>;
  beforeAll(async () => {
    made = await countsOf(first);
  });
  const second = useHost(() => ({ env, database: first.database }));

  test('the first start prints names, passwords and addresses that work', async () => {
    expect(Object.keys(printedPasswords(first)).sort()).toEqual([
      'admin@example.com',
      'anna',
      'eric',
      'mona',
      'rita',
      'sam',
    ]);
    for (const name of ['rita', 'sam', 'anna', 'eric', 'mona']) {
      expect((await visitor(first, 'glossary', name).get()).status, name).toBe(200);
    }
    expect((await visitor(first, 'glossary', 'nobody').get()).status).toBe(401);
    const addresses = first.output().match(/http:\S+@@apps\S+/g) ?? [];
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) expect([200, 401], address).toContain((await fetch(address)).status);
  });

  test('the first start makes content and users, and prints the purpose of each address', async () => {
    expect(made).toMatchObject({ administrators: 1, users: 5 });
    expect(made.articles).toBeGreaterThan(2);
    const password = /mona +(\S+) +manager/.exec(first.output())?.[1];
    const login = await fetch(`${first.url}/api/auth/local`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: 'mona', password }),
    });
    expect(login.status).toBe(200);
    expect((await fetch(`${first.url}/api/articles`)).status).toBe(200);
    for (const [, url = '', what] of first.output().matchAll(/^ {2}(http\S+) {2}\((.+)\)$/gm)) {
      if (what === 'the admin panel') continue;
      expect(url.startsWith(`${first.url}/site/`), url).toBe(true);
      expect([url, (await fetch(url)).status]).toEqual([
        url,
        /for (readers and )?editors$/.test(what ?? '') ? 401 : 200,
      ]);
    }
  });

  test('the second start makes nothing and prints no passwords', async () => {
    expect(await countsOf(second)).toEqual(made);
    expect(printedPasswords(second)).toEqual({});
    expect(second.output()).not.toContain('passwords');
  });
});

test.each([
  ['APPS_DEMO=false', { APPS_DEMO: 'false', NODE_ENV: 'development' }],
  ['production without APPS_DEMO=true', { APPS_DEMO: '', NODE_ENV: 'production' }],
])('a start with %s makes nothing and grants nothing', async (_, env) => {
  const host = await startHost({ env });
  try {
    expect(await countsOf(host)).toMatchObject({ administrators: 0, users: 0, roles: 2, articles: 0, pages: 0 });
    expect(printedPasswords(host)).toEqual({});
    expect((await fetch(`${host.url}/api/articles`)).status).toBe(403);
    expect((await fetch(`${host.url}/site/articles/welcome/@@apps/rating`)).status).toBe(404);
  } finally {
    await host.stop();
  }
});
