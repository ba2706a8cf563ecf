import { describe, expect, test } from 'vitest';
import type { Answer } from '../../support/send';
import { html, type Stage } from '../../support/stage';

/** Visitors without a login, and what guards the forms with which they save. */
export function visitorsOfApps(stage: Stage): void {
  const show = (block = 'vote', headers: Record<string, string> = {}, app = 'visitors', as = 'anonymous') =>
    stage.send({ as, send: `GET ${app}/blocks/${block}`, accept: html, headers });
  const save = (block: string, form: Record<string, string>, headers: Record<string, string> = {}, as = 'anonymous') =>
    stage.send({ as, send: `POST visitors/blocks/${block}`, accept: html, headers, form: { ...form, _save: '' } });
  const cookieIn = ({ headers }: Answer) =>
    (headers['set-cookie'] ?? []).find((one) => one.startsWith('apps_visitor='));
  const sentBack = (answer: Answer) => ({ cookie: cookieIn(answer)?.split(';')[0] ?? '' });
  const whoIn = ({ text }: Answer) => /data-who="([^"]*)"/.exec(text)?.[1];
  const field = ({ text }: Answer, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

  describe('context.visitor', () => {
    test('has an id from the first page on, in a signed cookie that scripts cannot read', async () => {
      const first = await show();
      expect(cookieIn(first)).toMatch(
        /^apps_visitor=[\w-]{22}\.[\w-]{43}; Max-Age=\d+; Path=\/site; HttpOnly; SameSite=Lax$/,
      );
      expect(first.headers['cache-control']).toBe('private, no-store');
      const id = whoIn(first);
      expect(id).toMatch(/^[\w-]{22}$/);
      expect(first.text).toContain(`>${id}</p>`);
      const again = await show('vote', sentBack(first));
      expect([whoIn(again), cookieIn(again)]).toEqual([id, undefined]);
      const call = await stage.send({ send: 'GET visitors/blocks/snake/who', headers: sentBack(first) });
      expect(call.json).toBe(id);
    });

    test('is another one for each visitor, and nobody without a cookie', async () => {
      expect(whoIn(await show())).not.toBe(whoIn(await show()));
      const { json, headers } = await stage.send({ send: 'GET visitors/blocks/vote/who' });
      expect([json, headers['set-cookie']]).toEqual(['nobody', undefined]);
    });

    test('lets each visitor vote once', async () => {
      const headers = sentBack(await show());
      const vote = await save('vote', { choice: 'red' }, headers);
      expect(vote.status).toBe(303);
      expect((await show('vote', headers)).text).toContain('value="red"');
      expect((await show()).text).not.toContain('value="red"');
    });

    test.each([
      ['without a signature', (value: string) => value.split('.')[0]],
      ['with another id', (value: string) => `${'A'.repeat(22)}.${value.split('.')[1]}`],
      ['that is none', () => 'x'],
    ])('ignores a cookie %s', async (_name, forge) => {
      const genuine = await show();
      const [name, value = ''] = sentBack(genuine).cookie.split('=');
      const forged = await show('vote', { cookie: `${name}=${forge(value)}` });
      expect(whoIn(forged)).not.toBe(whoIn(genuine));
      expect(whoIn(forged)).not.toBe('A'.repeat(22));
      expect(cookieIn(forged)).toBeDefined();
    });

    test('ignores the cookie of a page of another origin', async () => {
      const headers = { ...sentBack(await show()), 'sec-fetch-site': 'same-site' };
      expect(whoIn(await show('vote', headers))).toBe('nobody');
    });

    test('does not differ in a shared rendering, which each visitor gets with a cookie of their own', async () => {
      const [first, second] = [await show('shared'), await show('shared')];
      expect([whoIn(first), whoIn(second)]).toEqual(['nobody', 'nobody']);
      expect(cookieIn(first)).toBeDefined();
      expect(cookieIn(second)).not.toBe(cookieIn(first));
      expect(field(second, '_shown')).toMatch(/^[0-9a-z]+\.[\w-]{43}$/);
    });

    test('is null, without a cookie, where the app does not ask for it', async () => {
      const page = await show('contact', {}, 'mails');
      expect([page.status, cookieIn(page)]).toEqual([200, undefined]);
    });
  });

  describe('a form with which anonymous saves', () => {
    const refused = (answer: Answer, message: RegExp) => {
      expect(answer.status).toBe(422);
      expect(answer.text).toMatch(message);
      expect(answer.text).toContain('value="kept"');
    };

    test('is refused, with what was entered, when its trap is filled in', async () => {
      const answer = await save('shared', { name: 'kept', _website: 'http://spam.example' });
      refused(answer, /role="alert"[^>]*><p>This looks like an automatic message/);
      const json = await stage.send({
        send: 'POST visitors/blocks/shared',
        form: { name: 'kept', _website: 'x', _save: '' },
      });
      expect(json).toMatchObject({ status: 422, json: { error: { details: { errors: [{ path: [] }] } } } });
    });

    test('is refused when it was shown just now, and taken later', async () => {
      const page = await show('shared');
      const hidden = { _shown: field(page, '_shown'), _website: '' };
      const browser = { 'sec-fetch-site': 'same-origin' };
      refused(await save('shared', { name: 'kept', ...hidden }, browser), /faster than a person/);
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      expect((await save('shared', { name: 'later', ...hidden }, browser)).status).toBe(303);
    });

    test('is taken at once from a client that is no browser, and sends the hidden fields back', async () => {
      const page = await show('shared');
      const hidden = { _shown: field(page, '_shown'), _website: '' };
      expect((await save('shared', { name: 'copied', ...hidden })).status).toBe(303);
    });

    test.each([
      ['without the fields', {}, {}],
      ['with a forged mark', { _shown: 'abc.def' }, {}],
      ['of another block', { _shown: 'vote' }, {}],
      ['that the browser says a person has sent', { _shown: 'shared' }, { 'sec-fetch-user': '?1' }],
    ])('is taken %s', async (_name, given: { _shown?: string }, headers) => {
      const isBlock = given._shown === 'vote' || given._shown === 'shared';
      const mark = isBlock ? { _shown: field(await show(given._shown), '_shown') } : given;
      expect((await save('shared', { name: 'x', ...mark }, headers)).status).toBe(303);
    });

    test('has none of this for those who are logged in', async () => {
      expect((await show('vote', {}, 'visitors', 'una')).text).not.toMatch(/_shown|_website/);
      expect((await save('shared', { name: 'x', _website: 'x' }, {}, 'una')).status).toBe(303);
    });

    test('hides its fields from people and from logic', async () => {
      const { text } = await show('shared');
      expect(text).toMatch(
        /<div hidden><label>[^<]*<input type="text" name="_website" tabindex="-1" autocomplete="off">/,
      );
      const seen = await stage.send({ send: 'GET visitors/blocks/snake/seen?_website=x&_shown=y&a=b' });
      expect(seen.json).toEqual(['a']);
    });

    test('is refused when one address sends it too often, by any process', async () => {
      await stage.host.run(async (strapi) => {
        await strapi.db.connection('apps_form_posts').update({ posts: 200 });
      });
      const answer = await save('shared', { name: 'x' });
      expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
      expect((await save('shared', { name: 'x' }, {}, 'una')).status).toBe(303);
      const json = await stage.send({ send: 'POST visitors', json: { name: 'x' } });
      expect(json.status).toBe(201);
    });
  });
}
