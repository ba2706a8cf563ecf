import { beforeAll, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { type Entry, requestsTo } from './requests';

export function listing(stage: Stage): void {
  const { root, clear, post } = requestsTo(stage);

  describe('operation 4: listing', () => {
    beforeAll(async () => {
      await clear('open');
      await post('open', [
        { id: 'c', n: 1 },
        { id: 'a', n: 2, more: 'x' },
        { id: '/b/é', n: null },
      ]);
    });

    test('a listing has path, id and items, in order of creation', async () => {
      const { status, json } = await stage.send({ send: 'GET open/records' });
      expect(status).toBe(200);
      expect(json).toEqual([
        { path: `${root()}/open/record/c`, id: 'c', items: { n: 1, id: 'c' } },
        { path: `${root()}/open/record/a`, id: 'a', items: { n: 2, more: 'x', id: 'a' } },
        { path: `${root()}/open/record//b/%C3%A9`, id: '/b/é', items: { n: null, id: '/b/é' } },
      ]);
    });

    runTable(stage, [
      {
        title: 'a listing is JSON for a browser too',
        send: 'GET open/records',
        accept: 'text/html',
        status: 200,
        answers: { 'content-type': /json/ },
      },
      {
        title: 'HEAD of a listing has its type',
        send: 'HEAD open/records',
        status: 200,
        answers: { 'content-type': /json/ },
      },
      {
        title: 'a limit shortens the listing and links to the next page',
        send: 'GET open/records?limit=2',
        status: 200,
        gives: [{ id: 'c' }, { id: 'a' }],
        answers: { link: /rel="next"/ },
      },
      {
        title: 'the last page links to no other',
        send: 'GET open/records?limit=3',
        status: 200,
        answers: { link: null },
      },
      {
        title: 'an offset skips records',
        send: 'GET open/records?offset=1',
        status: 200,
        gives: [{ id: 'a' }, { id: '/b/é' }],
      },
      {
        title: 'limit and offset work together',
        send: 'GET open/records?limit=1&offset=1',
        status: 200,
        gives: [{ id: 'a' }],
      },
      { title: 'an offset beyond the end lists nothing', send: 'GET open/records?offset=9', status: 200, is: [] },
      {
        title: 'a limit that is no number is refused',
        send: 'GET open/records?limit=x',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a negative limit is refused',
        send: 'GET open/records?limit=-1',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'two limits are refused',
        send: 'GET open/records?limit=1&limit=2',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a negative offset is refused',
        send: 'GET open/records?offset=-1',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a cursor that the server has not issued is refused',
        send: 'GET open/records?limit=1&cursor=%00',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a cursor beyond the ids of a table is refused',
        send: 'GET open/records?limit=1&cursor=czIxNDc0ODM2NDg',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a listing is not offered as a picture',
        send: 'GET open/records',
        accept: 'image/png',
        status: 406,
        error: 'NotAcceptableError',
      },
      {
        title: 'PUT of the records is not allowed',
        send: 'PUT open/records',
        json: [],
        status: 405,
        answers: { allow: /GET.*POST.*DELETE/ },
      },
      { title: 'the listing of an empty app is empty', send: 'GET linked/records', status: 200, is: [] },
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

    test('a plain link gives the same table to a browser, as a file', async () => {
      const { text } = await stage.send({ send: 'GET open/records', accept: 'text/csv' });
      const link = await stage.send({ send: 'GET open/records.csv', accept: 'text/html,*/*;q=0.8' });
      expect(link).toMatchObject({ status: 200, text: `\ufeff${text}` });
      expect(link.headers['content-type']).toBe('text/csv; charset=utf-8');
      expect(link.headers['content-disposition']).toBe('attachment; filename="open-records.csv"');
      const page = await stage.send({ send: 'GET open/records.csv?limit=1&offset=1' });
      expect(page.text.split('\r\n')).toEqual(['\ufeffid,n,more', 'a,2,x', '']);
      expect(page.headers.link).toContain('/open/records.csv?limit=1&cursor=');
      const rest = await stage.send({ send: 'GET open/records.csv?offset=2' });
      expect(rest.text.split('\r\n').map((row) => row.split(',')[0])).toEqual(['\ufeffid', '/b/é', '']);
    });

    test('the result of a search is a table by a plain link', async () => {
      const names = encodeURIComponent(JSON.stringify({ one: 'c' }));
      const search = (query: string) => stage.send({ send: `GET open/search.csv?${query}`, accept: 'text/html' });
      const found = await search(
        `query=${encodeURIComponent('id==one or id=="a"')}&names=${names}&sort_index=id&reverse=true`,
      );
      expect(found).toMatchObject({ status: 200, text: '\ufeffid,n,more\r\nc,1,\r\na,2,x\r\n' });
      expect(found.headers['content-disposition']).toBe('attachment; filename="open-search.csv"');
      expect((await search('limit=1')).text).toBe('\ufeffid,n\r\nc,1\r\n');
    });

    runTable(stage, [
      {
        title: 'a table of records needs the right to see them',
        send: 'GET options/records.csv',
        accept: 'text/html',
        status: 401,
        has: ['Log in'],
      },
      {
        title: 'a table of a search needs the right to see records',
        as: 'una',
        send: 'GET options/search.csv',
        status: 403,
      },
      {
        title: 'a table of a wrong query is refused',
        send: 'GET open/search.csv?query=%28',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a table of a search with names that are no object is refused',
        send: 'GET open/search.csv?names=5',
        status: 400,
        has: ['a JSON object'],
      },
      {
        title: 'a table of a search with names that are no JSON is refused',
        send: 'GET open/search.csv?names={',
        status: 400,
        has: ['a JSON object'],
      },
      {
        title: 'a table with a wrong limit is refused',
        send: 'GET open/search.csv?limit=-1',
        status: 400,
        has: ['a whole number'],
      },
      {
        title: 'a table of records with a wrong limit is refused, and shown',
        send: 'GET open/records.csv?limit=abc',
        accept: 'text/html',
        status: 400,
        answers: { 'content-disposition': null },
      },
      {
        title: 'a table can only be read',
        send: 'POST open/records.csv',
        json: {},
        status: 405,
        answers: { allow: /^GET, HEAD/ },
      },
      { title: 'a longer path of a table is not found', send: 'GET open/records.csv/x', status: 404 },
    ]);

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

    test('a table has 200 columns of other items; the rest of a record is JSON in one cell', async () => {
      const wide = (name: string) =>
        Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`${name}${index}`, index]));
      const made = await post('open', [
        { id: 'wide', ...wide('n') },
        { id: 'other', ...wide('m') },
        { id: 'formula', n1: 'a;=1', n2: '＝1', n3: 'x\n@y' },
      ]);
      expect(made.json).toEqual({ total: 3, success: 'created' });
      for (const send of ['GET open/records.csv', 'GET open/search.csv']) {
        const { text } = await stage.send({ send });
        const [head = '', ...rows] = text.trimEnd().split('\r\n');
        const columns = head.split(',');
        expect([columns.length, columns[0], columns[201]]).toEqual([202, '\ufeffid', '(more)']);
        const row = (id: string) => rows.find((one) => one.startsWith(`${id},`)) ?? '';
        expect(row('wide')).toMatch(/,"\{.*""n899"":899\}"$/);
        expect(row('other')).toMatch(/^other,+"\{""m0"":0,.*""m899"":899\}"$/);
        expect(row('c')).toMatch(/,$/);
        expect(row('formula')).toContain(",a;'=1,'＝1,\"x\n'@y\",");
      }
      for (const id of ['wide', 'other', 'formula']) await stage.send({ as: 'mona', send: `DELETE open/record/${id}` });
    });
  });
}
