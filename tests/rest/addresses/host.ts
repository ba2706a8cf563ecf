import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function restOfTheHost(stage: Stage): void {
  describe('the rest of the host', () => {
    runTable(stage, [
      { title: "Strapi's own API answers", send: 'GET /api/articles', status: 200, gives: { data: [{ slug: 'one' }] } },
      {
        title: "Strapi's own API refuses in its own words",
        send: 'GET /api/articles?sort=secret',
        status: 400,
        error: 'ValidationError',
      },
      {
        title: "Strapi's own API forbids by its own permissions",
        send: 'GET /api/pages',
        status: 403,
        error: 'ForbiddenError',
      },
      { title: "Strapi's own API says what is not found", send: 'GET /api/nothing', status: 404 },
      {
        title: 'OPTIONS from a listed origin allows the token header',
        send: 'OPTIONS open',
        headers: { origin: 'https://there.example', 'access-control-request-method': 'POST' },
        status: 204,
        answers: {
          'access-control-allow-origin': 'https://there.example',
          'access-control-allow-credentials': null,
          'access-control-allow-headers':
            'Content-Type,Authorization,Origin,Accept,X-CSRF-TOKEN,If-Match,If-None-Match,Idempotency-Key',
        },
      },
      {
        title: 'OPTIONS from an origin that is not listed allows nothing',
        send: 'OPTIONS open',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
        status: 204,
        answers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null, allow: /POST/ },
      },
      ...['https://there.example', 'https://app.example'].map((origin) => ({
        title: `a page of ${origin} may read the token`,
        send: 'GET open',
        headers: { origin },
        status: 200,
        answers: {
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': null,
          'access-control-expose-headers': 'X-CSRF-TOKEN,ETag,Location,Link,X-Total-Count,Retry-After',
        },
      })),
      ...['https://evil.example', 'http://127.0.0.1:4000', 'null'].map((origin) => ({
        title: `a page of ${origin} may not read the token`,
        send: 'GET open',
        headers: { origin },
        status: 200,
        answers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null },
      })),
    ]);
  });
}
