import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
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

describe('numbers that cannot be held', () => {
  const json = { 'content-type': 'application/json' };
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const refused: [number: string, shown: string][] = [
    ['1e400', '1e400'],
    ['-1E+309', '-1E+309'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['12345678901234567890', '12345678901234567890'],
    ['9'.repeat(400), `${'9'.repeat(40)}…`],
  ];
  const bodies: [name: string, send: string, frame: [string, string]][] = [
    ['2', 'POST open/blocks/values/number', ['{"a":', '}']],
    ['5', 'POST open', ['{"a":{"b":[', ']}}']],
    ['6', 'POST open/records', ['[{},{"a":', '}]']],
    ['7', 'PUT open/record/never', ['{"a":', '}']],
    ['10', 'PATCH open/record/stays', ['{"$inc":{"a":', '}}']],
    ['11', 'POST open/search', ['{"names":{"a":', '}}']],
  ];
  table([
    ...bodies.flatMap(([name, send, [before, after]]) =>
      refused.map(
        ([number, shown]): Row => ({
          it: `operation ${name}`,
          send,
          headers: json,
          body: before + number + after,
          status: 400,
          error: 'BadRequestError',
          has: [`The number ${shown} at position ${before.length} cannot be stored exactly`],
          gives: { error: { details: { position: before.length } } },
        }),
      ),
    ),
    {
      it: 'in NDJSON',
      send: 'POST open/records',
      headers: ndjson,
      body: '{"a":1}\n\n{"a":9007199254740993}\n',
      status: 400,
      error: 'BadRequestError',
      has: ['The number 9007199254740993 at position 5 of line 3 cannot be stored exactly'],
    },
    {
      it: 'others are kept',
      send: 'PUT open/record/numbers',
      headers: json,
      body: '{"list": [0.1, 1e21, 9007199254740991, 9007199254740992, 3.14159265358979323846, 1e-400, "9007199254740993"]}',
      status: 201,
    },
    {
      it: 'as they are',
      send: 'GET open/record/numbers',
      status: 200,
      is: {
        id: 'numbers',
        list: [0.1, 1e21, 9007199254740991, 9007199254740992, Math.PI, 0, '9007199254740993'],
      },
    },
    { it: 'away again', send: 'DELETE open/record/numbers', status: 200 },
  ]);
});

describe('what is not UTF-8', () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));
  const form = 'application/x-www-form-urlencoded';
  const multipart = 'multipart/form-data; boundary=b';
  const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n';
  const body = (send: string, type: string, text: string | Buffer, message: string): Row => ({
    it: type,
    send,
    headers: { 'content-type': type },
    body: text,
    status: 400,
    error: 'BadRequestError',
    has: [message],
  });
  const json = 'application/json';
  const address = (path: string, sequence: string): Row => ({
    it: 'an address',
    send: `GET ${path}`,
    status: 400,
    error: 'BadRequestError',
    has: ['The address is not UTF-8', sequence],
  });
  table([
    body('POST open', json, bytes('{"a":"', 0xff, '"}'), 'The body is not UTF-8: byte 6 is wrong'),
    body('PUT open/record/never', json, bytes('{"é":"', 0xc3, '"}'), 'byte 7 is wrong'),
    body('PATCH open/record/stays', json, bytes('{"a":"', 0xed, 0xa0, 0x80, '"}'), 'byte 6 is wrong'),
    body('POST open/records', json, bytes('[{"a":"', 0xc0, 0x80, '"}]'), 'byte 7 is wrong'),
    body('POST open/search', json, bytes('{"query":"', 0xf8, '"}'), 'byte 10 is wrong'),
    body('POST open/blocks/values/number', json, bytes('{"a":"', 0x80, '"}'), 'byte 6 is wrong'),
    body('POST open/records', 'application/x-ndjson', bytes('{"a":1}\n{"a":"', 0xff, '"}\n'), 'Line 2 is not UTF-8'),
    body('POST flow/blocks/item', form, bytes('name=', 0xff), 'The body is not UTF-8: byte 5 is wrong'),
    body('POST flow/blocks/item', form, 'name=%FF', 'The form is not UTF-8: %FF at position 5'),
    body('POST flow/blocks/item', form, 'name=a&b=%C3%A9%C3', '%C3%A9%C3 at position 9'),
    body('POST flow/blocks/item', form, '%FF=name', '%FF at position 0'),
    body('POST flow/blocks/item', multipart, bytes(part, 0xff, '\r\n--b--\r\n'), `byte ${part.length} is wrong`),
    address('open/records?limit=1&x=%FF', '%FF at position'),
    address('open/records?%C3=1', '%C3 at position'),
    address('open/blocks/values/number?x=%ED%A0%80', '%ED%A0%80 at position'),
    address('%FF', '%FF at position'),
    address('open/blocks/%C3%28', '%C3%28 at position'),
    address('/site/%FF/@@apps/open', '%FF at position'),
    address('/site/articles/%FF', '%FF at position'),
    address('/site/@@login?next=%FF', '%FF at position'),
    address('open/record/%FF', '%FF at position'),
    { it: 'a bare % is none of these', send: 'GET open/records?limit=1&x=100%', status: 200 },
    { it: 'nor is other text', send: 'GET open/blocks/values/number?x=%C3%A9+%F0%9F%8D%8E', status: 200 },
  ]);

  test('a compressed body is looked at, too', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const zipped = (text: Buffer) => stage.send({ send: 'POST open', headers, body: gzipSync(text) });
    expectAnswer(await zipped(bytes('{"a":"', 0xff, '"}')), { status: 400, error: 'BadRequestError', has: ['byte 6'] });
    expectAnswer(await zipped(bytes('{"a":1e999}')), { status: 400, error: 'BadRequestError', has: ['1e999'] });
    expectAnswer(await zipped(bytes('{"a":"é"}')), { status: 201 });
  });
});

describe("an element's own address", () => {
  const said = '%3Cimg%20src=x%20onerror=alert(1)%3E';
  const row = (element: string, type: string): Row => ({
    it: element,
    send: `GET debug/blocks/echo/${element}?said=${said}`,
    accept: 'text/html',
    status: 200,
    has: ['<img src=x onerror=alert(1)>'],
    answers: { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' },
  });
  table([
    row('html', 'text/html'),
    ...['name', 'notes', 'secret'].map((element) => row(element, 'text/plain')),
    { ...row('name', 'application/json'), it: 'name as JSON', accept: 'application/json' },
  ]);
});

describe("lines of the server's log", () => {
  const forged = '\n[2026-01-01] info: all is well\r\n\u001b[2J\u001b]0;title\u0007\u009b31m\u2028\u202e';
  const attempts: [name: string, send: (mark: string) => Parameters<Stage['send']>[0]][] = [
    ['log', (mark) => ({ send: `POST debug/blocks/echo/shout?said=${encodeURIComponent(mark)}`, json: {} })],
    ['the path of a failure', (mark) => ({ send: `GET debug/blocks/echo/shout?${encodeURIComponent(mark)}` })],
    [
      'an error mark',
      (mark) => ({ send: `GET debug/blocks/talk?mark=${encodeURIComponent(mark)}`, accept: 'text/html' }),
    ],
  ];
  test.each(attempts)('%s', async (name, send) => {
    const from = stage.host.output().length;
    await stage.send(send(`begin-${name}${forged}`));
    await new Promise((done) => setTimeout(done, 200));
    const written = stage.host.output().slice(from);
    // The colours of Strapi's own log.
    const plain = written.replace(/\u001b\[\d+m/g, '');
    expect(plain).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(plain.split('\n').filter((line) => line.startsWith('[2026-01-01]'))).toEqual([]);
    if (name === 'log') expect(plain).toContain('begin-log\\n[2026-01-01] info: all is well\\u000d\\n\\u001b[2J');
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
