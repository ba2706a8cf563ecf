import { beforeAll, describe, expect, test } from 'vitest';
import type { Row, RowRequest, Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function searching(stage: Stage): void {
  const { root, clear, post } = requestsTo(stage);
  const search = (json: unknown, rest: Partial<Row> = {}): RowRequest => ({
    send: 'POST search/search',
    json,
    ...rest,
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
    test('a search gives path, id and items', async () => {
      const { json } = await stage.send(search({ query: 'total == 2' }));
      expect(json).toEqual([{ path: `${root()}/search/record/two`, id: 'two', items: { total: 2, id: 'two' } }]);
    });

    runTable(stage, [
      {
        title: 'a search without a query finds all',
        ...search({}),
        status: 200,
        gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }],
      },
      {
        title: 'a search without a body finds all',
        send: 'POST search/search',
        status: 200,
        gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }],
      },
      {
        title: 'an empty query finds all',
        ...search({ query: '' }),
        status: 200,
        gives: [{ id: 'one' }, { id: 'two' }, { id: 'three' }],
      },
      {
        title: 'a search sorts by an index, in reverse',
        ...search({ sort_index: 'total', reverse: true }),
        status: 200,
        gives: [{ id: 'three' }, { id: 'two' }, { id: 'one' }],
      },
      {
        title: 'a search gives one page of its result',
        ...search({ sort_index: 'total', limit: 1, offset: 1 }),
        status: 200,
        gives: [{ id: 'two' }],
      },
      {
        title: 'a query uses bound names',
        ...search({ query: 'total > least', names: { least: 1 } }),
        status: 200,
        gives: [{ id: 'two' }, { id: 'three' }],
      },
      {
        title: 'a search counts its result with with_total',
        ...search({ limit: 1, with_total: true }),
        status: 200,
        gives: [{ id: 'one' }],
        answers: { 'x-total-count': '3' },
      },
      {
        title: 'a search does not count otherwise',
        ...search({ limit: 1 }),
        status: 200,
        answers: { 'x-total-count': null },
      },
      {
        title: 'an unknown key is refused',
        ...search({ sort: 'total' }),
        status: 400,
        error: 'BadRequestError',
        has: ['sort'],
      },
      { title: 'a query that is no text is refused', ...search({ query: 5 }), status: 400, error: 'BadRequestError' },
      {
        title: 'a reverse that is no boolean is refused',
        ...search({ reverse: 'yes' }),
        status: 400,
        error: 'BadRequestError',
      },
      { title: 'a limit over the cap is refused', ...search({ limit: 10_001 }), status: 400, error: 'BadRequestError' },
      { title: 'a negative offset is refused', ...search({ offset: -1 }), status: 400, error: 'BadRequestError' },
      { title: 'a list of bound names is refused', ...search({ names: [] }), status: 400, error: 'BadRequestError' },
      {
        title: 'a query of an unknown index is refused',
        ...search({ query: 'absent == 1' }),
        status: 400,
        error: 'BadRequestError',
        has: ['absent'],
      },
      {
        title: 'sorting by an unknown index is refused',
        ...search({ sort_index: 'absent' }),
        status: 400,
        error: 'BadRequestError',
        has: ['absent'],
      },
      { title: 'a list is refused as a search', ...search([]), status: 400, error: 'BadRequestError' },
      {
        title: 'PUT of a search is not allowed',
        send: 'PUT search/search',
        status: 405,
        answers: { allow: 'GET, POST, HEAD, OPTIONS' },
      },
      { title: 'a search needs a CSRF token', ...search({}, { csrf: false }), status: 403, error: 'CsrfError' },
    ]);
  });

  describe('operation 11 by a plain link', () => {
    const all = [{ id: 'one' }, { id: 'two' }, { id: 'three' }];
    const query = (text: string) => `query=${encodeURIComponent(text)}`;
    const names = encodeURIComponent('{"least": 1}');

    test.each([
      ['', {}],
      [query('total == 2'), { query: 'total == 2' }],
      ['sort_index=total&reverse=true', { sort_index: 'total', reverse: true }],
      ['sort_index=total&reverse', { sort_index: 'total', reverse: true }],
      ['sort_index=total&limit=1&offset=1', { sort_index: 'total', limit: 1, offset: 1 }],
      [`${query('total > least')}&names=${names}`, { query: 'total > least', names: { least: 1 } }],
      ['limit=1&with_total=true', { limit: 1, with_total: true }],
      ['limit=1&with_total=false', { limit: 1 }],
    ])('GET search?%s is answered as POST with %j', async (parameters, json) => {
      const [linked, posted] = await Promise.all([
        stage.send({ send: `GET search/search?${parameters}` }),
        stage.send(search(json)),
      ]);
      expect(linked).toMatchObject({ status: 200, text: posted.text });
      for (const name of ['content-type', 'cache-control', 'vary', 'x-total-count', 'content-length', 'etag'])
        expect(linked.headers[name], name).toBe(posted.headers[name]);
    });

    runTable(stage, [
      { title: 'a link to a search needs no CSRF token', send: 'GET search/search', status: 200, gives: all },
      {
        title: 'HEAD of a search counts',
        send: 'HEAD search/search?with_total=true&limit=0',
        status: 200,
        answers: { 'x-total-count': '3' },
      },
      {
        title: 'a browser may follow the link',
        send: 'GET search/search?limit=1',
        accept: 'text/html',
        status: 200,
        gives: [{ id: 'one' }],
        answers: { 'content-type': /^application\/json/, 'content-disposition': null },
      },
      {
        title: 'it needs the right to see records',
        send: 'GET options/search',
        status: 401,
        error: 'UnauthorizedError',
      },
      {
        title: 'others than anonymous are forbidden to',
        as: 'una',
        send: 'GET options/search',
        status: 403,
        error: 'ForbiddenError',
      },
      ...[
        ['limit=-1', 'a whole number'],
        ['limit=10001', '10'],
        ['offset=x', 'a whole number'],
        ['limit', 'a whole number'],
        ['limit=1&limit=2', 'a whole number'],
        ['query', 'a string'],
        ['reverse=yes', 'true or false'],
        ['names=[]', 'a JSON object'],
        ['sort_index=absent', 'absent'],
        [query('absent == 1'), 'absent'],
        ['querry=x', 'did you mean \\"query\\"?'],
      ].map(([parameters = '', text = '']) => ({
        title: `a wrong link is refused: ${text}`,
        send: `GET search/search?${parameters}`,
        status: 400,
        error: 'BadRequestError',
        has: [text],
      })),
    ]);
  });

  describe('operation 12: re-indexing', () => {
    const indexes = ['body', 'flag', 'id', 'mixed', 'tags', 'title', 'total'];
    const refresh = { as: 'mona', send: 'POST search/refresh' };
    runTable(stage, [
      { title: 're-indexing lists the indexes, sorted', ...refresh, status: 200, is: { success: 'refresh', indexes } },
      {
        title: 're-indexing can rebuild',
        ...refresh,
        json: { rebuild: true },
        status: 200,
        is: { success: 'refresh', indexes },
      },
      {
        title: 'searching works after it',
        send: 'POST search/search',
        json: { query: 'total == 2' },
        status: 200,
        gives: [{ id: 'two' }],
      },
      {
        title: 'an app without declarations has the index of ids alone',
        as: 'mona',
        send: 'POST linked/refresh',
        status: 200,
        is: { success: 'refresh', indexes: ['id'] },
      },
      {
        title: 'a wrong value is refused',
        ...refresh,
        json: { rebuild: 'yes' },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an unknown key of re-indexing is refused',
        ...refresh,
        json: { force: true },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 're-indexing needs the manage permission',
        as: 'eric',
        send: 'POST search/refresh',
        status: 403,
        error: 'ForbiddenError',
      },
      { title: 're-indexing needs a credential', send: 'POST search/refresh', status: 401, error: 'UnauthorizedError' },
      { title: 're-indexing by a bearer token needs no CSRF token', ...refresh, csrf: false, status: 200 },
      {
        title: 'GET of re-indexing is not allowed',
        as: 'mona',
        send: 'GET search/refresh',
        status: 405,
        answers: { allow: /POST/ },
      },
    ]);
  });
}
