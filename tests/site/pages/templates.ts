import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { page } from './requests';

export function templates(stage: Stage): void {
  describe('theme pages', () => {
    runTable(stage, [
      {
        title: 'the root is the portal',
        ...page,
        send: 'GET /site/',
        status: 200,
        has: ['<body class="portal">', '<h1>Demo site</h1>'],
      },
      {
        title: 'the root without a slash is the portal',
        ...page,
        send: 'GET /site',
        status: 200,
        has: ['<body class="portal">'],
      },
      {
        title: 'an article is shown in its template',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        has: ['<body class="api::article.article">', '<h1>Plain</h1>', '<p class="summary">A summary</p>'],
        lacks: ['hush'],
      },
      {
        title: 'single braces of a layout are text',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        has: ['unclosed {keep} &copy\n'],
      },
      {
        title: 'unknown content is not found, in the theme',
        ...page,
        send: 'GET /site/articles/none',
        status: 404,
        has: ['<h1>Not found</h1>', '<footer>End</footer>'],
        answers: { etag: null, 'cache-control': 'private, no-store' },
      },
      {
        title: 'an unknown view is not found by a client that prefers JSON',
        accept: 'application/json, text/html',
        send: 'GET /site/@@none',
        status: 404,
      },
      { title: 'a draft is not found', ...page, send: 'GET /site/articles/hidden-draft', status: 404 },
      {
        title: 'content that the requester may not read is not found',
        ...page,
        send: 'GET /site/members',
        status: 404,
      },
      {
        title: 'content that the requester may read is shown',
        ...page,
        as: 'rita',
        send: 'GET /site/members',
        status: 200,
        has: ['<h1>Members</h1>', '</header>'],
      },
      { title: 'a listing is no page', ...page, send: 'GET /site/articles', status: 404 },
      { title: 'HEAD of a page is answered', ...page, send: 'HEAD /site/articles/plain', status: 200 },
      {
        title: 'OPTIONS of a page says what is allowed',
        ...page,
        send: 'OPTIONS /site/articles/plain',
        status: 204,
        answers: { allow: 'GET, HEAD, OPTIONS' },
      },
      {
        title: 'POST to a page is not allowed',
        ...page,
        send: 'POST /site/articles/plain',
        status: 405,
        answers: { allow: 'GET, HEAD, OPTIONS' },
      },
      { title: 'a page is not offered as JSON', send: 'GET /site/articles/plain', status: 406 },
      {
        title: 'unknown content is not found as JSON',
        send: 'GET /site/articles/none',
        status: 404,
        error: 'NotFoundError',
      },
      { title: 'an unknown view is not found as JSON', send: 'GET /site/@@none', status: 404, error: 'NotFoundError' },
      {
        title: 'an address of an unknown site is left to Strapi',
        ...page,
        send: 'GET /nosite/articles/plain',
        status: 404,
      },
      {
        title: 'stored markup is text everywhere',
        ...page,
        send: 'GET /site/articles/hostile',
        status: 200,
        lacks: ['<script>alert', '<img src=x', "'><img"],
        has: ['&lt;script&gt;alert(1)&lt;/script&gt;'],
      },
    ]);
  });
}
