import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { page } from './requests';

export function views(stage: Stage): void {
  describe('views', () => {
    runTable(stage, [
      {
        title: 'a view is shown in the theme',
        ...page,
        send: 'GET /site/articles/plain/@@themed',
        status: 200,
        has: ['<footer>End</footer>', '<form name="themed"', '<i>A summary null</i> in Plain'],
      },
      {
        title: 'a view of the root is shown in the theme',
        ...page,
        send: 'GET /site/@@themed',
        status: 200,
        has: ['<footer>End</footer>'],
      },
      {
        title: 'a view of the default site needs no site in the address',
        ...page,
        send: 'GET /@@themed',
        status: 200,
        has: ['<footer>End</footer>'],
      },
      {
        title: 'a view is a form alone for a script',
        ...page,
        headers: { 'x-requested-with': 'XMLHttpRequest' },
        send: 'GET /site/@@themed',
        status: 200,
        has: [/^<form name="themed"/],
        lacks: ['<footer>'],
      },
      {
        title: 'a view can be without the theme',
        ...page,
        send: 'GET /site/@@plain',
        status: 200,
        has: ['class="plain"', '<!doctype html>'],
        lacks: ['<footer>'],
      },
      { title: 'an unknown view is not found', ...page, send: 'GET /site/@@none', status: 404 },
      {
        title: 'a view on unknown content is not found',
        ...page,
        send: 'GET /site/articles/none/@@themed',
        status: 404,
      },
      {
        title: 'a view on a draft is not found',
        ...page,
        send: 'GET /site/articles/hidden-draft/@@themed',
        status: 404,
      },
      {
        title: 'a view on content that may not be seen is not found',
        ...page,
        send: 'GET /site/members/@@themed',
        status: 404,
      },
      { title: 'a view needs its permission: anonymous', ...page, send: 'GET /site/@@secret-view', status: 401 },
      {
        title: 'a view needs its permission: a user without it',
        ...page,
        as: 'rita',
        send: 'GET /site/@@secret-view',
        status: 403,
      },
      {
        title: 'a view is shown with its permission',
        ...page,
        as: 'eric',
        send: 'GET /site/@@secret-view',
        status: 200,
        has: ['For editors: eric'],
      },
      {
        title: 'a view can redirect inside the site',
        ...page,
        send: 'GET /site/@@away',
        status: 303,
        answers: { location: /\/site\/articles\/rules$/ },
      },
      ...[
        '//evil.example',
        'https:evil.example',
        '/\\evil.example',
        'https://evil.example/',
        'javascript:alert(1)',
        '\t//evil.example',
      ].map((to) => ({
        title: `a view cannot redirect to ${JSON.stringify(to)}`,
        ...page,
        send: `GET /site/@@away?to=${encodeURIComponent(to)}`,
        status: 400,
        answers: { location: null },
      })),
      {
        title: 'a view can set a header',
        ...page,
        send: 'GET /site/@@header?value=fine',
        status: 200,
        answers: { 'x-app-note': 'fine' },
      },
      {
        title: 'a view cannot set a header with a line break',
        ...page,
        send: 'GET /site/@@header?value=a%0d%0aSet-Cookie:%20x=1',
        status: 500,
        answers: { 'x-app-note': null, 'set-cookie': null },
      },
    ]);
  });
}
