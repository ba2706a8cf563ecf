import { expect, test } from 'vitest';
import type { RequestData } from '../../../../shared/logic-protocol';
import type { Run } from '../run/types';
import { fetchCalls } from './job-calls';

const nothing: RequestData = { method: 'GET', url: '/', path: '/', query: {}, form: {}, body: null, headers: {} };

const named = 'words {{secret:key}}';

/** Makes a call with these headers for a request and its page's. */
async function call(
  headers: Record<string, string>,
  request: Partial<RequestData>,
  parent: Partial<RequestData> | null,
) {
  const parentRequest = parent && { ...nothing, ...parent };
  const visit = { request: { ...nothing, ...request }, parentRequest, params: {} };
  const calls = { once: async () => 'called' };
  const { fetch } = fetchCalls({ visit, app: { id: 'app' }, calls } as unknown as Run);
  return fetch({ url: 'https://api.example.org', options: { headers } }, undefined as never);
}

const places: [place: string, request: Partial<RequestData>][] = [
  ['address', { url: `/?q=${named}` }],
  ['query', { query: { q: named } }],
  ['form', { form: { q: [named] } }],
  ['body', { body: { q: named } }],
  ['headers', { headers: { 'user-agent': named } }],
];

test.each(places)('a secret is put into no call of a request with the name of one in its %s', async (_place, holds) => {
  const withSecret = { authorization: '{{secret:key}}' };
  const refused = { name: 'BadRequestError', message: expect.stringContaining('no secret is put into this call') };
  await expect(call(withSecret, holds, null)).rejects.toMatchObject(refused);
  // The page's request, of an embedded block.
  await expect(call(withSecret, {}, holds)).rejects.toMatchObject(refused);
  expect(await call(withSecret, {}, {})).toBe('called');
  expect(await call({ 'x-own': 'own' }, holds, holds)).toBe('called');
});
