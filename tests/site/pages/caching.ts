import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { page } from './requests';

export function caching(stage: Stage): void {
  describe('caching', () => {
    runTable(stage, [
      {
        title: 'a page with a form is kept by no cache',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        answers: {
          'cache-control': 'private, no-store',
          etag: null,
          vary: /Authorization, Cookie, Accept, X-Requested-With/i,
        },
      },
      {
        title: 'a page without one has an ETag',
        ...page,
        send: 'GET /site/',
        status: 200,
        answers: { 'cache-control': 'public, no-cache', etag: /^"[\w-]{22}"$/, vary: /Authorization, Cookie/ },
      },
      {
        title: 'a page of a user is private',
        ...page,
        as: 'rita',
        send: 'GET /site/members',
        status: 200,
        answers: { 'cache-control': 'private, no-cache' },
      },
    ]);

    test('a page is 304 for a visitor who has it and 200 for another visitor', async () => {
      const { etag } = (await stage.send({ ...page, send: 'GET /site/' })).headers;
      const again = { ...page, send: 'GET /site/', headers: { 'if-none-match': String(etag) } };
      expect((await stage.send(again)).status).toBe(304);
      expect((await stage.send({ ...again, as: 'rita' })).status).toBe(200);
    });
  });
}
