import { describe, expect, test } from 'vitest';
import { type Answer, bearer, type Headers, send } from '../../support/send';
import type { Stage } from '../../support/stage';

type Request = Omit<Parameters<typeof send>[1], 'headers'> & { headers?: Headers; status: number };

const part = 'Content-Disposition: form-data; name="_save"\r\n\r\n\r\n--b--\r\n';
const parts = (token?: string) =>
  `--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--b\r\n${
    token === undefined ? '' : `Content-Disposition: form-data; name="_csrf"\r\n\r\n${token}\r\n--b\r\n`
  }${part}`;

const app = '/site/@@apps';
const page = { accept: 'text/html' };

/** Every way to change something; each leaves what the ways below it need. */
const ways: [title: string, request: Request][] = [
  ['a creation', { method: 'POST', path: `${app}/open`, json: { a: 1 }, status: 201 }],
  ['many creations', { method: 'POST', path: `${app}/open/records`, json: [{ a: 1 }], status: 201 }],
  ['a creation by id', { method: 'PUT', path: `${app}/open/record/bearer`, json: { a: 1 }, status: 201 }],
  ['an update', { method: 'PATCH', path: `${app}/open/record/bearer`, json: { a: 2 }, status: 200 }],
  ['an update by POST', { method: 'POST', path: `${app}/open/record/bearer`, json: { a: 2 }, status: 200 }],
  ['a search', { method: 'POST', path: `${app}/open/search`, json: {}, status: 200 }],
  ['an element', { method: 'POST', path: `${app}/open/blocks/values/info`, json: {}, status: 200 }],
  ['a form as JSON', { method: 'POST', path: `${app}/flow/blocks/item`, json: { name: 'x', _save: '' }, status: 201 }],
  [
    'a form',
    { method: 'POST', path: `${app}/flow/blocks/item`, form: { name: 'x', _save: '' }, headers: page, status: 303 },
  ],
  [
    'a form with parts',
    {
      method: 'POST',
      path: `${app}/flow/blocks/item`,
      body: parts(),
      headers: { ...page, 'content-type': 'multipart/form-data; boundary=b' },
      status: 303,
    },
  ],
  ['a deletion', { method: 'DELETE', path: `${app}/open/record/bearer`, status: 200 }],
];

/** Which credentials need a CSRF token (docs/reference/http.md#csrf-tokens). */
export function bearerWithoutToken(stage: Stage, headers: Record<string, Headers>): void {
  const ask = (who: Headers, { status: _, ...request }: Request, more: Headers = {}): Promise<Answer> =>
    send(stage.host.url, {
      ...request,
      headers: { accept: 'application/json', ...request.headers, ...who, ...more },
    });
  const names = (answer: Answer): [number, unknown] => [
    answer.status,
    (answer.json as { error?: { name: string } } | undefined)?.error?.name,
  ];

  describe('a bearer token needs no CSRF token', () => {
    for (const who of ['una by bearer', 'eric by bearer', 'token', 'administrator']) {
      test.each(ways)(`%s of ${who}`, async (_title, request) => {
        const { status, text } = await ask(headers[who] as Headers, request);
        expect(status, text).toBe(request.status);
      });
    }

    test('a one-time login token of the panel needs none either', async () => {
      const asked = await send<{ token: string }>(stage.host.url, {
        method: 'POST',
        path: '/apps/sites/site/hand-over',
        headers: headers.administrator,
        json: {},
      });
      const { status } = await ask(bearer(asked.json.token), ways[0]?.[1] as Request);
      expect(status).toBe(201);
    });
  });

  test.each(ways)('but one that it sends is checked: %s', async (_title, request) => {
    const answer = await ask(headers['una by bearer'] as Headers, request, { 'x-csrf-token': 'wrong' });
    expect(answer.status, answer.text).toBe(403);
  });

  test('also one in a form', async () => {
    const una = headers['una by bearer'] as Headers;
    for (const sent of [
      { form: { name: 'x', _save: '', _csrf: 'wrong' } },
      { body: parts('wrong'), headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    ]) {
      const answer = await ask(una, { method: 'POST', path: `${app}/flow/blocks/item`, status: 403, ...sent });
      expect(names(answer)).toEqual([403, 'CsrfError']);
    }
  });

  describe('every other credential needs one', () => {
    for (const who of ['anonymous', 'una by Basic', 'una by cookie']) {
      test.each(ways)(`%s of ${who}`, async (_title, request) => {
        expect((await ask(headers[who] as Headers, request)).status).toBe(403);
      });
    }

    test('an empty header is none', async () => {
      const search = ways[5]?.[1] as Request;
      expect(names(await ask({}, search, { 'x-csrf-token': '' }))).toEqual([403, 'CsrfError']);
      expect((await ask(headers.token as Headers, search, { 'x-csrf-token': '' })).status).toBe(200);
    });
  });

  test('logic that writes during GET needs the token of a bearer too', async () => {
    const write: Request = { method: 'GET', path: `${app}/open/blocks/values/write?id=get`, status: 403 };
    expect(names(await ask(headers.token as Headers, write))).toEqual([403, 'CsrfError']);
    const settings = await ask(headers.token as Headers, { method: 'GET', path: `${app}/open`, status: 200 });
    const token = { 'x-csrf-token': String(settings.headers['x-csrf-token']) };
    expect((await ask(headers.token as Headers, write, token)).status).toBe(200);
  });
}
