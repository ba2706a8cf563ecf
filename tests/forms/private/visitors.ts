import { afterAll, describe, expect, test, vi } from 'vitest';
import { hiddenField } from '../../support/login';
import { html, type RowRequest } from '../../support/stage';
import { formBody, type Part, pdf, png } from '../files/send';
import { attach, type Items, type PrivateTools } from './tools';

/** Records and files of visitors without a login, who own by their cookie. */
export function visitors({ stage, post, kept }: PrivateTools): void {
  describe('of a visitor without a login', () => {
    /** A browser: it keeps its cookies, and the token of its page. */
    const visitor = async (app = 'mine') => {
      const first = await stage.send({ send: `GET ${app}/blocks/apply`, accept: html });
      const cookie = (first.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
      const headers = { cookie, 'x-csrf-token': await stage.csrf('anonymous') };
      const send = <T = object>(line: string, more: Partial<RowRequest> = {}) =>
        stage.send<T>({ send: line, ...more, headers: { ...headers, ...more.headers } });
      const save = async (parts: Part[]) => {
        const body = formBody([...parts, { name: '_save', content: '1' }]);
        const answer = await send<{ id: string }>(`POST ${app}/blocks/apply`, {
          body,
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        });
        expect(answer.status, answer.text).toBe(201);
        return answer.json.id;
      };
      return { cookie, send, save };
    };

    afterAll(async () => {
      await stage.send({ as: 'mona', send: 'DELETE mine/records' });
      await vi.waitFor(async () => expect(await kept()).toEqual([]));
    });

    test('belong to the cookie: lists, searches, counts, pages, forms and files know it', async () => {
      const [ann, bob] = [await visitor(), await visitor()];
      expect(ann.cookie).toMatch(/^apps_visitor=/);
      const [mine, other] = [
        await ann.save([{ name: 'name', content: 'Ann' }, attach]),
        await bob.save([{ name: 'name', content: 'Bob' }, attach]),
      ];
      const { json: items } = await ann.send<Items>(`GET mine/record/${mine}`);
      expect(items.cv.url).toContain('/mine/files/');
      const at = (url: string) => url.replace(stage.host.url, '');
      expect((await ann.send(`GET ${at(items.cv.url)}`, { accept: '*/*' })).bytes.equals(pdf)).toBe(true);
      for (const who of [bob, await visitor()])
        for (const path of [at(items.cv.url), `mine/record/${mine}`])
          expect((await who.send(`GET ${path}`, { accept: '*/*' })).status).toBe(404);
      const foreign: Record<string, string>[] = [
        { cookie: `${ann.cookie}x` },
        { cookie: '' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      ];
      for (const headers of foreign)
        expect((await ann.send(`GET ${at(items.cv.url)}`, { accept: '*/*', headers })).status).toBe(404);
      const ids = async (who: typeof ann, line: string) =>
        (await who.send<{ id: string }[]>(line)).json.map(({ id }) => id);
      expect([await ids(ann, 'GET mine/records'), await ids(bob, 'GET mine/records')]).toEqual([[mine], [other]]);
      expect(await ids(ann, 'GET mine/search?query=')).toEqual([mine]);
      expect((await ann.send('GET mine/records.csv')).text).not.toContain('Bob');
      for (const [who, name] of [
        [ann, 'Ann'],
        [bob, 'Bob'],
        [ann, 'Ann'],
      ] as const) {
        const page = await who.send('GET mine/blocks/own', { accept: html });
        expect(page.text).toContain(`[${name}] 1 of 2`);
      }
      expect((await (await visitor()).send('GET mine/blocks/own', { accept: html })).text).toContain('[] 0 of 2');
      expect((await bob.send(`PATCH mine/record/${mine}`, { json: { name: 'x' } })).status).toBe(404);
      expect((await ann.send(`PATCH mine/record/${mine}`, { json: { name: 'Anna' } })).status).toBe(200);
      expect((await ann.send('GET mine/blocks/own', { accept: html })).text).toContain('[Anna] 1 of 2');
      const form = await ann.send(`POST mine/record/${mine}`, {
        body: formBody([
          { name: 'name', content: 'Ann' },
          { name: 'photo', file: 'me.png', content: png },
          { name: '_save', content: '1' },
        ]),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        accept: html,
      });
      expect([form.status, (await stage.items('mine', mine))?.photo]).toEqual([
        303,
        expect.objectContaining({ name: 'me.png' }),
      ]);
      expect((await bob.send(`DELETE mine/record/${mine}`)).status).toBe(404);
      expect((await ann.send(`DELETE mine/record/${mine}`)).status).toBe(200);
      expect(await ids(bob, 'GET mine/records')).toEqual([other]);
    });

    test('are not changed by a page that hides where it is, over plain http', async () => {
      const hidden = { origin: 'null', 'x-csrf-token': '' };
      const tokenIn = (text: string) => hiddenField(text, '_csrf');
      const ann = await visitor();
      const id = await ann.save([{ name: 'name', content: 'Ann' }, attach]);
      const change = async (token: string) => {
        const form = { name: 'Changed', _csrf: token, _save: '1' };
        return ann.send(`POST mine/record/${id}`, { accept: html, form, headers: hidden });
      };
      // A token that the page has fetched for itself: the form is shown again, with one of the visitor.
      const refused = await change(await stage.csrf('anonymous'));
      expect([refused.status, (await stage.items('mine', id))?.name]).toEqual([403, 'Ann']);
      expect((await change(tokenIn(refused.text))).status).toBe(303);
      expect((await stage.items('mine', id))?.name).toBe('Changed');
      // The page with which the cookie begins has a token of this visitor already.
      const first = await stage.send({ send: 'GET mine/blocks/apply', accept: html });
      const cookie = String(first.headers['set-cookie']?.[0]).split(';')[0] ?? '';
      const form = { name: 'First', _csrf: tokenIn(first.text), _save: '1' };
      const sent = { accept: html, form, headers: { ...hidden, cookie } };
      expect((await stage.send({ send: 'POST mine/blocks/apply', csrf: false, ...sent })).status).toBe(303);
    });

    test('belong to no visitor without `visitor: true`, and to none without a cookie', async () => {
      const { send } = await visitor('cv');
      expect((await send('GET cv/records')).status).toBe(401);
      const without = await post('anonymous', [attach], 'mine/blocks/apply');
      expect(without.status).toBe(201);
      expect((await stage.send({ send: 'GET mine/records' })).status).toBe(401);
      expect((await stage.send({ send: `GET mine/record/${without.json.id}` })).status).toBe(401);
    });
  });
}
