import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { createUser } from '../support/seed';
import { type Answer, basic, locationOf, send } from '../support/send';
import { fixtureThemes } from '../support/theme';

/**
 * All operations of docs/reference/json-interface.md, by a client that uses nothing else: Basic authorization joined
 * by a dot, one token, an app in a theme made for Rapido (its folder is called `rapido`).
 */
const apps = {
  appsFolder: 'rapido',
  sites: [{ id: 'site', title: 'Plone', theme: 'classic' }],
  themesDirectory: fixtureThemes,
};
const stage = useStage({ env: configured({ apps }) });
let authorization: string;
let token: string;
beforeAll(async () => {
  await createUser(stage.host, { username: 'editor', password: 'secret.Password1', role: 'editors' });
  authorization = String(basic('editor.secret.Password1').authorization);
  token = String((await ask('GET', '')).headers['x-csrf-token']);
});

const app = () => `${stage.host.url}/site/@@apps/rating`;

function ask<T = unknown>(
  method: string,
  rest: string,
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const needed: Record<string, string> = method === 'GET' ? {} : { 'x-csrf-token': token };
  return send<T>(stage.host.url, {
    method,
    path: `/site/@@apps/rating${rest}`,
    headers: { accept: 'application/json', authorization, ...needed, ...headers },
    json,
  });
}

describe('the twelve operations', () => {
  test('1: settings come with a token of the Basic user in the header', async () => {
    const { status, json, headers } = await ask('GET', '');
    expect([status, json]).toEqual([200, { debug: true }]);
    expect(headers['x-csrf-token']).toMatch(/./);
  });

  test('a token with a Basic header is another one', async () => {
    const anonymous = await send(stage.host.url, {
      method: 'GET',
      path: '/site/@@apps/rating',
      headers: { accept: 'application/json' },
    });
    const headers = { 'x-csrf-token': String(anonymous.headers['x-csrf-token']) };
    expect((await ask('POST', '', {}, headers)).status).toBe(403);
    expect((await ask('POST', '', {}, { 'x-csrf-token': '' })).status).toBe(403);
  });

  test('2: an element is called by GET and by POST', async () => {
    expect((await ask('GET', '/blocks/stats/info')).json).toEqual({ count: 0, visitor: 'editor' });
    expect((await ask('POST', '/blocks/stats/info')).json).toEqual({ count: 0, visitor: 'editor' });
  });

  test('2: a GET that changes something needs the token', async () => {
    expect((await ask('GET', '/blocks/comment/again')).status).toBe(403);
    expect((await ask('GET', '/blocks/comment/again', undefined, { 'x-csrf-token': token })).status).toBe(200);
    expect((await ask('GET', '/record/again')).json).toEqual({ id: 'again' });
    await ask('DELETE', '/record/again');
  });

  test('7: a record is created by an id with slashes in it', async () => {
    const { status, json } = await ask('PUT', '/record//tutorial/news', { total: 5, author: 'Me' });
    expect([status, json]).toEqual([
      201,
      { path: `${app()}/record//tutorial/news`, id: '/tutorial/news', success: 'created' },
    ]);
  });

  test('3: a record is a flat object with its id', async () => {
    const { status, json } = await ask('GET', '/record//tutorial/news');
    expect([status, json]).toEqual([200, { id: '/tutorial/news', total: 5, author: 'Me' }]);
  });

  test('5: a record is created with a generated id', async () => {
    const { status, json } = await ask<{ id: string }>('POST', '', { total: 1 });
    const { id } = json;
    expect(id).toMatch(/^\d+$/);
    expect([status, json]).toEqual([201, { path: `${app()}/record/${id}`, id, success: 'created' }]);
    expect((await ask('DELETE', `/record/${id}`)).json).toEqual({ success: 'deleted' });
  });

  test('10: a record is updated by POST and by PATCH', async () => {
    for (const method of ['POST', 'PATCH']) {
      const { status, json } = await ask(method, '/record//tutorial/news', { total: 10, [method]: true });
      expect([status, json]).toEqual([200, { success: 'updated' }]);
    }
    expect((await ask('GET', '/record//tutorial/news')).json).toEqual({
      id: '/tutorial/news',
      author: 'Me',
      total: 10,
      POST: true,
      PATCH: true,
    });
  });

  test('6: many records are created', async () => {
    const { status, json } = await ask('POST', '/records', [
      { total: 1, author: 'A' },
      { total: 2, author: 'B' },
      { total: 3, author: 'A' },
    ]);
    expect([status, json]).toEqual([201, { total: 3, success: 'created' }]);
  });

  test('4: all records are listed', async () => {
    const { status, json } = await ask<{ path: string; id: string; items: { id: string; total: number } }[]>(
      'GET',
      '/records',
    );
    expect(status).toBe(200);
    expect(json.map(({ items }) => items.total)).toEqual([10, 1, 2, 3]);
    for (const entry of json) {
      expect(Object.keys(entry).sort()).toEqual(['id', 'items', 'path']);
      expect(entry.items.id).toBe(entry.id);
      expect((await ask('GET', entry.path.slice(app().length))).json).toEqual(entry.items);
    }
  });

  test('11: records are searched', async () => {
    const query = { query: "total >= 2 and author == 'A'", sort_index: 'total' };
    const { status, json } = await ask('POST', '/search', query);
    expect([status, json]).toMatchObject([
      200,
      [{ path: expect.any(String), id: expect.stringMatching(/^\d+$/), items: { total: 3, author: 'A' } }],
    ]);
    expect((await ask('GET', '/blocks/stats/top')).json).toMatchObject([
      '/tutorial/news',
      expect.any(String),
      expect.any(String),
      expect.any(String),
    ]);
  });

  test('12: records are re-indexed', async () => {
    expect((await ask('POST', '/refresh')).status).toBe(403);
    const { status, json } = await stage.send({
      as: 'mona',
      send: 'POST rating/refresh',
      csrf: false,
      headers: { 'x-csrf-token': await managersToken() },
    });
    expect([status, json]).toEqual([200, { success: 'refresh', indexes: ['author', 'id', 'total'] }]);
  });

  test('8: a record is deleted', async () => {
    const { status, json } = await ask('DELETE', '/record//tutorial/news');
    expect([status, json]).toEqual([200, { success: 'deleted' }]);
    expect((await ask('GET', '/record//tutorial/news')).status).toBe(404);
  });

  test('9: all records are removed', async () => {
    const { status, json } = await ask('DELETE', '/records');
    expect([status, json]).toEqual([200, { success: 'deleted' }]);
    expect((await ask('GET', '/records')).json).toEqual([]);
  });
});

async function managersToken(): Promise<string> {
  const answer = await stage.send({ as: 'mona', send: 'GET rating' });
  return String(answer.headers['x-csrf-token']);
}

describe('blocks as pages', () => {
  const page = (rest: string, method = 'GET', form?: Record<string, string>) =>
    send(stage.host.url, {
      method,
      path: rest,
      headers: { accept: 'text/html', authorization, 'x-csrf-token': method === 'GET' ? '' : token },
      form,
    });

  test('a block page has an address without a site', async () => {
    const { status, text } = await page('/@@apps/rating/blocks/rate');
    expect(status).toBe(200);
    expect(text).toContain('If you like what you read');
    expect(text).toMatch(/<form[^>]*class="apps-block apps-target-ajax"/);
  });

  test('an action counts, and says so', async () => {
    const path = '/site/@@apps/rating/blocks/rate';
    for (const hearts of ['❤', '❤❤']) {
      const { status, text } = await page(path, 'POST', { 'action.like': 'Like' });
      expect(status).toBe(200);
      expect(text).toContain(`<span>${hearts}</span>`);
      // `debug: true`: the log is in the page, for the browser's console.
      expect(text).toContain('liked /');
    }
    expect(await stage.host.printed()).toContain('liked /');
  });

  test('a block with a save button makes a record, shown with that block', async () => {
    const saved = await page('/site/@@apps/rating/blocks/comment', 'POST', { text: 'Nice', stars: '4', _save: 'Save' });
    expect(saved.status).toBe(303);
    const address = locationOf(saved).pathname;
    expect(address).toMatch(/^\/site\/@@apps\/rating\/record\/\d+$/);
    const { text } = await page(address);
    expect(text).toContain('Say something');
    expect(text).toContain('Nice');
    const { json } = await ask('GET', address.slice('/site/@@apps/rating'.length));
    expect(json).toMatchObject({ text: 'Nice', stars: 4, block: 'comment' });
  });

  test('without `target: ajax`, an action leads to the bare block page', async () => {
    let answer = await page('/site/@@apps/rating/blocks/comment', 'POST', { 'action.again': 'Again' });
    if (answer.status === 303) answer = await page(locationOf(answer).pathname);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('Say something');
    expect(answer.text).toMatch(/<form[^>]*class="apps-block"/);
    expect((await ask('GET', '/record/again')).status).toBe(200);
  });
});
