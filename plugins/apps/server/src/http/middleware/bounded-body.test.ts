import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context, Next } from 'koa';
import { expect, test } from 'vitest';
import type { HttpServices } from '../request/exchange';
import { boundedBodies } from './bounded-body';

const parse = (path: string) => (path.includes('@@apps') ? { kind: 'app', target: { kind: 'root' } } : null);
const services = { sites: { parse }, config: { limits: { bodySize: 1_000 } } } as unknown as HttpServices;
const app = '/site/@@apps/app';
const json = { 'Content-Type': 'application/json' };

/** Sends a request; returns its parsed body, and whether Strapi's parser has read it. */
async function send(method: string, path: string, headers: Record<string, string>, body?: string, config = {}) {
  let parsed = false;
  const parser = () => async (ctx: Context, next: Next) => {
    parsed = true;
    (ctx.request as { body?: unknown }).body = 'by the parser';
    await next();
  };
  const middleware = boundedBodies(parser, () => services)(config, {} as never);
  const server = createServer(async (req, res) => {
    const ctx = contextOf(req);
    await middleware(ctx, async () => undefined);
    res.end(JSON.stringify({ parsed, body: (ctx.request as { body?: unknown }).body }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    return (await answer.json()) as { parsed: boolean; body: unknown };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function contextOf(req: IncomingMessage): Context {
  const get = (name: string) => String(req.headers[name.toLowerCase()] ?? '');
  return { req, method: req.method, path: req.url, request: {}, state: {}, get } as unknown as Context;
}

const byParser = { parsed: true, body: 'by the parser' };

test.each([
  ['a request without a body', 'GET', app, {}, undefined, { parsed: false, body: {} }],
  ['a DELETE without a body', 'DELETE', app, {}, undefined, { parsed: false, body: {} }],
  ['a POST without a body', 'POST', app, {}, undefined, byParser],
  ["a request to Strapi's own address", 'GET', '/api/articles', {}, undefined, byParser],
  ['a JSON object', 'POST', app, json, '{"a":[1,"é"]}', { parsed: false, body: { a: [1, 'é'] } }],
  ['a JSON list', 'POST', app, json, ' [1]', { parsed: false, body: [1] }],
  ['a JSON value that is no object', 'POST', app, json, '1', byParser],
  ['wrong JSON', 'POST', app, json, '{"a":', byParser],
  ['a forbidden name', 'POST', app, json, '{"__proto__":1}', byParser],
  ['an escaped forbidden name', 'POST', app, json, '{"\\u005f_proto__":1}', byParser],
  ['a compressed body', 'POST', app, { ...json, 'Content-Encoding': 'gzip' }, '{}', byParser],
  ['a form', 'POST', app, { 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1', byParser],
  ['a text', 'POST', app, { 'Content-Type': 'text/plain' }, 'a', byParser],
])('%s is read as Strapi reads it', async (_, method, path, headers, body, expected) => {
  expect(await send(method, path, headers as Record<string, string>, body)).toEqual(expected);
});

test('the parser is asked for every request when the host chooses the methods that it reads', async () => {
  expect(await send('DELETE', app, {}, undefined, { parsedMethods: ['DELETE'] })).toEqual(byParser);
});
