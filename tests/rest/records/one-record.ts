import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function oneRecord(stage: Stage): void {
  const root = () => `${stage.host.url}/site/@@apps`;

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
    runTable(stage, [
      {
        title: 'a record is created from any JSON values',
        send: 'PUT open/record/kept',
        json: items,
        status: 201,
        gives: { id: 'kept', success: 'created' },
        answers: { location: /\/site\/@@apps\/open\/record\/kept$/ },
      },
      {
        title: 'a record has the values it was created from',
        send: 'GET open/record/kept',
        status: 200,
        is: { ...items, id: 'kept' },
      },
      {
        title: 'HEAD of a record has an ETag and a JSON type',
        send: 'HEAD open/record/kept',
        status: 200,
        answers: { etag: /"/, 'content-type': /json/ },
      },
      {
        title: 'a record with a taken id is a conflict',
        send: 'PUT open/record/kept',
        json: { text: 'other' },
        status: 409,
        error: 'ConflictError',
      },
      {
        title: 'a conflict overwrites nothing',
        send: 'GET open/record/kept',
        status: 200,
        is: { ...items, id: 'kept' },
      },
      {
        title: "the id of the path wins over the body's",
        send: 'PUT open/record/path',
        json: { id: 'body' },
        status: 201,
        gives: { id: 'path' },
      },
      {
        title: 'no record is created under the id of the body',
        send: 'GET open/record/body',
        status: 404,
        error: 'NotFoundError',
      },
      { title: 'a record may have no items', send: 'PUT open/record/bare', json: {}, status: 201 },
      { title: 'a record without items has its id', send: 'GET open/record/bare', status: 200, is: { id: 'bare' } },
      {
        title: 'a client may choose the id in operation 5',
        send: 'POST open',
        json: { id: 'own', a: 1 },
        status: 201,
        gives: { id: 'own' },
      },
      {
        title: 'a taken id is a conflict in operation 5',
        send: 'POST open',
        json: { id: 'own' },
        status: 409,
        error: 'ConflictError',
      },
      {
        title: 'names of object properties, with dots or a dollar sign are item names',
        send: 'PUT open/record/names',
        json: { toString: 1, 'a.b': 2, $c: 3 },
        status: 201,
      },
      {
        title: 'items with such names come back',
        send: 'GET open/record/names',
        status: 200,
        is: { toString: 1, 'a.b': 2, $c: 3, id: 'names' },
      },
      {
        title: 'POST of a record merges items',
        send: 'POST open/record/kept',
        json: { number: 2, none: 1, yes: null },
        status: 200,
        is: { success: 'updated' },
      },
      {
        title: 'merging keeps the other items and stores null',
        send: 'GET open/record/kept',
        status: 200,
        is: { ...items, number: 2, none: 1, yes: null, id: 'kept' },
      },
      {
        title: 'PATCH of a record merges items',
        send: 'PATCH open/record/kept',
        json: { extra: [] },
        status: 200,
        is: { success: 'updated' },
      },
      { title: '$inc adds to an item', send: 'PATCH open/record/kept', json: { $inc: { number: 3 } }, status: 200 },
      {
        title: '$inc creates a missing item at 0',
        send: 'PATCH open/record/kept',
        json: { $inc: { fresh: -2 } },
        status: 200,
      },
      {
        title: '$inc has stored the sums',
        send: 'GET open/record/kept',
        status: 200,
        gives: { number: 5, fresh: -2, extra: [] },
      },
      {
        title: '$inc of a text is refused',
        send: 'PATCH open/record/kept',
        json: { $inc: { text: 1 } },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: '$inc by a text is refused',
        send: 'PATCH open/record/kept',
        json: { $inc: { number: '1' } },
        status: 400,
      },
      { title: 'an update may repeat the id', send: 'PATCH open/record/kept', json: { id: 'kept' }, status: 200 },
      {
        title: 'an update may not change the id',
        send: 'PATCH open/record/kept',
        json: { id: 'other' },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'updating an unknown record is not found',
        send: 'PATCH open/record/absent',
        json: { a: 1 },
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'updating an unknown record creates none',
        send: 'GET open/record/absent',
        status: 404,
        error: 'NotFoundError',
      },
      { title: 'DELETE removes a record', send: 'DELETE open/record/kept', status: 200, is: { success: 'deleted' } },
      { title: 'a deleted record is not found', send: 'GET open/record/kept', status: 404, error: 'NotFoundError' },
      {
        title: 'deleting a record again is not found',
        send: 'DELETE open/record/kept',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'PUT of a record needs a CSRF token',
        send: 'PUT open/record/t',
        json: {},
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'POST of a record needs a CSRF token',
        send: 'POST open/record/bare',
        json: {},
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'PATCH of a record needs a CSRF token',
        send: 'PATCH open/record/bare',
        json: {},
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'DELETE of a record needs a CSRF token',
        send: 'DELETE open/record/bare',
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'POST of an app needs a CSRF token',
        send: 'POST open',
        json: {},
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'a header that overrides the method is ignored',
        send: 'GET open/record/bare',
        headers: { 'x-http-method-override': 'DELETE' },
        status: 200,
        is: { id: 'bare' },
      },
      {
        title: 'a parameter that overrides the method is unknown',
        send: 'GET open/record/bare?_method=DELETE',
        status: 400,
        error: 'BadRequestError',
      },
    ]);

    test('generated ids are digits, and the path is the address', async () => {
      const made = await stage.send<{ path: string; id: string; success: string }>({
        send: 'POST open',
        json: { a: 1 },
      });
      const { id } = made.json;
      expect(made.status).toBe(201);
      expect(id).toMatch(/^[0-9]+$/);
      expect(made.json).toEqual({ path: `${root()}/open/record/${id}`, id, success: 'created' });
      expect(made.headers.location).toBe(made.json.path);
      expect((await stage.send({ send: `GET ${new URL(made.json.path).pathname}` })).json).toEqual({ a: 1, id });
    });
  });
}
