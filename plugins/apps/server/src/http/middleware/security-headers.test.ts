import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Core } from '@strapi/strapi';
import type { Context, Next } from 'koa';
import { expect, test } from 'vitest';
import type { HttpServices } from '../request/exchange';
import { rememberedHeaders } from './headers';

const parse = (path: string) => (path.includes('@@apps') ? {} : null);
const services = { sites: { parse } } as unknown as HttpServices;
const strapi = { plugin: () => undefined, config: { get: () => '/admin' } } as unknown as Core.Strapi;

/** Asks a server whose security middleware sets `headersOf(calls)`; returns the headers and how often it was called. */
async function ask(
  paths: string[],
  config: object,
  headersOf: (calls: number) => Record<string, string>,
  before: string,
) {
  let calls = 0;
  const security = () => (ctx: Context, next: Next) => {
    calls += 1;
    for (const [name, value] of Object.entries(headersOf(calls))) ctx.res.setHeader(name, value);
    return next();
  };
  const middleware = rememberedHeaders(security, () => services)(config, { strapi });
  const server = createServer((req, res) => {
    // A value that differs between requests.
    if (before) res.setHeader(before, String(Math.random()));
    middleware({ path: req.url, res, state: {} } as unknown as Context, async () => res.end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    const seen: (string | null)[] = [];
    for (const path of paths) seen.push((await fetch(`http://127.0.0.1:${port}${path}`)).headers.get('x-policy'));
    return { seen, calls };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const same = () => ({ 'X-Policy': 'self' });
const record = Array<string>(8).fill('/site/@@apps/app/record/a');

test.each([
  ['the same headers are remembered', record, {}, same, '', 3],
  ['headers that change are not', record, {}, (calls: number) => ({ 'X-Policy': `nonce-${calls}` }), '', 8],
  ['a configuration with a function is always asked', record, { directives: { script: [() => ''] } }, same, '', 8],
  ["Strapi's own addresses are always asked", Array<string>(8).fill('/api/articles'), {}, same, '', 8],
  ['the documentation is always asked', Array<string>(8).fill('/documentation/@@apps/app'), {}, same, '', 8],
  ['headers that another middleware has set before', record, {}, same, 'X-Before', 8],
  ['the id of a request, which the plugin sets before', record, {}, same, 'X-Request-Id', 3],
])('%s', async (_, paths, config, headersOf, before, expected) => {
  const { seen, calls } = await ask(paths, config, headersOf, before);
  expect(calls).toBe(expected);
  expect(seen).toEqual(paths.map((__, at) => headersOf(at + 1)['X-Policy']));
});
