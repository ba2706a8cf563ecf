import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

interface Entry {
  path: string;
  id: string;
  items: Record<string, unknown>;
}

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const root = () => `${stage.host.url}/site/@@apps`;
const table = (rows: readonly Row[]) => runTable(() => stage, rows);
const clear = (app: string) => stage.send({ as: 'mona', send: `DELETE ${app}/records` });
const post = (app: string, json: unknown) => stage.send({ as: 'mona', send: `POST ${app}/records`, json });
const list = async (app: string, query = '') => {
  const answer = await stage.send<Entry[]>({ as: 'mona', send: `GET ${app}/records${query}` });
  return answer.json.map(({ id }) => id);
};

describe('operation 4: listing', () => {
  beforeAll(async () => {
    await clear('open');
    await post('open', [
      { id: 'c', n: 1 },
      { id: 'a', n: 2, more: 'x' },
      { id: '/b/é', n: null },
    ]);
  });

  test('path, id and items, in order of creation', async () => {
    const { status, json } = await stage.send({ send: 'GET open/records' });
    expect(status).toBe(200);
    expect(json).toEqual([
      { path: `${root()}/open/record/c`, id: 'c', items: { n: 1, id: 'c' } },
      { path: `${root()}/open/record/a`, id: 'a', items: { n: 2, more: 'x', id: 'a' } },
      { path: `${root()}/open/record//b/%C3%A9`, id: '/b/é', items: { n: null, id: '/b/é' } },
    ]);
  });

  table([
    {
      it: 'always JSON',
      send: 'GET open/records',
      accept: 'text/html',
      status: 200,
      answers: { 'content-type': /json/ },
    },
    { it: 'HEAD', send: 'HEAD open/records', status: 200, answers: { 'content-type': /json/ } },
    {
      it: 'limit',
      send: 'GET open/records?limit=2',
      status: 200,
      gives: [{ id: 'c' }, { id: 'a' }],
      answers: { link: /rel="next"/ },
    },
    { it: 'no more', send: 'GET open/records?limit=3', status: 200, answers: { link: null } },
    { it: 'offset', send: 'GET open/records?offset=1', status: 200, gives: [{ id: 'a' }, { id: '/b/é' }] },
    { it: 'limit and offset', send: 'GET open/records?limit=1&offset=1', status: 200, gives: [{ id: 'a' }] },
    { it: 'offset beyond the end', send: 'GET open/records?offset=9', status: 200, is: [] },
    { it: 'a limit that is no number', send: 'GET open/records?limit=x', status: 400, error: 'BadRequestError' },
    { it: 'a negative limit', send: 'GET open/records?limit=-1', status: 400, error: 'BadRequestError' },
    { it: 'two limits', send: 'GET open/records?limit=1&limit=2', status: 400, error: 'BadRequestError' },
    { it: 'a negative offset', send: 'GET open/records?offset=-1', status: 400, error: 'BadRequestError' },
    { it: 'a cursor of nobody', send: 'GET open/records?limit=1&cursor=%00', status: 400, error: 'BadRequestError' },
    { it: 'not offered', send: 'GET open/records', accept: 'image/png', status: 406, error: 'NotAcceptableError' },
    {
      it: 'PUT is not allowed',
      send: 'PUT open/records',
      json: [],
      status: 405,
      answers: { allow: /GET.*POST.*DELETE/ },
    },
    { it: 'an empty app', send: 'GET linked/records', status: 200, is: [] },
  ]);

  test('following the links finds every record once', async () => {
    const found: string[] = [];
    let next = '/site/@@apps/open/records?limit=1';
    for (let page = 0; page < 5 && next; page += 1) {
      const { json, headers } = await stage.send<Entry[]>({ send: `GET ${next}` });
      found.push(...json.map(({ id }) => id));
      next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1]?.replace(stage.host.url, '') ?? '';
    }
    expect(found).toEqual(['c', 'a', '/b/é']);
  });

  test('NDJSON is one object a line', async () => {
    const { text, headers } = await stage.send({ send: 'GET open/records', accept: 'application/x-ndjson' });
    expect(headers['content-type']).toContain('application/x-ndjson');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(lines).toEqual(['c', 'a', '/b/é']);
  });

  test('CSV is a table', async () => {
    const { text, headers } = await stage.send({ send: 'GET open/records', accept: 'text/csv' });
    expect(headers['content-type']).toContain('text/csv');
    const [header = '', ...rows] = text.trimEnd().split(/\r?\n/);
    const columns = header.split(',');
    expect(columns).toEqual(expect.arrayContaining(['id', 'n', 'more']));
    expect(rows.map((row) => row.split(',')[columns.indexOf('id')])).toEqual(['c', 'a', '/b/é']);
    expect(rows[1]?.split(',')[columns.indexOf('more')]).toBe('x');
  });

  test('a listing can be imported again', async () => {
    const before = await stage.send<Entry[]>({ send: 'GET open/records' });
    await clear('open');
    const made = await post(
      'open',
      before.json.map(({ items }) => items),
    );
    expect(made.json).toEqual({ total: 3, success: 'created' });
    expect((await stage.send({ send: 'GET open/records' })).json).toEqual(before.json);
  });
});

describe('operation 6: creating many', () => {
  beforeEach(() => clear('open'));

  const cases: [string, unknown, number, string[]][] = [
    ['several', [{ id: 'x' }, { id: 'y' }], 201, ['x', 'y']],
    ['none', [], 201, []],
    ['one that is no object', [{ id: 'x' }, 5], 400, []],
    ['a list in the list', [{ id: 'x' }, []], 400, []],
    ['null in the list', [{ id: 'x' }, null], 400, []],
    ['an object instead of a list', { id: 'x' }, 400, []],
    ['an id twice', [{ id: 'x' }, { id: 'x' }], 409, []],
    ['a bad id', [{ id: 'x' }, { id: '' }], 400, []],
    ['an id that is no text', [{ id: 'x' }, { id: {} }], 400, []],
    ['an unknown block', [{ id: 'x' }, { id: 'y', block: 'absent' }], 400, []],
  ];
  test.each(cases)('%s', async (_name, body, status, left) => {
    const answer = await post('open', body);
    expect(answer.status, answer.text).toBe(status);
    if (status === 201) expect(answer.json).toEqual({ total: left.length, success: 'created' });
    expect(await list('open')).toEqual(left);
  });

  test('all or nothing when one id is taken', async () => {
    await stage.put('open', 'taken');
    expect((await post('open', [{ id: 'first' }, { id: 'taken' }])).status).toBe(409);
    expect(await list('open')).toEqual(['taken']);
  });

  test('blocks are run', async () => {
    expect((await post('open', [{ id: 'one', block: 'counted', amount: 1 }, { id: 'two' }])).status).toBe(201);
    expect(await stage.items('open', 'one')).toMatchObject({ double: 2, saves: 1 });
  });

  const ndjson = (body: string) =>
    stage.send({ as: 'mona', send: 'POST open/records', body, headers: { 'content-type': 'application/x-ndjson' } });

  test('NDJSON of more than a JSON body may have', async () => {
    const total = 3_000;
    const line = (n: number) => JSON.stringify({ id: `n${n}`, text: 'x'.repeat(500) });
    const { status, json } = await ndjson(Array.from({ length: total }, (_, n) => line(n)).join('\n'));
    expect([status, json]).toEqual([201, { total, success: 'created' }]);
    expect(await list('open', '?limit=2&offset=2998')).toEqual(['n2998', 'n2999']);
  });

  test('the limits of logic count for each record: a large export is imported again, logic included', async () => {
    const total = 2_500;
    const line = (n: number) => JSON.stringify({ id: `n${n}`, block: 'counted', amount: n });
    const { status, json, text } = await ndjson(Array.from({ length: total }, (_, n) => line(n)).join('\n'));
    expect(status, text).toBe(201);
    expect(json).toEqual({ total, success: 'created' });
    expect(await stage.items('open', 'n2499')).toMatchObject({ double: 4998, saves: 1 });
  });

  test('a refused record is named, and nothing is stored', async () => {
    const good = { block: 'counted', amount: 1 };
    const failed = await post('open', [good, good, { ...good, fail: true }, good]);
    expect(failed.status).toBe(500);
    expect(failed.json).toMatchObject({
      error: {
        name: 'LogicError',
        message: expect.stringMatching(/^Record 3: .*refused.*Nothing was stored\.$/),
        details: { record: 3, file: 'blocks/counted.js' },
      },
    });
    const wrong = await post('open', [good, { block: 'absent' }]);
    expect(wrong.json).toMatchObject({
      error: { message: expect.stringMatching(/^Record 2: .*absent.*Nothing was stored\.$/), details: { record: 2 } },
    });
    expect(await list('open')).toEqual([]);
  });

  test('a broken line of NDJSON makes nothing', async () => {
    const { status, json } = await ndjson('{"id":"a"}\n{"id":\n{"id":"c"}\n');
    expect([status, json]).toMatchObject([400, { error: { message: expect.stringContaining('2') } }]);
    expect(await list('open')).toEqual([]);
  });

  table([
    { it: 'without token', send: 'POST open/records', json: [], csrf: false, status: 403, error: 'CsrfError' },
    {
      it: 'another type',
      send: 'POST open/records',
      body: 'a,b',
      headers: { 'content-type': 'text/csv' },
      status: 415,
      error: 'UnsupportedMediaTypeError',
    },
    { it: 'a form', send: 'POST open/records', form: { a: 'b' }, status: 415, error: 'UnsupportedMediaTypeError' },
    {
      it: 'compressed NDJSON',
      send: 'POST open/records',
      body: '{}',
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      status: 415,
      error: 'UnsupportedMediaTypeError',
    },
  ]);
});

describe('operation 9: removing all', () => {
  table([
    { it: 'without token', send: 'DELETE search/records', csrf: false, status: 403, error: 'CsrfError' },
    {
      it: 'making records',
      send: 'POST search/records',
      json: [
        { id: 'a', total: 1 },
        { id: 'b', total: 2 },
      ],
      status: 201,
    },
    { it: 'removes records', send: 'DELETE search/records', status: 200, is: { success: 'deleted' } },
    { it: 'none is left', send: 'GET search/records', status: 200, is: [] },
    { it: 'the indexes come back', send: 'POST search/search', json: { query: 'total > 0' }, status: 200, is: [] },
    { it: 'also for new records', send: 'PUT search/record/c', json: { total: 3 }, status: 201 },
    {
      it: 'which are found',
      send: 'POST search/search',
      json: { query: 'total > 0' },
      status: 200,
      gives: [{ id: 'c' }],
    },
    { it: 'of an empty app', send: 'DELETE linked/records', status: 200, is: { success: 'deleted' } },
  ]);

  test('other apps keep theirs', async () => {
    await stage.put('open', 'mine');
    await clear('search');
    expect(await list('open')).toContain('mine');
  });
});

describe('operation 11: searching', () => {
  beforeAll(async () => {
    await clear('search');
    await post('search', [
      { id: 'one', total: 1 },
      { id: 'two', total: 2 },
      { id: 'three', total: 3 },
    ]);
  });
  const search = (json: unknown, rest: Partial<Row> = {}): Omit<Row, 'it' | 'status'> => ({
    send: 'POST search/search',
    json,
    ...rest,
  });

  test('path, id and items', async () => {
    const { json } = await stage.send(search({ query: 'total == 2' }));
    expect(json).toEqual([{ path: `${root()}/search/record/two`, id: 'two', items: { total: 2, id: 'two' } }]);
  });

  table([
    { it: 'no query', ...search({}), status: 200, gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }] },
    { it: 'no body', send: 'POST search/search', status: 200, gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }] },
    {
      it: 'an empty query',
      ...search({ query: '' }),
      status: 200,
      gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }],
    },
    {
      it: 'sorted',
      ...search({ sort_index: 'total', reverse: true }),
      status: 200,
      gives: [{ id: 'three' }, { id: 'two' }, { id: 'one' }],
    },
    { it: 'a page', ...search({ sort_index: 'total', limit: 1, offset: 1 }), status: 200, gives: [{ id: 'two' }] },
    {
      it: 'bound names',
      ...search({ query: 'total > least', names: { least: 1 } }),
      status: 200,
      gives: [{ id: 'two' }, { id: 'three' }],
    },
    {
      it: 'the total',
      ...search({ limit: 1, with_total: true }),
      status: 200,
      gives: [{ id: 'one' }],
      answers: { 'x-total-count': '3' },
    },
    { it: 'no total', ...search({ limit: 1 }), status: 200, answers: { 'x-total-count': null } },
    { it: 'an unknown key', ...search({ sort: 'total' }), status: 400, error: 'BadRequestError', has: ['sort'] },
    { it: 'a query that is no text', ...search({ query: 5 }), status: 400, error: 'BadRequestError' },
    { it: 'reverse that is no boolean', ...search({ reverse: 'yes' }), status: 400, error: 'BadRequestError' },
    { it: 'a limit over the cap', ...search({ limit: 10_001 }), status: 400, error: 'BadRequestError' },
    { it: 'a negative offset', ...search({ offset: -1 }), status: 400, error: 'BadRequestError' },
    { it: 'names as a list', ...search({ names: [] }), status: 400, error: 'BadRequestError' },
    {
      it: 'an unknown index',
      ...search({ query: 'absent == 1' }),
      status: 400,
      error: 'BadRequestError',
      has: ['absent'],
    },
    {
      it: 'an unknown sort index',
      ...search({ sort_index: 'absent' }),
      status: 400,
      error: 'BadRequestError',
      has: ['absent'],
    },
    { it: 'a list', ...search([]), status: 400, error: 'BadRequestError' },
    { it: 'GET', send: 'GET search/search', status: 405, answers: { allow: /POST/ } },
    { it: 'without token', ...search({}, { csrf: false }), status: 403, error: 'CsrfError' },
  ]);
});

describe('operation 12: re-indexing', () => {
  const indexes = ['body', 'flag', 'id', 'mixed', 'tags', 'title', 'total'];
  const refresh = { as: 'mona', send: 'POST search/refresh' };
  table([
    { it: 'lists the indexes, sorted', ...refresh, status: 200, is: { success: 'refresh', indexes } },
    { it: 'rebuilds', ...refresh, json: { rebuild: true }, status: 200, is: { success: 'refresh', indexes } },
    {
      it: 'searching works on',
      send: 'POST search/search',
      json: { query: 'total == 2' },
      status: 200,
      gives: [{ id: 'two' }],
    },
    {
      it: 'id alone without declarations',
      as: 'mona',
      send: 'POST linked/refresh',
      status: 200,
      is: { success: 'refresh', indexes: ['id'] },
    },
    { it: 'a wrong value', ...refresh, json: { rebuild: 'yes' }, status: 400, error: 'BadRequestError' },
    { it: 'an unknown key', ...refresh, json: { force: true }, status: 400, error: 'BadRequestError' },
    {
      it: 'needs the manage permission',
      as: 'eric',
      send: 'POST search/refresh',
      status: 403,
      error: 'ForbiddenError',
    },
    { it: 'nobody', send: 'POST search/refresh', status: 401, error: 'UnauthorizedError' },
    { it: 'without token', ...refresh, csrf: false, status: 403, error: 'CsrfError' },
    { it: 'GET', as: 'mona', send: 'GET search/refresh', status: 405, answers: { allow: /POST/ } },
  ]);
});
