import { describe, expect, test } from 'vitest';
import { configured } from '../../support/configure';
import type { Host } from '../../support/host';
import { logIn } from '../../support/login';
import { type Answer, type Headers, send } from '../../support/send';
import { type Stage, startTwin } from '../../support/stage';

const HOUR = 3_600_000;

const later = (milliseconds: number) => configured({ clockAhead: milliseconds });

type Lasting = 'anonymous' | 'una by Basic';

interface Tokens {
  /** What the requesters send to be known. */
  headers: Record<Lasting, Headers>;
  /** Their tokens, which the stage's host has signed. */
  tokens: Record<Lasting, string>;
  tokenOf(who: Headers, url?: string): Promise<string>;
  /** A request that everyone may make with a valid token. */
  ask(who: Headers, token?: string, url?: string): Promise<Answer<{ error?: { name: string } }>>;
}

export function tokensInOtherProcesses(stage: Stage, { headers, tokens, tokenOf, ask }: Tokens): void {
  /** Another process on the same database, for `work`. */
  async function withTwin<T>(env: Record<string, string>, work: (host: Host) => Promise<T>): Promise<T> {
    const twin = await startTwin(stage, { env });
    try {
      return await work(twin);
    } finally {
      await twin.stop();
    }
  }

  describe('other processes', () => {
    const lasting = ['anonymous', 'una by Basic'] as const;

    test('any process verifies a token of its age limit, and of any of its keys; its own is of the first', async () => {
      const keys = await stage.host.run((strapi) => strapi.config.get('server.app.keys') as string[]);
      const env = { ...later(23 * HOUR), APP_KEYS: ['new-key', ...keys].join(',') };
      await withTwin(env, async ({ url }) => {
        for (const kind of lasting) expect((await ask(headers[kind], tokens[kind], url)).status).toBe(200);
        expect((await ask({}, await tokenOf({}, url))).status).toBe(403);
      });
    });

    test('a token that is older than 24 hours is refused', async () => {
      await withTwin(later(25 * HOUR), async ({ url }) => {
        for (const kind of lasting) {
          const { status, json } = await ask(headers[kind], tokens[kind], url);
          expect([status, json.error?.name]).toEqual([403, 'CsrfError']);
          expect((await ask(headers[kind], await tokenOf(headers[kind], url), url)).status).toBe(200);
        }
      });
    });

    test('at a public https address, cookies are Secure and paths are public; tokens of another key are refused', async () => {
      const env = { PUBLIC_URL: 'https://public.example', APP_KEYS: 'only-a-new-key' };
      await withTwin(env, async (twin) => {
        const port = await twin.run((strapi) => (strapi.server.httpServer.address() as { port: number }).port);
        const url = `http://127.0.0.1:${port}`;
        expect((await ask({}, tokens.anonymous, url)).status).toBe(403);
        const { password } = await stage.user('una');
        const login = await logIn(url, { name: 'una', password });
        expect(login.status).toBe(303);
        expect(login.headers['set-cookie']?.join()).toMatch(/; ?Secure/i);
        expect(String(login.headers.location)).toMatch(/^https:\/\/public\.example\/site/);
        const made = await send<{ path: string }>(url, {
          method: 'POST',
          path: '/site/@@apps/open',
          headers: { accept: 'application/json', 'x-csrf-token': await tokenOf({}, url) },
          json: {},
        });
        expect(made.json.path).toMatch(/^https:\/\/public\.example\/site\/@@apps\/open\/record\/\d+$/);
      });
    });

    test('at a public address with a path, cookies belong to that path', async () => {
      await withTwin({ PUBLIC_URL: 'https://public.example/below/' }, async (twin) => {
        const port = await twin.run((strapi) => (strapi.server.httpServer.address() as { port: number }).port);
        const url = `http://127.0.0.1:${port}`;
        const page = { accept: 'text/html' };
        const refused = await send(url, { method: 'GET', path: '/site/@@apps/rights/record/x?a=1', headers: page });
        expect(refused.status).toBe(401);
        const next = encodeURIComponent('/below/site/@@apps/rights/record/x?a=1');
        expect(refused.text).toContain(`href="https://public.example/below/site/@@login?next=${next}"`);
        const login = await send(url, { method: 'GET', path: `/site/@@login?next=${next}`, headers: page });
        expect(login.text).toContain('name="next" value="/below/site/@@apps/rights/record/x?a=1"');
        const went = await send(url, {
          method: 'POST',
          path: '/site/@@apps/debug/blocks/talk',
          headers: { ...page, 'x-csrf-token': await tokenOf({}, url) },
          form: { 'action.go': '' },
        });
        expect(went.headers['set-cookie']?.join()).toMatch(/apps_log=.+; Path=\/below\/site;.*; Secure/);
      });
    });
  });
}
