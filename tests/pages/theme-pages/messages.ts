import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { useThemes } from '../../support/hooks';
import { locationOf } from '../../support/send';
import { html, type RowRequest, type Stage } from '../../support/stage';
import { layout, rules } from './apps';

const settings = "acl:\n  rights:\n    submitter: ['*']\n    reader: ['*']\n";
const logic = `export function stay({ flash }) { flash('<b>Stayed</b> & "well"'); flash('Twice'); }
export function home({ flash, portal, request }) { flash(request.get('text', 'Home')); return portal.url + '/'; }
export function fails({ flash }) { flash('never'); throw new Error('no'); }
export function many({ flash }) { for (let n = 0; n < 6; n += 1) flash('x'); }
export function empty({ flash }) { flash(' '); }
export function validate({ flash, invalid, request }) { if (request.get('name') === 'wrong') { flash('never'); invalid('name', 'Wrong'); } }
export function on_save({ flash, record }) { if (record.name === 'own') flash({ message: 'My words' }); }
`;
const actions = ['stay', 'home', 'fails', 'many', 'empty'];

/** The app that says something to its visitors. */
export const messageFiles: Record<string, string> = {
  'said/settings.yaml': `with_theme: true\n${settings}`,
  'said/blocks/note.html': `{name} {_save} ${actions.map((name) => `{${name}}`).join(' ')}`,
  'said/blocks/note.yaml': `elements:\n  name: TEXT\n${actions.map((name) => `  ${name}: ACTION\n`).join('')}`,
  'said/blocks/note.js': logic,
  'said/blocks/snake.html': '{_save}',
  'said/blocks/snake.py': "def on_save(context):\n    context.flash('Ssaved')\n    context.flash(message='Twice')\n",
  'silent/settings.yaml': "acl: { rights: { submitter: ['*'] } }\n",
  'silent/blocks/note.html': '{name} {_save}',
  'silent/blocks/note.yaml': 'elements: { name: TEXT }\n',
};

const shown = (text: string) => /<div class="apps-flash" role="status">(.*?)<\/div>/.exec(text)?.[1];

export function messagesForVisitors(stage: Stage, themes: ReturnType<typeof useThemes>): void {
  describe('messages for the visitor', () => {
    // The block that the rule puts into every page has a token, so that no cache keeps any of them.
    beforeAll(() => themes.write('main/rules.yaml', '[]\n'));
    afterAll(() => themes.write('main/rules.yaml', rules));

    const page = (send: string, more: Partial<RowRequest> = {}) => stage.send({ accept: html, send, ...more });
    const post = (block: string, form: Record<string, string>, more: Partial<RowRequest> = {}) =>
      page(`POST ${block}`, { form, ...more });
    /** The cookie of an answer; '' if it sets none, or deletes it. */
    const cookieOf = (headers: { 'set-cookie'?: string[] }) =>
      (headers['set-cookie'] ?? [])
        .filter((one) => one.startsWith('apps_flash='))
        .at(-1)
        ?.split(';')[0] ?? '';
    const said = async (block: string, form: Record<string, string>) => {
      const answer = await post(block, form);
      expect(answer.status, answer.text).toBe(303);
      return { cookie: cookieOf(answer.headers), path: locationOf(answer).pathname + locationOf(answer).search };
    };

    test('a saved record thanks and leads on, once', async () => {
      const { cookie, path } = await said('said/blocks/note', { name: 'x', _save: '' });
      expect(cookie).toMatch(/^apps_flash=[\w.-]+$/);
      const first = await page(`GET ${path}`, { headers: { cookie } });
      expect(shown(first.text)).toBe(
        '<p>What you sent has been saved. <a href="/site/@@apps/said/blocks/note">Continue</a></p>',
      );
      expect(first.text).toMatch(/<form name="note"[^>]*><div class="apps-flash"/);
      expect(first.headers['set-cookie']?.join()).toMatch(
        /apps_flash=; Max-Age=0; Path=\/site; HttpOnly; SameSite=Lax/,
      );
      expect(first.headers['cache-control']).toBe('private, no-store');
      expect(shown((await page(`GET ${path}`)).text)).toBeUndefined();
    });

    test('logic says something else, in both languages', async () => {
      const own = await said('said/blocks/note', { name: 'own', _save: '' });
      expect(shown((await page(`GET ${own.path}`, { headers: { cookie: own.cookie } })).text)).toMatch(
        /^<p>My words <a/,
      );
      const python = await said('said/blocks/snake', { _save: '' });
      expect(shown((await page(`GET ${python.path}`, { headers: { cookie: python.cookie } })).text)).toMatch(
        /^<p>Ssaved<\/p><p>Twice <a href="\/site\/@@apps\/said\/blocks\/snake">/,
      );
    });

    test('who may not read the record is thanked, and led on', async () => {
      const { cookie, path } = await said('silent/blocks/note', { name: 'x', _save: '' });
      const { text } = await page(`GET ${path}`, { headers: { cookie } });
      expect(text).toMatch(
        /<h1>Thank you<\/h1>\n<div class="apps-flash" role="status"><p>What you sent has been saved. <a/,
      );
      expect(text.match(/has been saved/g)).toHaveLength(1);
      expect((await page(`GET ${path}`)).text).toContain('<p role="status">What you sent has been saved.</p>');
    });

    test('a page without a redirect shows them at once, escaped; a part of a page too', async () => {
      const text = '<p>&lt;b&gt;Stayed&lt;/b&gt; &amp; &quot;well&quot;</p><p>Twice</p>';
      const answer = await post('said/blocks/note', { 'action.stay': '' });
      expect([shown(answer.text), cookieOf(answer.headers)]).toEqual([text, '']);
      const part = await post(
        'said/blocks/note',
        { 'action.stay': '' },
        { headers: { 'x-requested-with': 'XMLHttpRequest' } },
      );
      expect(part.text).toMatch(/^<form name="note"[^>]*><div class="apps-flash"/);
    });

    test('no link and no other cookie puts words into a page', async () => {
      const { cookie } = await said('said/blocks/note', { 'action.home': '', text: 'Hello' });
      const [, packed = '', end = '', mac = ''] = /=([^.]+)\.([^.]+)\.(.+)$/.exec(cookie) ?? [];
      const other = (await said('said/blocks/note', { 'action.home': '', text: 'Other' })).cookie;
      const theirs = /=([^.]+)/.exec(other)?.[1];
      for (const value of [
        '',
        'x',
        `${packed}.${end}`,
        `${theirs}.${end}.${mac}`,
        `${packed}.zzzzzzzz.${mac}`,
        `${'A'.repeat(4000)}.${end}.${mac}`,
      ]) {
        const { status, text } = await page('GET said/blocks/note', { headers: { cookie: `apps_flash=${value}` } });
        expect([status, shown(text)]).toEqual([200, undefined]);
      }
      expect(shown((await page('GET said/blocks/note?flash=Hello&saved')).text)).toBeUndefined();
      expect(shown((await page('GET said/blocks/note', { headers: { cookie } })).text)).toBe('<p>Hello</p>');
    });

    test('a request that fails or is refused says nothing, and JSON has none', async () => {
      for (const [form, status] of [
        [{ 'action.fails': '' }, 500],
        [{ 'action.many': '' }, 500],
        [{ 'action.empty': '' }, 500],
        [{ 'action.home': '', text: 'x'.repeat(301) }, 500],
        [{ name: 'wrong', _save: '' }, 422],
      ] as const) {
        const answer = await post('said/blocks/note', form);
        expect([answer.status, shown(answer.text), cookieOf(answer.headers)]).toEqual([status, undefined, '']);
      }
      const json = await stage.send({ send: 'POST said/blocks/note', json: { name: 'x', _save: '' } });
      expect([json.status, cookieOf(json.headers)]).toEqual([201, '']);
    });

    test('HEAD, a prefetch and a page without a place leave them for the next page', async () => {
      const { cookie, path } = await said('said/blocks/note', { 'action.home': '' });
      expect(path).toBe('/site/');
      const home = await page(`GET ${path}`, { headers: { cookie } });
      expect([shown(home.text), home.headers['set-cookie'], home.headers['cache-control']]).toEqual([
        undefined,
        undefined,
        'public, no-cache',
      ]);
      await page('HEAD said/blocks/note', { headers: { cookie } });
      const early = await page('GET said/blocks/note', { headers: { cookie, 'sec-purpose': 'prefetch' } });
      expect([shown(early.text), early.headers['set-cookie']]).toEqual([undefined, undefined]);
      expect(shown((await page('GET said/blocks/note', { headers: { cookie } })).text)).toBe('<p>Home</p>');
    });

    test("the theme's own place shows them in every page, and no cache keeps such a page", async () => {
      await themes.write('main/layout.html', layout.replace('<nav>', '<header>{% flash %}</header><nav>'));
      try {
        const { cookie, path } = await said('said/blocks/note', { 'action.home': '' });
        const plain = await page(`GET ${path}`);
        expect(plain.text).toContain('<header></header>');
        const tag = String(plain.headers.etag);
        const home = await page(`GET ${path}`, { headers: { cookie, 'if-none-match': tag } });
        expect([home.status, home.headers['cache-control']]).toEqual([200, 'private, no-store']);
        expect(home.text).toContain('<header><div class="apps-flash" role="status"><p>Home</p></div></header>');
        expect((await page(`GET ${path}`, { headers: { 'if-none-match': tag } })).status).toBe(304);
        const saved = await said('said/blocks/note', { name: 'x', _save: '' });
        const { text } = await page(`GET ${saved.path}`, { headers: { cookie: saved.cookie } });
        expect(text).toMatch(/<header><div class="apps-flash"/);
        expect(text.match(/apps-flash/g)).toHaveLength(1);
        expect((await page('GET /site/none', { headers: { cookie } })).status).toBe(404);
      } finally {
        await themes.write('main/layout.html', layout);
      }
    });
  });
}
