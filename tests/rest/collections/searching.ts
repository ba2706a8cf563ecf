import { beforeAll, describe, expect, test } from 'vitest';
import type { Row, RowRequest, Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function searching(stage: Stage): void {
  const { root, clear, post } = requestsTo(stage);

  describe('operation 11: searching', () => {
    beforeAll(async () => {
      await clear('search');
      await post('search', [
        { id: 'one', total: 1 },
        { id: 'two', total: 2 },
        { id: 'three', total: 3 },
      ]);
    });
    const search = (json: unknown, rest: Partial<Row> = {}): RowRequest => ({
      send: 'POST search/search',
      json,
      ...rest,
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
      { title: 'GET of a search is not allowed', send: 'GET search/search', status: 405, answers: { allow: /POST/ } },
      { title: 'a search needs a CSRF token', ...search({}, { csrf: false }), status: 403, error: 'CsrfError' },
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
      { title: 're-indexing needs a CSRF token', ...refresh, csrf: false, status: 403, error: 'CsrfError' },
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
