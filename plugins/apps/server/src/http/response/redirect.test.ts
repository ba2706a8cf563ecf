import { expect, test } from 'vitest';
import type { Exchange } from '../request/exchange';
import { redirect } from './logic-response';

const SCRIPT = 'text/html+fragment';

test.each<[accept: string, url: string, status: number]>([
  ['text/html', 'https://site.example/page', 303],
  ['text/html', 'https://other.example/page', 303],
  [SCRIPT, 'https://site.example/page', 303],
  [SCRIPT, 'https://other.example/page', 200],
  [SCRIPT, 'https://site.example:8443/page', 200],
  [`${SCRIPT}, text/html+follow`, 'https://other.example/page', 200],
])('a redirect for %s to %s: %i', (accept, url, status) => {
  const set: Record<string, string> = {};
  const ctx = {
    status: 0,
    get: (name: string) => (name === 'Accept' ? accept : ''),
    set: (name: string, value: string) => Object.assign(set, { [name]: value }),
  };
  const exchange = { ctx, site: { url: 'https://site.example/site' }, visit: {}, json: false } as unknown as Exchange;
  redirect(exchange, url, { console: [], flashes: [] });
  expect([ctx.status, set]).toEqual([
    status,
    { Location: url, ...(status === 200 && { 'Cache-Control': 'private, no-store' }) },
  ]);
});
