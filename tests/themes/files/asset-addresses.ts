import { describe, expect, test } from 'vitest';
import { html, type Row, type Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import type { ThemeCopy } from '../../support/theme';
import { within } from '../../support/time';

/** Bytes of a file that is too large for a version. */
const LARGE = 2 * 1024 * 1024 + 1;

/** A page that shows the addresses of public files, one a line. */
export async function writeAddresses(themes: ThemeCopy): Promise<void> {
  const names = ['a b.css', 'film.txt', 'none.css', '../blocks/page.html', '@@apps.js', '@@apps.css', '@@login'];
  const lines = names.map((name) => `{{ "${name}" | asset_url }}`);
  await themes.write('main/apps/addresses/blocks/page.html', `<pre>${lines.join('\n')}\n</pre>`);
  await themes.write('main/apps/addresses/assets/a b.css', '0123456789');
  await themes.write('main/apps/addresses/assets/film.txt', 'x'.repeat(LARGE));
}

const immutable = 'public, max-age=31536000, immutable';
const revalidated = 'public, max-age=0, must-revalidate';
const caching = (value: string, more: Row['answers'] = {}) => ({
  answers: { 'cache-control': value, 'x-content-type-options': 'nosniff', ...more },
});

/** Addresses that name the version of a file's content. */
export function assetAddresses(stage: Stage, themes: ThemeCopy): void {
  const shown = async () => {
    const { text } = await stage.send({ send: 'GET addresses/blocks/page', accept: html });
    const urls = /<pre>([\s\S]*)\n<\/pre>/.exec(text)?.[1]?.split('\n') ?? [];
    return urls.map((url) => url.replace(stage.host.url, ''));
  };
  const at = '/site/@@theme/main/apps/addresses/assets';

  describe('the filter asset_url', () => {
    test('gives addresses with the version of the content', async () => {
      const version = '\\?v=[\\w-]{22}';
      expect(await shown()).toEqual([
        expect.stringMatching(new RegExp(`^${at}/a%20b.css${version}$`)),
        `${at}/film.txt`,
        `${at}/none.css`,
        `${at}/../blocks/page.html`,
        expect.stringMatching(new RegExp(`^/site/@@apps.js${version}$`)),
        expect.stringMatching(new RegExp(`^/site/@@apps.css${version}$`)),
        '/site/@@login',
      ]);
    });

    test('gives the address of the browser script that bare pages have', async () => {
      const { text } = await stage.send({ send: 'GET addresses/blocks/page', accept: html });
      const script = /<script src="([^"]*)" defer>/.exec(text)?.[1];
      expect((await shown())[4]).toBe(script?.replace(stage.host.url, ''));
    });
  });

  describe.each([
    ['a public file', 0],
    ['the browser script', 4],
    ['the style sheet', 5],
  ])('%s', (_what, index) => {
    const ask = async (query: (current: string) => string, more: object = {}) => {
      const current = (await shown())[index] ?? '';
      return stage.send({ send: `GET ${current.split('?')[0]}${query(current)}`, accept: '*/*', ...more });
    };
    const current = (address: string) => address.slice(address.indexOf('?'));

    test.each<[string, (address: string) => string, string]>([
      ['the current version is cached for ever', current, immutable],
      ['an address without a version is not', () => '', revalidated],
      ['nor is another version', () => '?v=AAAAAAAAAAAAAAAAAAAAAA', revalidated],
      ['nor is an empty version', () => '?v=', revalidated],
      ['other parameters do not matter', (address) => `${current(address)}&x=1`, immutable],
    ])('%s', async (_title, query, header) => {
      const [whole, answer] = [await ask(() => ''), await ask(query)];
      expect([answer.status, answer.text]).toEqual([200, whole.text]);
      expect(answer.headers).toMatchObject({ 'cache-control': header, 'content-type': whole.headers['content-type'] });
    });

    test('is 304 with its ETag, and 206 for a part', async () => {
      const { text, headers } = await ask(current);
      const tag = String(headers.etag);
      const known = await ask(current, { headers: { 'if-none-match': tag } });
      expect([known.status, known.headers['cache-control']]).toEqual([304, immutable]);
      const part = await ask(current, { headers: { range: 'bytes=2-4', 'if-range': tag } });
      expect([part.status, part.text]).toEqual([206, text.slice(2, 5)]);
      expect(part.headers).toMatchObject({ 'content-range': `bytes 2-4/${text.length}`, 'content-length': '3' });
    });
  });

  describe('a file without a version', () => {
    runTable(stage, [
      {
        title: 'too large to have one',
        send: `GET ${at}/film.txt?v=AAAAAAAAAAAAAAAAAAAAAA`,
        status: 200,
        ...caching(revalidated, { 'content-length': String(LARGE) }),
      },
      { title: 'that does not exist', send: `GET ${at}/none.css?v=AAAAAAAAAAAAAAAAAAAAAA`, status: 404 },
    ]);
  });

  test('a changed file has a new address, and is answered at the old one', async () => {
    const [old = ''] = await shown();
    await themes.write('main/apps/addresses/assets/a b.css', '9876543210');
    const [renewed = ''] = await within(2_000, shown, ([url]) => url !== old);
    expect(renewed).not.toBe(old);
    for (const [url, header] of [
      [old, revalidated],
      [renewed, immutable],
    ]) {
      const { status, text, headers } = await stage.send({ send: `GET ${url}`, accept: '*/*' });
      expect([status, text, headers['cache-control']]).toEqual([200, '9876543210', header]);
    }
  });
}

/** The plugin's own files in the content codings of a request. */
export function contentCodings(stage: Stage): void {
  describe.each(['@@apps.js', '@@apps.css'])('the coding of %s', (name) => {
    const ask = (headers: Record<string, string>) => fetch(`${stage.host.url}/site/${name}`, { headers });

    test.each<[string, Record<string, string>, string | null]>([
      ['a browser gets Brotli', { 'accept-encoding': 'gzip, deflate, br' }, 'br'],
      ['an older client gets gzip', { 'accept-encoding': 'gzip' }, 'gzip'],
      ['a refused coding is not used', { 'accept-encoding': 'br;q=0, gzip' }, 'gzip'],
      ['without a coding, nothing is compressed', { 'accept-encoding': 'identity' }, null],
    ])('%s', async (_title, headers, coding) => {
      const [plain, answer] = await Promise.all([ask({ 'accept-encoding': 'identity' }), ask(headers)]);
      expect(answer.headers.get('content-encoding')).toBe(coding);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      const [text, size] = [await answer.text(), Number(answer.headers.get('content-length'))];
      expect(text).toBe(await plain.text());
      if (coding) expect(size).toBeLessThan(text.length / 2);
      else expect(size).toBe(Buffer.byteLength(text));
    });

    test('each coding has an ETag of its own', async () => {
      const tagOf = async (coding: string) => String((await ask({ 'accept-encoding': coding })).headers.get('etag'));
      const [br, gzip, plain] = [await tagOf('br'), await tagOf('gzip'), await tagOf('identity')];
      expect(new Set([br, gzip, plain]).size).toBe(3);
      const same = await ask({ 'accept-encoding': 'br', 'if-none-match': br });
      const other = await ask({ 'accept-encoding': 'gzip', 'if-none-match': br });
      expect([same.status, other.status]).toEqual([304, 200]);
    });

    test('a part is a part of the plain file', async () => {
      const answer = await ask({ 'accept-encoding': 'br', range: 'bytes=0-3' });
      expect([answer.status, answer.headers.get('content-encoding')]).toEqual([206, null]);
      expect((await answer.text()).length).toBe(4);
    });
  });
}
