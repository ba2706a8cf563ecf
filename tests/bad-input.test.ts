import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { expectAnswer, runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);

/** Every operation that takes a body, and one that does not. */
const operations: { name: string; send: string; wrong: unknown[] }[] = [
  { name: '2', send: 'POST open/blocks/values/number', wrong: [[], 'x', 5, null, true] },
  { name: '5', send: 'POST open', wrong: [[], 'x', 5, null, true] },
  { name: '6', send: 'POST open/records', wrong: [{}, 'x', 5, null, [null], ['x'], [[]]] },
  { name: '7', send: 'PUT open/record/never', wrong: [[], 'x', 5, null, true] },
  { name: '10', send: 'PATCH open/record/stays', wrong: [[], 'x', 5, null, true] },
  { name: '10 by POST', send: 'POST open/record/stays', wrong: [[], 'x', 5, null, true] },
  { name: '11', send: 'POST search/search', wrong: [[], 'x', 5, null, true] },
  { name: '12', send: 'POST open/refresh', wrong: [[], 'x', 5, null, true] },
];
const malformed = [
  '{',
  '{"a":1',
  '{a:1}',
  "{'a':1}",
  '{"a":1}}',
  '[1,]',
  'undefined',
  '\u0000',
  '{"a":"\ud800"',
  '<a/>',
];

describe('bodies', () => {
  beforeAll(() => stage.put('open', 'stays', { a: 0 }));

  describe.each(operations)('operation $name', ({ send, wrong }) => {
    const common = { as: 'mona', headers: { 'content-type': 'application/json' } };
    table([
      ...malformed.map((body) => ({ it: `malformed ${JSON.stringify(body)}`, send, ...common, body, status: 400 })),
      ...wrong.map((json) => ({ it: `wrong shape ${JSON.stringify(json)}`, send, ...common, json, status: 400 })),
      {
        it: 'text',
        send,
        as: 'mona',
        headers: { 'content-type': 'text/plain' },
        body: '{}',
        status: 415,
        error: 'UnsupportedMediaTypeError',
      },
      { it: 'too large', send, ...common, json: { a: 'x'.repeat(1_200_000) }, status: 413 },
      {
        it: 'no gzip',
        send,
        as: 'mona',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: '{}',
        status: 400,
        error: 'BadRequestError',
      },
    ]);
  });

  test('errors of a body have the form of all errors', async () => {
    for (const { send } of operations) {
      const headers = { 'content-type': 'application/json' };
      expectAnswer(await stage.send({ as: 'mona', send, headers, body: '{' }), {
        status: 400,
        gives: { data: null, error: { status: 400, name: expect.any(String) } },
      });
      expectAnswer(await stage.send({ as: 'mona', send, headers, body: `"${'x'.repeat(1_200_000)}"` }), {
        status: 413,
        gives: { data: null, error: { status: 413 } },
      });
    }
  });

  test('nothing was written', async () => {
    expect((await stage.send({ send: 'GET open/records' })).json).toMatchObject([
      { id: 'stays', items: { a: 0, id: 'stays' } },
    ]);
  });

  test('items named like prototypes are data', async () => {
    const body = '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}';
    const made = await stage.send({
      send: 'PUT open/record/proto',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([201, 400]).toContain(made.status);
    expect(await stage.host.run(() => ({}) as { polluted?: boolean })).toEqual({});
    if (made.status === 201)
      expect((await stage.send({ send: 'GET open/record/proto' })).text).toContain('"__proto__"');
  });

  test('deep and wide bodies', async () => {
    const deep = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const put = (body: string) =>
      stage.send({ send: 'POST open', headers: { 'content-type': 'application/json' }, body });
    expect((await put(deep(20))).status).toBe(201);
    expect([201, 400, 413]).toContain((await put(deep(100_000))).status);
    const wide = await put(`{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":0`).join()}}`);
    expectAnswer(wide, { status: 400, error: 'BadRequestError', has: ['at most 10000 items'] });
    expect((await stage.send({ send: 'GET open' })).status).toBe(200);
  });
});

describe('forms', () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `f${n}`);
  const urlencoded = (count: number) =>
    names(count)
      .map((name) => `${name}=1`)
      .join('&');
  const multipart = (count: number) => {
    const parts = names(count).map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`);
    return `${parts.join('')}--b--\r\n`;
  };
  const row = (it: string, type: string, body: string, status: number): Row => ({
    it,
    send: 'POST flow/blocks/item',
    accept: 'application/json',
    headers: { 'content-type': type },
    body,
    status,
    ...(status === 400 && { error: 'BadRequestError' }),
  });
  const form = 'multipart/form-data; boundary=b';
  const encoded = 'application/x-www-form-urlencoded';
  table([
    row('a multipart form of many fields', form, multipart(900), 200),
    { ...row('of too many', form, multipart(14_000), 400), has: ['more than 1000 fields'] },
    { ...row('as a page', form, multipart(14_000), 400), accept: 'text/html', error: undefined, has: ['1000 fields'] },
    row('that is none', form, 'nothing', 400),
    row('without a boundary', 'multipart/form-data', multipart(1), 400),
    row('that ends too soon', form, multipart(3).slice(0, 100), 400),
    row('an encoded form of many fields', encoded, urlencoded(900), 200),
    { ...row('of too many', encoded, urlencoded(100_000), 400), has: ['fewer than 1000 fields'] },
    row('of one name again and again', encoded, 'a=1&'.repeat(100_000), 400),
  ]);
});

describe('credentials and tokens, for every operation', () => {
  const all = [
    'GET open',
    'GET open/blocks/values/number',
    'POST open/blocks/values/number',
    'GET open/record/stays',
    'HEAD open/record/stays',
    'GET open/records',
    'POST open',
    'POST open/records',
    'PUT open/record/never',
    'DELETE open/record/stays',
    'DELETE open/records',
    'PATCH open/record/stays',
    'POST open/record/stays',
    'POST open/search',
    'POST open/refresh',
    'GET open/blocks/note',
    'POST open/blocks/note',
  ];
  const safe = /^(GET|HEAD) /;
  table(
    all.flatMap((send): Row[] => {
      const json = send === 'POST open/records' ? [] : {};
      const body = safe.test(send) || send.startsWith('DELETE') ? {} : { json };
      const invalid = { send, ...body, csrf: false, status: 401, headers: { authorization: 'Bearer garbage' } };
      const rows: Row[] = [
        {
          it: 'an invalid credential',
          ...invalid,
          error: send.startsWith('HEAD') ? undefined : 'UnauthorizedError',
          answers: { 'www-authenticate': /^Basic realm="/ },
        },
      ];
      if (safe.test(send)) return rows;
      return [
        ...rows,
        { it: 'no token', send, ...body, csrf: false, status: 403, error: 'CsrfError' },
        {
          it: 'a wrong token',
          send,
          ...body,
          csrf: false,
          headers: { 'x-csrf-token': 'wrong' },
          status: 403,
          error: 'CsrfError',
        },
      ];
    }),
  );

  test("another one's token", async () => {
    const headers = { 'x-csrf-token': await stage.csrf('eric') };
    for (const send of all.filter((line) => !safe.test(line))) {
      expect((await stage.send({ as: 'una', send, csrf: false, headers, json: {} })).status, send).toBe(403);
      expect((await stage.send({ send, csrf: false, headers, json: {} })).status, send).toBe(403);
    }
    expect(await stage.items('open', 'stays')).toEqual({ a: 0, id: 'stays' });
  });
});

describe('raw requests', () => {
  /** Sends bytes as they are; the status line's code. */
  const raw = (bytes: string) =>
    new Promise<number>((resolve, reject) => {
      const { port } = new URL(stage.host.url);
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
    });
  const get = (target: string) =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nConnection: close\r\n\r\n`;
  const cases: [string, string, number[]][] = [
    ['two slashes at the start', get('//tutorial/news'), [400, 404]],
    ['an absolute address', get('http://evil.example/site/@@apps/open'), [200, 400, 404]],
    ['a backslash', get('/site/@@apps\\open'), [400, 404]],
    ['a path of dots', get('/site/@@apps/../../../../etc/passwd'), [400, 404]],
    ['a very long path', get(`/site/@@apps/open/record/${'x'.repeat(12_000)}`), [400, 414, 431]],
    ['an unknown method', get('/site/@@apps/open').replace('GET', 'BREW'), [400, 405]],
    ['TRACE', get('/site/@@apps/open').replace('GET', 'TRACE'), [405]],
    ['a query of brackets', get(`/site/@@apps/open/records?${'a[b]'.repeat(200)}=1`), [200, 400]],
    ['a query that is no UTF-8', get('/site/@@apps/open/records?limit=%FF'), [400]],
  ];
  test.each(cases)('%s', async (_name, bytes, statuses) => {
    expect(statuses).toContain(await raw(bytes));
    expect((await stage.send({ send: 'GET open' })).status).toBe(200);
  });
});
