import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grantRole } from './support/seed';
import { openStage, type Stage } from './support/stage';

const themesDirectory = path.resolve(__dirname, 'fixtures', 'site-themes');

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
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ themesDirectory, env: { IS_PROXIED: 'true' } });
    for (const role of ['Public', 'readers']) await grantRole(stage.host, role, ['api::page.page.find']);
    await stage.host.run(async (strapi) => {
      for (const slug of ['one', 'two']) {
        const tiles = [{ __component: 'tiles.block' as const, block: 'cached/blocks/shared' }];
        await strapi.documents('api::page.page').create({ data: { title: slug, slug, tiles } });
      }
    });
  });
  afterAll(() => stage?.close());

  const get = (address: string, as = 'nobody', headers: Record<string, string> = {}) =>
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
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await seen(block)).stamp).not.toBe(shown(one.text).stamp);
  });

  test('show nothing of the visitor for whom they were made', async () => {
    const made = await seen(`${block}?own=1`, 'nobody', { 'user-agent': 'first visitor', 'x-secret': 'mine' });
    expect(made).toMatchObject({ user: null, query: { own: '1' }, agent: null });
    expect(await seen(`${block}?own=1`, 'nobody', { 'user-agent': 'second visitor' })).toEqual(made);
    const embedded = await seen('/site/one', 'nobody', { 'user-agent': 'first visitor' });
    expect(embedded).toMatchObject({ agent: null, parentAgent: null, parent: '/site/one', content: '/one' });
  });

  test.each([
    ['another query', `${block}?other=1`],
    ['another content item', '/site/two/@@apps/cached/blocks/shared'],
    ['in a page', '/site/one'],
    ['in another page', '/site/two'],
    ['in the same page with a query', '/site/two?page=2'],
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

  test('are not kept where logic did more than show something', async () => {
    const address = '/site/@@apps/cached/blocks/header';
    const [one, two] = [await get(address), await get(address)];
    expect([one.headers['x-app-once'], two.headers['x-app-once']]).toEqual(['1', '1']);
    expect(two.text).not.toBe(one.text);
  });

  test('do not open what is guarded', async () => {
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
    ])('%s', async (_, query, status) => {
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
    // Those that have gone leave their share.
    const later = () => fetch(url, { signal: AbortSignal.timeout(5_000) }).then(({ status }) => status);
    await expect.poll(later, { timeout: 5_000 }).toBe(200);
  });
});
