import { describe, expect, test } from 'vitest';
import type { Row, Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function wrongCredentials(stage: Stage): void {
  describe('credentials and tokens, for every operation', () => {
    const all = [
      'GET open',
      'GET open/blocks/values/number',
      'POST open/blocks/values/number',
      'GET open/record/stays',
      'HEAD open/record/stays',
      'GET open/records',
      'POST open',
      'POST open/records',
      'PUT open/record/never',
      'DELETE open/record/stays',
      'DELETE open/records',
      'PATCH open/record/stays',
      'POST open/record/stays',
      'POST open/search',
      'POST open/refresh',
      'GET open/blocks/note',
      'POST open/blocks/note',
    ];
    const safe = /^(GET|HEAD) /;
    runTable(
      stage,
      all.flatMap((send): Row[] => {
        const json = send === 'POST open/records' ? [] : {};
        const body = safe.test(send) || send.startsWith('DELETE') ? {} : { json };
        const invalid = { send, ...body, csrf: false, status: 401, headers: { authorization: 'Bearer garbage' } };
        const rows: Row[] = [
          {
            title: 'an invalid credential is refused',
            ...invalid,
            error: send.startsWith('HEAD') ? undefined : 'UnauthorizedError',
            answers: { 'www-authenticate': /^Basic realm="/ },
          },
        ];
        if (safe.test(send)) return rows;
        return [
          ...rows,
          {
            title: 'a request without a CSRF token is refused',
            send,
            ...body,
            csrf: false,
            status: 403,
            error: 'CsrfError',
          },
          {
            title: 'a request with a wrong CSRF token is refused',
            send,
            ...body,
            csrf: false,
            headers: { 'x-csrf-token': 'wrong' },
            status: 403,
            error: 'CsrfError',
          },
        ];
      }),
    );

    test("a request with another requester's CSRF token is refused", async () => {
      const headers = { 'x-csrf-token': await stage.csrf('eric') };
      for (const send of all.filter((line) => !safe.test(line))) {
        expect((await stage.send({ as: 'una', send, csrf: false, headers, json: {} })).status, send).toBe(403);
        expect((await stage.send({ send, csrf: false, headers, json: {} })).status, send).toBe(403);
      }
      expect(await stage.items('open', 'stays')).toEqual({ a: 0, id: 'stays' });
    });
  });
}
