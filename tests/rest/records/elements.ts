import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function elements(stage: Stage): void {
  describe('operation 2: elements', () => {
    runTable(stage, [
      {
        title: 'an object of logic is answered as JSON',
        send: 'GET open/blocks/values/info',
        status: 200,
        is: { title: 'Information', count: 3 },
      },
      {
        title: 'an element can be requested by POST',
        send: 'POST open/blocks/values/info',
        status: 200,
        is: { title: 'Information', count: 3 },
      },
      {
        title: 'a string of logic is answered as JSON',
        send: 'GET open/blocks/values/text',
        status: 200,
        is: '<b>bold</b>',
      },
      { title: 'a number of logic is answered as JSON', send: 'GET open/blocks/values/number', status: 200, is: 42 },
      {
        title: 'a list of logic is answered as JSON',
        send: 'GET open/blocks/values/list',
        status: 200,
        is: [1, 'two', null],
      },
      { title: 'null of logic is answered as JSON', send: 'GET open/blocks/values/nothing', status: 200, is: null },
      {
        title: 'undefined of logic is answered as null',
        send: 'GET open/blocks/values/missing',
        status: 200,
        is: null,
      },
      {
        title: 'an action without a result answers null',
        send: 'POST open/blocks/values/press',
        status: 200,
        is: null,
      },
      {
        title: 'logic sees the body of a POST',
        send: 'POST open/blocks/values/echo',
        json: { name: 'Ann' },
        status: 200,
        is: { method: 'POST', body: { name: 'Ann' }, name: 'Ann', other: 'none' },
      },
      {
        title: 'logic sees the query of a GET',
        send: 'GET open/blocks/values/echo?name=Bob',
        status: 200,
        gives: { name: 'Bob' },
      },
      {
        title: 'a list is refused as the body of an element',
        send: 'POST open/blocks/values/echo',
        json: [1],
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a function that is no element is not found',
        send: 'GET open/blocks/values/helper',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'on_save is not found as an element',
        send: 'POST open/blocks/values/on_save',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'on_display is not found as an element',
        send: 'GET open/blocks/values/on_display',
        status: 404,
        error: 'NotFoundError',
      },
      { title: 'constructor is not found as an element', send: 'GET open/blocks/values/constructor', status: 404 },
      {
        title: 'an element of an unknown block is not found',
        send: 'GET open/blocks/absent/info',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'failing logic is a LogicError without its words',
        send: 'GET open/blocks/values/fails',
        status: 500,
        error: 'LogicError',
        lacks: ['words'],
      },
      {
        title: 'PUT of an element is not allowed',
        send: 'PUT open/blocks/values/info',
        json: {},
        status: 405,
        answers: { allow: /GET/ },
      },
      {
        title: 'POST of an element needs a CSRF token',
        send: 'POST open/blocks/values/info',
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'a manager sees where logic failed',
        as: 'mona',
        send: 'GET open/blocks/values/fails',
        status: 500,
        error: 'LogicError',
        has: ['words of the logic', 'blocks/values.js'],
      },
      {
        title: 'a block as JSON is its definition',
        send: 'GET open/blocks/note',
        status: 200,
        answers: { 'cache-control': 'private, no-store', vary: /Authorization, Cookie/ },
        is: {
          elements: { title: { type: 'TEXT' }, total: { type: 'NUMBER', label: 'Total', index_type: 'field' } },
        },
      },
      { title: 'an unknown block is not found', send: 'GET open/blocks/absent', status: 404, error: 'NotFoundError' },
      {
        title: 'DELETE of a block is not allowed',
        send: 'DELETE open/blocks/note',
        status: 405,
        answers: { allow: /GET.*POST/ },
      },
    ]);
  });
}
