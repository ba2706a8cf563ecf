import { beforeAll, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { expectAnswer, runTable } from '../../support/table';

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

export function wrongBodies(stage: Stage): void {
  describe('bodies', () => {
    beforeAll(() => stage.put('open', 'stays', { a: 0 }));

    describe.each(operations)('operation $name', ({ send, wrong }) => {
      const common = { as: 'mona', headers: { 'content-type': 'application/json' } };
      runTable(stage, [
        ...malformed.map((body) => ({
          title: `the malformed body ${JSON.stringify(body)} is refused`,
          send,
          ...common,
          body,
          status: 400,
        })),
        ...wrong.map((json) => ({
          title: `the body ${JSON.stringify(json)} of a wrong shape is refused`,
          send,
          ...common,
          json,
          status: 400,
        })),
        {
          title: 'a body of plain text is refused',
          send,
          as: 'mona',
          headers: { 'content-type': 'text/plain' },
          body: '{}',
          status: 415,
          error: 'UnsupportedMediaTypeError',
        },
        {
          title: 'a body that is too large is refused',
          send,
          ...common,
          json: { a: 'x'.repeat(1_200_000) },
          status: 413,
        },
        {
          title: 'a body that is no gzip but says so is refused',
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

    test('a refused body writes nothing', async () => {
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

    test('deep and wide bodies do not harm the server', async () => {
      const deep = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const put = (body: string) =>
        stage.send({ send: 'POST open', headers: { 'content-type': 'application/json' }, body });
      expect((await put(deep(20))).status).toBe(201);
      expect([201, 400, 413]).toContain((await put(deep(100_000))).status);
      const wide = await put(`{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":0`).join()}}`);
      expectAnswer(wide, { status: 400, error: 'BadRequestError', has: ['at most 1000 items'] });
      expect((await stage.send({ send: 'GET open' })).status).toBe(200);
    });
  });
}
