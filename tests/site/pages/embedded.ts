import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { page, pagesOf } from './requests';

export function embeddedBlocks(stage: Stage): void {
  const { html, whereIn, where } = pagesOf(stage);

  describe('the context of an embedded block', () => {
    test('a block that a rule embeds knows the page', async () => {
      expect(await where('GET /site/articles/plain?page=2', 'rita')).toEqual({
        type: 'api::article.article',
        title: 'Plain',
        path: '/articles/plain',
        portal: 'site',
        parent: '/site/articles/plain',
        request: '/site/articles/plain/@@apps/show/blocks/where',
        query: {},
        method: 'GET',
        secret: null,
        headers: [],
      });
    });

    test('a block that is a view knows its content', async () => {
      expect(await where('GET /site/articles/plain/@@where')).toMatchObject({
        title: 'Plain',
        parent: null,
        request: '/site/articles/plain/@@where',
      });
      expect(await where('GET /site/@@where')).toMatchObject({ type: 'portal', path: '/', parent: null });
    });

    test('a block in a tile knows the page', async () => {
      const text = await html('GET /site/articles/rules');
      expect(text.match(/name="where"/g)).toHaveLength(2);
      expect(whereIn(text.slice(text.indexOf('<section><form name="where"')))).toMatchObject({
        type: 'api::article.article',
        path: '/articles/rules',
        portal: 'site',
        parent: '/site/articles/rules',
        request: '/site/articles/rules/@@apps/show/blocks/where',
        method: 'GET',
        secret: null,
      });
    });

    test('a block alone knows its content', async () => {
      expect(await where('GET /site/articles/plain/@@apps/show/blocks/where')).toMatchObject({
        title: 'Plain',
        parent: null,
      });
    });
  });

  describe('tiles', () => {
    runTable(stage, [
      {
        title: 'a failing tile is an error mark, one that is not permitted is left out',
        ...page,
        send: 'GET /site/articles/tiles',
        status: 200,
        has: [
          'Hello tile',
          'Hello last',
          /<section><span class="apps-error" role="alert">This part could not be shown<\/span><\/section>/,
          '<section></section>',
        ],
        lacks: ['boom', 'For editors'],
      },
      {
        title: 'a manager sees why a tile failed',
        ...page,
        as: 'mona',
        send: 'GET /site/articles/tiles',
        status: 200,
        has: ['boom', 'is not a block such as rating/blocks/rate', 'For editors'],
      },
    ]);
  });
}
