import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useFolder, useStage, useThemes } from '../support/hooks';
import { logIn } from '../support/login';
import { type Message, send } from '../support/send';
import { timeForMore } from '../support/time';
import { hasProgram } from './monitoring/prometheus';
import { startNginx } from './proxy/nginx';

/** The site behind nginx with the repository's own file (docs/operate/deployment.md). */
describe.skipIf(!hasProgram('nginx'))('a site behind nginx', () => {
  const themes = useThemes(async (copy) => {
    const app = 'main/apps/live';
    await copy.write(`${app}/settings.yaml`, "acl:\n  rights:\n    author: ['*']\n    reader: ['*']\n");
    await copy.write(`${app}/blocks/total.yaml`, 'refresh: on-change\nelements: { total: BASIC }\n');
    await copy.write(`${app}/blocks/total.html`, '<b>{total}</b>');
    await copy.write(`${app}/blocks/total.js`, 'export const total = ({ app }) => String(app.count());');
  });
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: { IS_PROXIED: 'true' } }));
  const folder = useFolder('nginx');
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  beforeAll(async () => {
    nginx = await startNginx(folder(), stage.host.url);
  });
  afterAll(() => nginx?.stop());

  const site = { host: 'www.example.com' };
  const ask = <T = unknown>(message: Message) =>
    send<T>(nginx.secure, { ...message, headers: { ...site, ...message.headers } });

  test('HTTP leads to the same address over HTTPS', async () => {
    const { status, headers } = await send(nginx.plain, {
      method: 'POST',
      path: '/site/@@apps/open?a=%2F',
      headers: site,
    });
    expect([status, headers.location]).toEqual([308, 'https://www.example.com/site/@@apps/open?a=%2F']);
  });

  test('an address comes as it was sent', async () => {
    await stage.put('open', 'a b', { n: 1 });
    for (const [address, status] of [
      ['/site/@@apps/open/record/a%20b', 200],
      ['/site/%40%40apps/open/record/a%20b', null],
      ['/site/@@apps/open/record/a%2Fb', null],
      ['/site/@@apps/open//record/a%20b', null],
      ['/site/@@apps/open/x/../record/a%20b', null],
      ['//site/@@apps/open', null],
      ['/site/@@apps/open/record/%FF', 400],
    ] as const) {
      const message = { method: 'GET', path: address, headers: { ...site, accept: 'application/json' } };
      const [direct, proxied] = [await send(stage.host.url, message), await ask(message)];
      expect([proxied.status, proxied.text], address).toEqual([direct.status, direct.text]);
      if (status !== null) expect(proxied.status, address).toBe(status);
    }
  });

  test('a login over HTTPS sets a secure cookie, whatever the client says it has used', async () => {
    const { username, password } = await stage.user('una');
    const claimed = { ...site, 'x-forwarded-proto': 'http' };
    const answer = await logIn(nginx.secure, { name: username, password }, { headers: claimed });
    expect(answer.status).toBe(303);
    expect(String(answer.headers['set-cookie'])).toMatch(/; secure/i);
  });

  test('a guesser of passwords is stopped, whatever addresses the client says it has come by', async () => {
    const guess = (attempt: number) =>
      ask({
        method: 'GET',
        path: '/site/@@apps/open',
        as: { basic: ['anna', 'guess'] },
        headers: { 'x-forwarded-for': `203.0.113.${attempt}`, accept: 'application/json' },
      });
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 11; attempt += 1) statuses.push((await guess(attempt)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  test('each request has the id of nginx, none of the client', async () => {
    const given = 'chosen-by-the-client';
    const { headers, text } = await ask({
      method: 'GET',
      path: '/site/none',
      headers: { 'x-request-id': given, accept: 'text/html' },
    });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(text).toContain(`<code>${headers['x-request-id']}</code>`);
    expect(text).not.toContain(given);
  });

  test('a body of more than a megabyte comes through, and one that is too large is refused by the plugin', async () => {
    const headers = { accept: 'application/json', 'x-csrf-token': await stage.csrf('anonymous') };
    const lines = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(1_000) }));
    const many = await ask({
      method: 'POST',
      path: '/site/@@apps/open/records',
      body: lines.join('\n'),
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
    });
    expect(many.status, many.text).toBe(201);
    const json = { text: 'x'.repeat(2_000_000) };
    const large = await ask<{ error?: object }>({ method: 'POST', path: '/site/@@apps/open', headers, json });
    expect([large.status, large.json?.error]).toMatchObject([413, { name: 'PayloadTooLargeError' }]);
  });

  test('changes come to an open page at once', async () => {
    const page = await ask({ method: 'GET', path: '/site/@@apps/live/blocks/total', headers: { accept: 'text/html' } });
    const settings = /data-apps-settings='([^']+)'/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '{}';
    const { live, since } = JSON.parse(settings) as { live: string[]; since: string };
    const opened = request(`${nginx.secure}/site/@@apps.live?t=${live.join()}&since=${since}`, {
      headers: site,
      rejectUnauthorized: false,
    }).end();
    const [stream] = (await once(opened, 'response')) as [IncomingMessage];
    let text = '';
    stream.setEncoding('utf8').on('data', (piece) => {
      text += piece;
    });
    try {
      await expect.poll(() => text).toContain('event: alive');
      await timeForMore();
      expect(text).not.toContain('event: change');
      await stage.put('live', 'one');
      await expect.poll(() => text).toContain('event: change');
    } finally {
      opened.destroy();
    }
  });

  test('readiness is for this machine', async () => {
    expect((await ask({ method: 'GET', path: '/_apps/ready' })).status).toBe(200);
  });
});
