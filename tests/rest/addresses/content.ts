import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';

export function contentPaths(stage: Stage): void {
  describe('content paths', () => {
    const at = (path: string) => `GET /site/${path}/@@apps/logic/blocks/context/content`;
    runTable(stage, [
      {
        title: 'the content at the root is the portal',
        send: 'GET logic/blocks/context/content',
        status: 200,
        gives: { title: 'Demo site', path: '/', slug: null },
      },
      {
        title: 'the content below an article is that article',
        send: at('articles/one'),
        status: 200,
        gives: {
          type: 'api::article.article',
          title: 'Title of one',
          path: '/articles/one',
          slug: 'one',
          secret: null,
          got: 'Title of one',
          none: null,
        },
      },
      { title: 'a draft is not found', send: at('articles/hidden'), status: 404, error: 'NotFoundError' },
      { title: 'an unknown article is not found', send: at('articles/absent'), status: 404, error: 'NotFoundError' },
      {
        title: 'content of a type that the requester may not read is not found',
        send: at('about'),
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'content is not found by a requester without rights',
        as: 'una',
        send: at('articles/one'),
        status: 404,
        error: 'NotFoundError',
      },
      { title: 'a path of no content type is not found', send: at('a/b/c'), status: 404, error: 'NotFoundError' },
      { title: 'a path with a zero byte is not found', send: at('articles/%00'), status: 404 },
      { title: 'a path with dots is not found', send: at('articles/../articles/one'), status: 404 },
      {
        title: 'the settings of an app are found below content',
        send: 'GET /site/articles/one/@@apps/open',
        status: 200,
        is: { debug: false },
      },
      {
        title: 'the settings of an app are not found below a draft',
        send: 'GET /site/articles/hidden/@@apps/open',
        status: 404,
        error: 'NotFoundError',
      },
    ]);

    test('the addresses of a page stay below the content', async () => {
      const page = await stage.send({ send: 'GET /site/articles/one/@@apps/open/blocks/note', accept: html });
      expect(page.text).toContain(`action="${stage.host.url}/site/articles/one/@@apps/open/blocks/note"`);
      const content = await stage.send<{ url: string; absolute: string[] }>({ send: at('articles/one') });
      expect(content.json.url).toBe(`${stage.host.url}/site/articles/one`);
      expect(content.json.absolute[0]).toBe(content.json.url);
    });
  });
}
