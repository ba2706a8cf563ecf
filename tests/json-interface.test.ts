import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const root = () => `${stage.host.url}/site/@@apps`;
const table = (rows: readonly Row[]) => runTable(() => stage, rows);

describe('operation 1: settings', () => {
  table([
    { it: 'a missing settings.yaml', send: 'GET plain', status: 200, is: { no_settings: {} } },
    { it: 'an empty settings.yaml', send: 'GET empty', status: 200, is: { no_settings: {} } },
    { it: 'the parsed file, acl left out', send: 'GET open', status: 200, is: { debug: false } },
    {
      it: 'acl is shown to managers',
      as: 'mona',
      send: 'GET open',
      status: 200,
      is: { debug: false, acl: { rights: { editor: ['*'] } } },
    },
    {
      it: 'carries a token that no cache keeps',
      send: 'GET open',
      status: 200,
      answers: {
        'x-csrf-token': /^\S{20,}$/,
        'cache-control': /private.*no-store/,
        vary: /Authorization.*Cookie/i,
        'content-type': /^application\/json/,
      },
    },
    { it: 'is always JSON', send: 'GET open', accept: 'text/html', status: 200, is: { debug: false } },
    { it: 'HEAD as GET', send: 'HEAD open', status: 200, answers: { 'x-csrf-token': /./ } },
    { it: 'without a site: the default one', send: 'GET /@@apps/open', status: 200, is: { debug: false } },
    { it: 'with encoded signs', send: 'GET /site/%40%40apps/open', status: 200, is: { debug: false } },
    { it: 'an app that is not there', send: 'GET nowhere', status: 404, error: 'NotFoundError' },
    { it: 'PUT is not allowed', send: 'PUT open', json: {}, status: 405, answers: { allow: /GET.*POST/ } },
    { it: 'DELETE is not allowed', send: 'DELETE open', status: 405, error: 'MethodNotAllowedError' },
    { it: 'PUT without a body', send: 'PUT open/record/empty', as: 'mona', status: 400, error: 'BadRequestError' },
    { it: 'only JSON is offered', send: 'GET open', accept: 'image/png', status: 406, error: 'NotAcceptableError' },
  ]);
});

describe('operation 2: elements', () => {
  table([
    { it: 'an object', send: 'GET open/blocks/values/info', status: 200, is: { title: 'Information', count: 3 } },
    {
      it: 'an object by POST',
      send: 'POST open/blocks/values/info',
      status: 200,
      is: { title: 'Information', count: 3 },
    },
    { it: 'a string', send: 'GET open/blocks/values/text', status: 200, is: '<b>bold</b>' },
    { it: 'a number', send: 'GET open/blocks/values/number', status: 200, is: 42 },
    { it: 'a list', send: 'GET open/blocks/values/list', status: 200, is: [1, 'two', null] },
    { it: 'null', send: 'GET open/blocks/values/nothing', status: 200, is: null },
    { it: 'undefined is null', send: 'GET open/blocks/values/missing', status: 200, is: null },
    { it: 'an action', send: 'POST open/blocks/values/press', status: 200, is: null },
    {
      it: 'the body of a POST',
      send: 'POST open/blocks/values/echo',
      json: { name: 'Ann' },
      status: 200,
      is: { method: 'POST', body: { name: 'Ann' }, name: 'Ann', other: 'none' },
    },
    { it: 'the query of a GET', send: 'GET open/blocks/values/echo?name=Bob', status: 200, gives: { name: 'Bob' } },
    { it: 'a list is no body', send: 'POST open/blocks/values/echo', json: [1], status: 400, error: 'BadRequestError' },
    { it: 'a helper is no element', send: 'GET open/blocks/values/helper', status: 404, error: 'NotFoundError' },
    { it: 'on_save is no element', send: 'POST open/blocks/values/on_save', status: 404, error: 'NotFoundError' },
    { it: 'on_display is no element', send: 'GET open/blocks/values/on_display', status: 404, error: 'NotFoundError' },
    { it: 'constructor is no element', send: 'GET open/blocks/values/constructor', status: 404 },
    { it: 'no such block', send: 'GET open/blocks/absent/info', status: 404, error: 'NotFoundError' },
    {
      it: 'logic that fails',
      send: 'GET open/blocks/values/fails',
      status: 500,
      error: 'LogicError',
      lacks: ['words'],
    },
    { it: 'PUT is not allowed', send: 'PUT open/blocks/values/info', json: {}, status: 405, answers: { allow: /GET/ } },
    { it: 'POST without token', send: 'POST open/blocks/values/info', csrf: false, status: 403, error: 'CsrfError' },
    {
      it: 'a manager is told where logic failed',
      as: 'mona',
      send: 'GET open/blocks/values/fails',
      status: 500,
      error: 'LogicError',
      has: ['words of the logic', 'blocks/values.js'],
    },
    {
      it: 'a block as JSON is its definition',
      send: 'GET open/blocks/note',
      status: 200,
      is: {
        elements: { title: { type: 'TEXT' }, total: { type: 'NUMBER', label: 'Total', index_type: 'field' } },
      },
    },
    { it: 'a block that is not there', send: 'GET open/blocks/absent', status: 404, error: 'NotFoundError' },
    { it: 'a block takes no DELETE', send: 'DELETE open/blocks/note', status: 405, answers: { allow: /GET.*POST/ } },
  ]);
});

describe('operations 3, 5, 7, 8, 10: a record', () => {
  const items = {
    text: 'Ünï✓ "quoted" \\ \u0000',
    number: 1.5,
    big: 9007199254740991,
    yes: true,
    no: false,
    none: null,
    list: [1, [2, { three: 3 }]],
    object: { nested: { deep: [] } },
    empty: '',
  };
  table([
    {
      it: 'any JSON values',
      send: 'PUT open/record/kept',
      json: items,
      status: 201,
      gives: { id: 'kept', success: 'created' },
      answers: { location: /\/site\/@@apps\/open\/record\/kept$/ },
    },
    { it: 'are given back', send: 'GET open/record/kept', status: 200, is: { ...items, id: 'kept' } },
    { it: 'by HEAD', send: 'HEAD open/record/kept', status: 200, answers: { etag: /"/, 'content-type': /json/ } },
    { it: 'a taken id', send: 'PUT open/record/kept', json: { text: 'other' }, status: 409, error: 'ConflictError' },
    { it: 'overwrites nothing', send: 'GET open/record/kept', status: 200, is: { ...items, id: 'kept' } },
    {
      it: "the path's id wins",
      send: 'PUT open/record/path',
      json: { id: 'body' },
      status: 201,
      gives: { id: 'path' },
    },
    { it: 'the id of the body is not made', send: 'GET open/record/body', status: 404, error: 'NotFoundError' },
    { it: 'no items', send: 'PUT open/record/bare', json: {}, status: 201 },
    { it: 'still have an id', send: 'GET open/record/bare', status: 200, is: { id: 'bare' } },
    {
      it: 'an id of the client in operation 5',
      send: 'POST open',
      json: { id: 'own', a: 1 },
      status: 201,
      gives: { id: 'own' },
    },
    { it: 'that is taken', send: 'POST open', json: { id: 'own' }, status: 409, error: 'ConflictError' },
    {
      it: 'names as harmless text',
      send: 'PUT open/record/names',
      json: { toString: 1, 'a.b': 2, $c: 3 },
      status: 201,
    },
    { it: 'come back', send: 'GET open/record/names', status: 200, is: { toString: 1, 'a.b': 2, $c: 3, id: 'names' } },
    {
      it: 'POST merges',
      send: 'POST open/record/kept',
      json: { number: 2, none: 1, yes: null },
      status: 200,
      is: { success: 'updated' },
    },
    {
      it: 'items not named stay, null is stored',
      send: 'GET open/record/kept',
      status: 200,
      is: { ...items, number: 2, none: 1, yes: null, id: 'kept' },
    },
    {
      it: 'PATCH merges too',
      send: 'PATCH open/record/kept',
      json: { extra: [] },
      status: 200,
      is: { success: 'updated' },
    },
    { it: '$inc adds', send: 'PATCH open/record/kept', json: { $inc: { number: 3 } }, status: 200 },
    { it: '$inc creates at 0', send: 'PATCH open/record/kept', json: { $inc: { fresh: -2 } }, status: 200 },
    { it: 'sums', send: 'GET open/record/kept', status: 200, gives: { number: 5, fresh: -2, extra: [] } },
    {
      it: '$inc of a text',
      send: 'PATCH open/record/kept',
      json: { $inc: { text: 1 } },
      status: 400,
      error: 'BadRequestError',
    },
    { it: '$inc by a text', send: 'PATCH open/record/kept', json: { $inc: { number: '1' } }, status: 400 },
    { it: 'the same id', send: 'PATCH open/record/kept', json: { id: 'kept' }, status: 200 },
    { it: 'another id', send: 'PATCH open/record/kept', json: { id: 'other' }, status: 400, error: 'BadRequestError' },
    {
      it: 'updating what is not there',
      send: 'PATCH open/record/absent',
      json: { a: 1 },
      status: 404,
      error: 'NotFoundError',
    },
    { it: 'creates nothing', send: 'GET open/record/absent', status: 404, error: 'NotFoundError' },
    { it: 'delete', send: 'DELETE open/record/kept', status: 200, is: { success: 'deleted' } },
    { it: 'deleted', send: 'GET open/record/kept', status: 404, error: 'NotFoundError' },
    { it: 'deleting again', send: 'DELETE open/record/kept', status: 404, error: 'NotFoundError' },
    {
      it: 'a record without a token',
      send: 'PUT open/record/t',
      json: {},
      csrf: false,
      status: 403,
      error: 'CsrfError',
    },
    {
      it: 'POST to a record without a token',
      send: 'POST open/record/bare',
      json: {},
      csrf: false,
      status: 403,
      error: 'CsrfError',
    },
    {
      it: 'PATCH without a token',
      send: 'PATCH open/record/bare',
      json: {},
      csrf: false,
      status: 403,
      error: 'CsrfError',
    },
    { it: 'DELETE without a token', send: 'DELETE open/record/bare', csrf: false, status: 403, error: 'CsrfError' },
    {
      it: 'POST to the app without a token',
      send: 'POST open',
      json: {},
      csrf: false,
      status: 403,
      error: 'CsrfError',
    },
    {
      it: 'method overrides are ignored',
      send: 'GET open/record/bare',
      headers: { 'x-http-method-override': 'DELETE' },
      status: 200,
      is: { id: 'bare' },
    },
    {
      it: 'DELETE by parameter is ignored',
      send: 'GET open/record/bare?_method=DELETE',
      status: 200,
      is: { id: 'bare' },
    },
  ]);

  test('generated ids are digits, and the path is the address', async () => {
    const made = await stage.send<{ path: string; id: string; success: string }>({ send: 'POST open', json: { a: 1 } });
    const { id } = made.json;
    expect(made.status).toBe(201);
    expect(id).toMatch(/^[0-9]+$/);
    expect(made.json).toEqual({ path: `${root()}/open/record/${id}`, id, success: 'created' });
    expect(made.headers.location).toBe(made.json.path);
    expect((await stage.send({ send: `GET ${new URL(made.json.path).pathname}` })).json).toEqual({ a: 1, id });
  });

  test('ETag and If-Match', async () => {
    await stage.put('open', 'tagged', { n: 1 });
    const first = await stage.send({ send: 'GET open/record/tagged' });
    const etag = String(first.headers.etag);
    const change = (tag: string) =>
      stage.send({ send: 'PATCH open/record/tagged', json: { n: 2 }, headers: { 'if-match': tag } });
    const remove = (tag: string) => stage.send({ send: 'DELETE open/record/tagged', headers: { 'if-match': tag } });
    expect((await stage.send({ send: 'GET open/record/tagged', headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await change('"other"')).status).toBe(412);
    expect((await change(etag)).status).toBe(200);
    const second = await stage.send({ send: 'GET open/record/tagged' });
    expect(second.headers.etag).not.toBe(etag);
    expect((await change(etag)).json).toMatchObject({ error: { status: 412, name: 'PreconditionFailedError' } });
    expect((await remove(etag)).status).toBe(412);
    expect((await remove(String(second.headers.etag))).status).toBe(200);
  });

  test('an etag never repeats for other content under the same id', async () => {
    await stage.put('open', 'again', { n: 1 });
    const first = await stage.send({ send: 'GET open/record/again' });
    await stage.send({ send: 'DELETE open/record/again' });
    await stage.put('open', 'again', { n: 2 });
    const second = await stage.send({
      send: 'GET open/record/again',
      headers: { 'if-none-match': String(first.headers.etag) },
    });
    expect(second.status).toBe(200);
    expect(second.json).toEqual({ n: 2, id: 'again' });
  });

  test('50 concurrent $inc count 50', async () => {
    await stage.put('open', 'sum');
    const one = () => stage.send({ send: 'PATCH open/record/sum', json: { $inc: { total: 1 } } });
    const answers = await Promise.all(Array.from({ length: 50 }, one));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(await stage.items('open', 'sum')).toEqual({ total: 50, id: 'sum' });
  });

  test('50 concurrent creations of one id make one', async () => {
    const one = (_: unknown, n: number) => stage.send({ send: 'PUT open/record/race', json: { n } });
    const answers = await Promise.all(Array.from({ length: 50 }, one));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
  });
});

describe('a record with a block', () => {
  table([
    {
      it: 'computed elements and on_save run',
      send: 'PUT open/record/c1',
      json: { block: 'counted', amount: 4 },
      status: 201,
    },
    {
      it: 'and are stored',
      send: 'GET open/record/c1',
      status: 200,
      is: { block: 'counted', amount: 4, double: 8, born: 'at 4', saves: 1, id: 'c1' },
    },
    { it: 'by PATCH', send: 'PATCH open/record/c1', json: { amount: 5 }, status: 200 },
    {
      it: 'COMPUTED_ON_CREATION stays',
      send: 'GET open/record/c1',
      status: 200,
      is: { block: 'counted', amount: 5, double: 10, born: 'at 4', saves: 2, id: 'c1' },
    },
    { it: 'an unknown block', send: 'POST open', json: { block: 'absent' }, status: 400, error: 'BadRequestError' },
    { it: 'a block that is no text', send: 'POST open', json: { block: 5 }, status: 400, error: 'BadRequestError' },
    {
      it: 'setting an unknown block',
      send: 'PATCH open/record/c1',
      json: { block: 'absent' },
      status: 400,
      error: 'BadRequestError',
    },
  ]);
});
