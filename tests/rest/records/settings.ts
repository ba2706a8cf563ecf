import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function settings(stage: Stage): void {
  describe('operation 1: settings', () => {
    runTable(stage, [
      {
        title: 'an app without a settings.yaml has no settings',
        send: 'GET plain',
        status: 200,
        is: { no_settings: {} },
      },
      {
        title: 'an app with an empty settings.yaml has no settings',
        send: 'GET empty',
        status: 200,
        is: { no_settings: {} },
      },
      { title: 'settings are the parsed file without its acl', send: 'GET open', status: 200, is: { debug: false } },
      {
        title: 'managers see the acl',
        as: 'mona',
        send: 'GET open',
        status: 200,
        is: { debug: false, acl: { rights: { editor: ['*'] } } },
      },
      {
        title: 'settings carry a CSRF token, and no cache keeps them',
        send: 'GET open',
        status: 200,
        answers: {
          'x-csrf-token': /^\S{20,}$/,
          'cache-control': /private.*no-store/,
          vary: /Authorization.*Cookie/i,
          'content-type': /^application\/json/,
        },
      },
      {
        title: 'settings are JSON for a browser too',
        send: 'GET open',
        accept: 'text/html',
        status: 200,
        is: { debug: false },
      },
      {
        title: 'HEAD of an app carries a CSRF token',
        send: 'HEAD open',
        status: 200,
        answers: { 'x-csrf-token': /./ },
      },
      {
        title: 'an address without a site means the default site',
        send: 'GET /@@apps/open',
        status: 200,
        is: { debug: false },
      },
      {
        title: 'the signs of @@apps may be encoded',
        send: 'GET /site/%40%40apps/open',
        status: 200,
        is: { debug: false },
      },
      { title: 'an unknown app is not found', send: 'GET nowhere', status: 404, error: 'NotFoundError' },
      {
        title: 'PUT of an app is not allowed',
        send: 'PUT open',
        json: {},
        status: 405,
        answers: { allow: /GET.*POST/ },
      },
      { title: 'DELETE of an app is not allowed', send: 'DELETE open', status: 405, error: 'MethodNotAllowedError' },
      {
        title: 'PUT of a record needs a body',
        send: 'PUT open/record/empty',
        as: 'mona',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'settings are offered as JSON only',
        send: 'GET open',
        accept: 'image/png',
        status: 406,
        error: 'NotAcceptableError',
      },
    ]);
  });
}
