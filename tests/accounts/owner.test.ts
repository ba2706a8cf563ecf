import { beforeAll, describe, expect, test } from 'vitest';
import { formBody, pdf, sendBody } from '../forms/files/send';
import { useStage, useThemes } from '../support/hooks';
import { locationOf } from '../support/send';
import { html, type Row, type RowRequest } from '../support/stage';
import { runTable } from '../support/table';
import { ownerApps } from './owner/apps';

/** The right `owner` (docs/reference/rights.md#records-acl-in-settingsyaml): own records are all there is. */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(ownerApps)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const ids = (json: unknown): string[] => (json as { id: string }[]).map(({ id }) => id).sort();
const get = <T>(as: string, send: string) => stage.send<T>({ as, send: `GET ${send}` });

beforeAll(async () => {
  const ticket = (title: string, state: string) => ({ block: 'ticket', title, state, creator: 'an item' });
  await stage.put('tickets', 'una-1', ticket('First printer', 'open'), 'una');
  await stage.put('tickets', 'una-2', ticket('Second printer', 'shut'), 'una');
  await stage.put('tickets', 'sam-1', ticket('Third printer', 'open'), 'sam');
  await stage.put('tickets', 'nobody', ticket('Fourth printer', 'open'), 'anonymous');
  await stage.put('tickets', 'token', ticket('Fifth printer', 'open'), 'createToken');
});

const mine = ['una-1', 'una-2'];
const all = ['nobody', 'sam-1', 'token', 'una-1', 'una-2'];

describe('a record of somebody else answers as one that is missing', () => {
  const ways: [string, (id: string) => RowRequest][] = [
    ['get', (id) => ({ send: `GET tickets/record/${id}` })],
    ['its page', (id) => ({ send: `GET tickets/record/${id}`, accept: html })],
    ['its form', (id) => ({ send: `GET tickets/record/${id}/edit`, accept: html })],
    ['update', (id) => ({ send: `PATCH tickets/record/${id}`, json: { state: 'x' } })],
    ['update by POST', (id) => ({ send: `POST tickets/record/${id}`, json: { state: 'x' } })],
    [
      'update with If-Match',
      (id) => ({ send: `PATCH tickets/record/${id}`, json: {}, headers: { 'if-match': '"1"' } }),
    ],
    ['delete', (id) => ({ send: `DELETE tickets/record/${id}` })],
    ['the form sent', (id) => ({ send: `POST tickets/record/${id}`, form: { title: 'x', _save: '' }, accept: html })],
    ['delete by the form', (id) => ({ send: `POST tickets/record/${id}`, form: { _delete: '' }, accept: html })],
  ];
  test.each(ways)('%s', async (_, request) => {
    const body = async (id: string) => {
      const answer = await stage.send({ as: 'una', ...request(id) });
      expect(answer.status).toBe(404);
      // Each answer names its request.
      return answer.text.replaceAll(id, 'ID').replace(/value="[^"]*"|<code>[^<]*<\/code>/g, '');
    };
    expect(await body('sam-1')).toBe(await body('none-1'));
    expect(await stage.items('tickets', 'sam-1')).toMatchObject({ title: 'Third printer', state: 'open' });
  });

  test.each(ways)('%s: anonymous, who owns nothing, has to log in', async (_, request) => {
    for (const id of ['sam-1', 'nobody', 'none-1']) {
      expect((await stage.send({ as: 'anonymous', ...request(id) })).status).toBe(401);
    }
  });

  test('an id that is taken is taken for all who may create', async () => {
    const { status, text } = await stage.send({ as: 'una', send: 'PUT tickets/record/sam-1', json: {} });
    expect([status, text]).toEqual([409, expect.not.stringContaining('Third')]);
  });
});

describe('own records', () => {
  const rows: Row[] = [
    { title: 'are read', as: 'una', send: 'GET tickets/record/una-1', status: 200, gives: { state: 'open' } },
    { title: 'have a page', as: 'una', send: 'GET tickets/record/una-1', accept: html, status: 200, has: ['una'] },
    {
      title: 'have a form',
      as: 'una',
      send: 'GET tickets/record/una-1/edit',
      accept: html,
      status: 200,
      has: ['name="title"'],
    },
    {
      title: 'are all that is listed',
      as: 'una',
      send: 'GET tickets/records?limit=1',
      status: 200,
      answers: { link: /next/ },
    },
    { title: 'are not all to be deleted at once', as: 'una', send: 'DELETE tickets/records', status: 403 },
    { title: 'no creating by owner alone', as: 'anonymous', send: 'GET tickets/records', status: 401 },
    { title: 'no search by anonymous', send: 'POST tickets/search', json: {}, status: 401 },
    { title: 'no table for anonymous', send: 'GET tickets/records.csv', status: 401 },
    {
      title: 'unknown indexes stay errors',
      as: 'una',
      send: 'POST tickets/search',
      json: { query: '@creator == 1' },
      status: 400,
    },
  ];
  runTable(stage, rows);

  test.each([
    ['una', mine],
    ['sam', ['sam-1']],
    ['nina', []],
    ['rita', all],
    ['eric', all],
    ['mona', all],
    ['createToken', ['token']],
    ['findToken', all],
  ])('%s finds these, by each way', async (who, expected) => {
    const listed = await get(who, 'tickets/records');
    expect(ids(listed.json)).toEqual(expected);
    const total = await stage.send({ as: who, send: 'POST tickets/search', json: { with_total: true, limit: 1 } });
    expect([total.status, total.headers['x-total-count']]).toEqual([200, String(expected.length)]);
    for (const query of ['', "'printer' in title", "state == 'open' or state == 'shut'", 'not state == null']) {
      const answer = await stage.send({ as: who, send: 'POST tickets/search', json: { query, sort_index: 'state' } });
      expect(ids(answer.json), query).toEqual(expected);
    }
    const csv = (await stage.send({ as: who, send: 'GET tickets/records.csv', accept: 'text/csv' })).text;
    expect(
      csv
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')[0])
        .sort(),
    ).toEqual(expected);
    const table = (await stage.send({ as: who, send: 'GET tickets/search.csv?query=', accept: 'text/csv' })).text;
    expect(
      table
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')[0])
        .sort(),
    ).toEqual(expected);
    const lines = (await stage.send({ as: who, send: 'GET tickets/records', accept: 'application/x-ndjson' })).text;
    expect(
      ids(
        lines
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      ),
    ).toEqual(expected);
  });

  test('the columns of a table are those of own records', async () => {
    await stage.put('tickets', 'sam-2', { secret_column: 1 }, 'sam');
    const csv = (await stage.send({ as: 'una', send: 'GET tickets/records.csv', accept: 'text/csv' })).text;
    expect(csv).not.toContain('secret_column');
    expect((await stage.send({ as: 'sam', send: 'DELETE tickets/record/sam-2' })).status).toBe(200);
  });

  test('a page of a listing leads to the next', async () => {
    const first = await get('una', 'tickets/records?limit=1');
    const next = /<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? '';
    const second = await get('una', `/${next.split('/').slice(3).join('/')}`);
    expect([ids(first.json), ids(second.json), second.headers.link]).toEqual([['una-1'], ['una-2'], undefined]);
  });

  test('are created by a form, changed and deleted', async () => {
    const form = { title: 'By form', state: 'open', _save: '' };
    const made = await stage.send({ as: 'nina', send: 'POST tickets/blocks/ticket', accept: html, form });
    expect(made.status).toBe(303);
    const { pathname, search } = locationOf(made);
    expect(search).toBe('');
    expect((await stage.send({ as: 'nina', send: `GET ${pathname}`, accept: html })).text).toContain('By form');
    const saved = await stage.send({
      as: 'nina',
      send: `POST ${pathname}`,
      accept: html,
      form: { ...form, title: 'Changed' },
    });
    expect(saved.status).toBe(303);
    expect((await stage.send({ as: 'nina', send: `PATCH ${pathname}`, json: { state: 'shut' } })).status).toBe(200);
    expect((await stage.send({ as: 'nina', send: `GET ${pathname}` })).json).toMatchObject({
      title: 'Changed',
      state: 'shut',
    });
    expect((await stage.send({ as: 'una', send: `GET ${pathname}` })).status).toBe(404);
    expect((await stage.send({ as: 'nina', send: `DELETE ${pathname}` })).status).toBe(200);
    expect((await stage.send({ as: 'nina', send: `GET ${pathname}` })).status).toBe(404);
  });

  test('of a form that anonymous has sent lead to a thank-you page', async () => {
    const form = { title: 'By form', state: 'open', _save: '' };
    const made = await stage.send({ send: 'POST tickets/blocks/ticket', accept: html, form });
    expect([made.status, locationOf(made).search]).toEqual([303, '?saved']);
    const { pathname, search } = locationOf(made);
    const shown = await stage.send({ send: `GET ${pathname}${search}`, accept: html });
    expect([shown.status, shown.text.includes('By form')]).toEqual([200, false]);
    expect((await stage.send({ as: 'mona', send: `DELETE ${pathname}` })).status).toBe(200);
  });
});

describe('in logic', () => {
  const own = (search: string[], records: string[]) => ({
    search,
    count: search.length,
    records,
    first: Math.min(1, records.length),
  });
  test.each([
    ['una', own(['una-1'], mine)],
    ['sam', own(['sam-1'], ['sam-1'])],
    ['mona', own([], [])],
    ['createToken', own(['token'], ['token'])],
    ['anonymous', own([], [])],
  ])('{ own: true } finds what %s has created, in JavaScript and in Python', async (who, expected) => {
    expect((await get(who, 'tickets/blocks/mine/mine')).json).toEqual(expected);
    expect((await get(who, 'tickets/blocks/python/mine')).json).toEqual(expected);
    // Logic may do anything with records of its own app.
    expect((await get(who, 'tickets/blocks/mine/all')).json).toBe(all.length);
  });

  test.each(['mine', 'python'])('record.creator tells who it was (%s)', async (block) => {
    const { documentId } = await stage
      .user('una')
      .then(({ username }) =>
        stage.host.run(
          (strapi, name) => strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: name } }),
          username,
        ),
      );
    const { json } = await get<Record<string, unknown>>('nina', `tickets/blocks/${block}/creators`);
    expect(json).toEqual({
      'una-1': { id: documentId, username: 'una' },
      'una-2': { id: documentId, username: 'una' },
      'sam-1': { id: expect.any(String), username: 'sam' },
      token: { id: expect.stringMatching(/^token:\d+$/), username: 'createToken' },
      nobody: null,
    });
  });

  test('record.creator is read-only, and an item of this name stays an item', async () => {
    expect((await get('nina', 'tickets/blocks/mine/guess')).json).toMatch(/creator belongs to every record/);
    expect(await stage.items('tickets', 'una-1')).toMatchObject({ creator: 'an item' });
  });

  test.each([
    ['una', mine, 1],
    ['nina', [], 0],
    ['rita', all, 4],
  ])('get_app shows %s what they may see there', async (who, expected, open) => {
    const { json } = await get(who, 'desk/blocks/reads/seen');
    expect(json).toEqual({ search: expected, records: expected, count: expected.length, open });
  });

  const call = (as: string, element: string, id: string) =>
    stage.send({ as, send: `POST desk/blocks/reads/${element}?id=${id}`, json: {} });

  test('in another app, a record of somebody else is none', async () => {
    expect((await call('una', 'one', 'una-1')).json).toMatchObject({ title: 'First printer' });
    for (const element of ['one', 'changed', 'removed']) {
      const [other, missing] = [await call('una', element, 'sam-1'), await call('una', element, 'none-1')];
      expect([other.status, other.text]).toEqual([missing.status, missing.text]);
    }
    expect((await call('una', 'removed', 'sam-1')).json).toBe(false);
    expect((await call('anonymous', 'one', 'una-1')).json).toMatchObject(['UnauthorizedError', expect.any(String)]);
    expect((await call('una', 'changed', 'una-2')).json).toBe('seen');
    expect(await stage.items('tickets', 'una-2')).toMatchObject({ state: 'seen' });
    await stage.send({ as: 'una', send: 'PATCH tickets/record/una-2', json: { state: 'shut' } });
    expect(await stage.items('tickets', 'sam-1')).toMatchObject({ state: 'open' });
  });
});

describe('references', () => {
  const form = (as: string) => stage.send({ as, send: 'GET desk/blocks/visit', accept: html });

  test('offer own records alone, and take no others', async () => {
    const { text } = await form('una');
    for (const [id, isOffered] of Object.entries({ 'una-1': true, 'una-2': true, 'sam-1': false, nobody: false })) {
      expect([id, text.includes(`value="${id}"`)]).toEqual([id, isOffered]);
    }
    expect((await form('rita')).text).toContain('value="sam-1"');
    const send = (ticket: string) =>
      stage.send({ as: 'una', send: 'POST desk/blocks/visit', accept: html, form: { name: 'x', ticket, _save: '' } });
    expect((await send('sam-1')).status).toBe(422);
    expect((await send('una-1')).status).toBe(303);
  });

  test('show own records alone', async () => {
    await stage.put('desk', 'visit-1', { block: 'visit', name: 'x', ticket: 'sam-1' });
    const shown = (as: string) => stage.send({ as, send: 'GET desk/record/visit-1', accept: html });
    expect((await shown('una')).text).not.toContain('<b>open</b>');
    expect((await shown('sam')).text).toContain('<b>open</b>');
    expect((await shown('rita')).text).toContain('<b>open</b>');
  });
});

describe('live changes', () => {
  const tokensOf = async (as: string, block: string) => {
    const { text } = await stage.send({ as, send: `GET ${block}`, accept: html });
    const settings = JSON.parse(/data-apps-settings='([^']+)'/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '{}');
    return settings.live as string[];
  };
  const waiting = async (tokens: string[]) => {
    const abort = new AbortController();
    const url = `${stage.host.url}/site/@@apps.live?t=${tokens.join()}`;
    const { body } = await fetch(url, { signal: abort.signal });
    let text = '';
    const read = (async () => {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    return {
      seen: () => text.includes('event: change'),
      async end() {
        abort.abort();
        await read;
      },
    };
  };

  test.each([
    ['tickets/blocks/mine', 'a list of own records'],
    ['desk/blocks/reads', 'a list of another app'],
  ])('%s, %s, wakes for own records alone', async (block) => {
    const page = await waiting(await tokensOf('una', block));
    // What somebody else does is published before what follows it.
    const other = await waiting(await tokensOf('sam', block));
    await stage.send({ as: 'sam', send: 'PATCH tickets/record/sam-1', json: { state: 'open' } });
    await stage.put('tickets', 'sam-live', {}, 'sam');
    await stage.send({ as: 'sam', send: 'DELETE tickets/record/sam-live' });
    await stage.send({ as: 'sam', send: 'POST tickets/records', json: [{ id: 'sam-bulk' }] });
    await expect.poll(other.seen).toBe(true);
    expect(page.seen()).toBe(false);
    await stage.send({ as: 'una', send: 'POST tickets/records', json: [{ id: 'una-bulk' }] });
    await expect.poll(page.seen).toBe(true);
    for (const ended of [page, other]) await ended.end();
    for (const id of ['sam-bulk', 'una-bulk'])
      expect((await stage.send({ as: 'mona', send: `DELETE tickets/record/${id}` })).status).toBe(200);
  });
});

describe('afterwards', () => {
  test('the account of a creator is gone: their records have none', async () => {
    await stage.host.run((strapi) =>
      strapi.db.query('plugin::users-permissions.user').delete({ where: { username: 'sam' } }),
    );
    const { json } = await get<Record<string, unknown>>('nina', 'tickets/blocks/mine/creators');
    expect(json['sam-1']).toBeNull();
    expect(json['una-1']).toMatchObject({ username: 'una' });
  });
});

test('a record names no file of a record of somebody else', async () => {
  const form = formBody([
    { name: 'scan', file: 'scan.pdf', content: pdf },
    { name: '_save', content: '1' },
  ]);
  await sendBody(stage, form, 'papers/blocks/paper', 'application/json');
  const { json: stored } = await get<{ id: string; items: { scan: object } }[]>('eric', 'papers/records');
  const scan = stored[0]?.items.scan;
  expect(scan).toMatchObject({ name: 'scan.pdf' });
  const copy = { block: 'paper', scan };
  const wrong = { error: { details: { errors: [{ path: ['scan'] }] } } };
  for (const row of [
    { as: 'una', send: 'PUT papers/record/copied', json: copy },
    { as: 'una', send: 'POST papers/blocks/paper', json: { scan, _save: '1' } },
    // A private file belongs to one record, also for those who see all.
    { as: 'eric', send: 'PUT papers/record/copied', json: copy },
  ]) {
    const answer = await stage.send(row);
    expect([answer.status, answer.json], answer.text).toMatchObject([422, wrong]);
  }
});
