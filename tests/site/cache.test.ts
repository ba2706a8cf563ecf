import { beforeAll, describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';
import { grantRole } from '../support/seed';
import { siteThemes } from '../support/theme';

interface Seen {
  stamp: string;
  user: string | null;
  query: object;
  agent: string | null;
  parentAgent: string | null;
  parent: string | null;
  content: string;
}

describe('renderings that anonymous visitors share', () => {
  const stage = useStage({ themesDirectory: siteThemes, env: { IS_PROXIED: 'true' } });
  beforeAll(async () => {
    for (const role of ['Public', 'readers']) await grantRole(stage.host, role, ['api::page.page.find']);
    await stage.host.run(async (strapi) => {
      for (const slug of ['one', 'two']) {
        const tiles = [{ __component: 'tiles.block' as const, block: 'cached/blocks/shared' }];
        await strapi.documents('api::page.page').create({ data: { title: slug, slug, tiles } });
      }
    });
  });

  const get = (address: string, as = 'anonymous', headers: Record<string, string> = {}) =>
    stage.send({ accept: 'text/html', as, headers, send: `GET ${address}` });
  const shown = (text: string) =>
    JSON.parse(/<p class="shared">(.*?)<\/p>/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? 'null') as Seen;
  const seen = async (address: string, as?: string, headers?: Record<string, string>) =>
    shown((await get(address, as, headers)).text);

  const block = '/site/@@apps/cached/blocks/shared';

  test('are the same for some time, with a token for each answer', async () => {
    const [one, two] = [await get(block), await get(block)];
    expect(shown(two.text).stamp).toBe(shown(one.text).stamp);
    const token = ({ text }: { text: string }) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1];
    expect(token(one)).toMatch(/^[0-9a-z]+\.[\w-]{12}\.[\w-]{43}$/);
    expect(token(two)).not.toBe(token(one));
    expect(two.headers['cache-control']).toBe('private, no-store');
    const posted = await stage.send({
      accept: 'text/html',
      send: `POST ${block}`,
      csrf: false,
      form: { _csrf: token(two) ?? '' },
    });
    expect(posted.status).toBe(200);
    await expect.poll(async () => (await seen(block)).stamp).not.toBe(shown(one.text).stamp);
  });

  test('show nothing of the visitor for whom they were made', async () => {
    const made = await seen(`${block}?own=1`, 'anonymous', { 'user-agent': 'first visitor', 'x-secret': 'mine' });
    expect(made).toMatchObject({ user: null, query: { own: '1' }, agent: null });
    expect(await seen(`${block}?own=1`, 'anonymous', { 'user-agent': 'second visitor' })).toEqual(made);
    const embedded = await seen('/site/one', 'anonymous', { 'user-agent': 'first visitor' });
    expect(embedded).toMatchObject({ agent: null, parentAgent: null, parent: '/site/one', content: '/one' });
  });

  test.each([
    ['another query', `${block}?other=1`],
    ['another content item', '/site/two/@@apps/cached/blocks/shared'],
    ['a page', '/site/one'],
    ['another page', '/site/two'],
    ['the same page with a query', '/site/two?page=2'],
  ])('are others for %s', async (_, address) => {
    expect((await seen(address)).stamp).not.toBe((await seen(block)).stamp);
  });

  test.each(['rita', 'mona', 'readToken'])('are not for %s', async (who) => {
    const shared = await seen(block);
    const own = await seen(block, who);
    expect(own.stamp).not.toBe(shared.stamp);
    expect(own.user).toBe(who === 'readToken' ? null : who);
    expect((await seen(block, who)).stamp).not.toBe(own.stamp);
    expect((await seen(block)).user).toBeNull();
  });

  test('are not kept if logic did more than show something', async () => {
    const address = '/site/@@apps/cached/blocks/header';
    const [one, two] = [await get(address), await get(address)];
    expect([one.headers['x-app-once'], two.headers['x-app-once']]).toEqual(['1', '1']);
    expect(two.text).not.toBe(one.text);
  });

  test('do not disclose guarded blocks', async () => {
    const address = '/site/@@apps/cached/blocks/guarded';
    expect((await get(address, 'eric')).status).toBe(200);
    expect((await get(address)).status).toBe(401);
    expect((await get(address, 'rita')).status).toBe(403);
  });

  describe('waiting for changes', () => {
    test.each([
      ['without tokens', '', 400],
      ['with what is no token', '?t=record:1', 400],
      ['with too many', `?t=${Array(301).fill('a'.repeat(20)).join(',')}`, 400],
    ])('a request %s is refused', async (_, query, status) => {
      expect((await get(`/site/@@apps.live${query}`)).status).toBe(status);
    });
  });

  test('one client keeps a share of the live connections, not all', async () => {
    const url = `${stage.host.url}/site/@@apps.live?t=${'a'.repeat(20)}`;
    const abort = new AbortController();
    try {
      const all = await Promise.all(Array.from({ length: 201 }, () => fetch(url, { signal: abort.signal })));
      const refused = all.filter(({ status }) => status !== 200);
      expect(refused.map(({ status }) => status)).toEqual([429]);
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
      const other = await fetch(url, { signal: abort.signal, headers: { 'x-forwarded-for': '203.0.113.5' } });
      expect(other.status).toBe(200);
    } finally {
      abort.abort();
    }
    // Closed connections no longer count.
    const later = () => fetch(url, { signal: AbortSignal.timeout(5_000) }).then(({ status }) => status);
    await expect.poll(later).toBe(200);
  });
});
