import { beforeEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function creatingMany(stage: Stage): void {
  const { clear, post, list } = requestsTo(stage);

  describe('operation 6: creating many', () => {
    beforeEach(() => clear('open'));

    const cases: [string, unknown, number, string[]][] = [
      ['several records', [{ id: 'x' }, { id: 'y' }], 201, ['x', 'y']],
      ['no record', [], 201, []],
      ['one that is no object', [{ id: 'x' }, 5], 400, []],
      ['a list in the list', [{ id: 'x' }, []], 400, []],
      ['null in the list', [{ id: 'x' }, null], 400, []],
      ['an object instead of a list', { id: 'x' }, 400, []],
      ['an id twice', [{ id: 'x' }, { id: 'x' }], 409, []],
      ['a bad id', [{ id: 'x' }, { id: '' }], 400, []],
      ['an id that is no text', [{ id: 'x' }, { id: {} }], 400, []],
      ['an unknown block', [{ id: 'x' }, { id: 'y', block: 'absent' }], 400, []],
    ];
    test.each(cases)('a body with %s', async (_name, body, status, left) => {
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

    test('NDJSON may be larger than a JSON body', async () => {
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

    test.each<[what: string, third: unknown, says: RegExp]>([
      ['an id that is too long', { id: 'x'.repeat(300) }, /^Record 3: .*longer than 255.*Nothing was stored\.$/],
      ['an id that is taken', { id: 'taken' }, /^Record 3: .*taken.*Nothing was stored\.$/],
      ['an entry that is none', 5, /^Entry 3 of the array/],
    ])('without a block too, a record is named: %s', async (_what, third, says) => {
      await stage.put('open', 'taken');
      const refused = await post('open', [{ n: 1 }, { n: 2 }, third, { n: 4 }]);
      const error = { message: expect.stringMatching(says), details: { record: 3 } };
      expect(refused.json).toMatchObject({ error });
      const lines = await ndjson(['{"n":1}', '', '{"n":2}', JSON.stringify(third)].join('\n'));
      expect(lines.json).toMatchObject({ error: { details: { line: 4 } } });
      expect(await list('open')).toEqual(['taken']);
    });

    test('a refused record of NDJSON is named by its line', async () => {
      const good = JSON.stringify({ block: 'counted', amount: 1 });
      const { status, json } = await ndjson(`\n${good}\n\n${JSON.stringify({ block: 'counted', amount: 'x' })}\n`);
      expect([status, json]).toMatchObject([
        422,
        {
          error: { details: { record: 2, line: 4, errors: [{ path: ['amount'], message: 'Please enter a number.' }] } },
        },
      ]);
      expect(await list('open')).toEqual([]);
    });

    test('who may only add records sends a thousand at once at most, and others any number', async () => {
      const lines = (count: number) => '{"text":"x"}\n'.repeat(count);
      const sent = (as: string | undefined, app: string, body: object) =>
        stage.send({ ...(as && { as }), send: `POST ${app}/records`, ...body });
      const headers = { 'content-type': 'application/x-ndjson' };
      const array = (count: number) => ({ json: Array.from({ length: count }, () => ({ text: 'x' })) });
      for (const body of [array(1_001), { body: lines(1_001), headers }]) {
        const { status, json } = await sent(undefined, 'all-submitter', body);
        expect([status, json]).toMatchObject([
          413,
          { error: { name: 'PayloadTooLargeError', message: expect.stringContaining('at most 1000 at once') } },
        ]);
      }
      expect(await list('all-submitter')).toEqual([]);
      for (const body of [array(1_000), { body: lines(1_000), headers }])
        expect((await sent(undefined, 'all-submitter', body)).json).toEqual({ total: 1_000, success: 'created' });
      expect((await sent('mona', 'all-submitter', array(1_001))).status).toBe(201);
      await clear('all-submitter');
    });

    test('a broken line of NDJSON makes nothing', async () => {
      const { status, json } = await ndjson('{"id":"a"}\n{"id":\n{"id":"c"}\n');
      expect([status, json]).toMatchObject([400, { error: { message: expect.stringContaining('2') } }]);
      expect(await list('open')).toEqual([]);
    });

    runTable(stage, [
      {
        title: 'creating many needs a CSRF token',
        send: 'POST open/records',
        json: [],
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'a body of plain text is refused',
        send: 'POST open/records',
        body: 'a,b',
        headers: { 'content-type': 'text/plain' },
        status: 415,
        error: 'UnsupportedMediaTypeError',
      },
      {
        title: 'a form is refused',
        send: 'POST open/records',
        form: { a: 'b' },
        status: 415,
        error: 'UnsupportedMediaTypeError',
      },
      {
        title: 'compressed NDJSON is refused',
        send: 'POST open/records',
        body: '{}',
        headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
        status: 415,
        error: 'UnsupportedMediaTypeError',
      },
    ]);
  });
}
