import type { Context } from 'koa';
import type { Items, Json } from '../../../../shared/json';
import { beginRequest, type RequestBegin } from '../../apps';
import { safeMethods } from '../../auth';
import type { RequestData } from '../../logic/types';
import { flatFields } from './body';
import type { HttpServices } from './exchange';
import { mediaType } from './negotiate';

/** Headers that carry credentials: never shown to logic. */
const secretHeaders = new Set(['authorization', 'cookie', 'x-csrf-token', 'proxy-authorization']);

/** The request as logic sees it (docs/reference/logic.md#context): plain data without credentials. */
export function requestData(ctx: Context, baseUrl: string): RequestData {
  const { body } = ctx.request as { body?: unknown };
  const isJson = mediaType(ctx) === 'application/json';
  return {
    method: ctx.method,
    url: baseUrl + ctx.originalUrl,
    path: ctx.path,
    query: plain(ctx.query),
    form: isJson ? {} : plain(flatFields(body)),
    body: isJson ? ((body ?? null) as Json) : null,
    headers: safeHeaders(ctx),
  };
}

function plain(source: unknown): Items {
  if (source === null || typeof source !== 'object') return {};
  const { _csrf, _shown, _website, _proof, ...rest } = source as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest)) as Items;
}

function safeHeaders(ctx: Context): Record<string, string> {
  const entries = Object.entries(ctx.headers).filter(([name]) => !secretHeaders.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * The moment at which a request begins that only reads; null for others. It must be taken before anything is read that changes,
 * such as the permissions of who asks: a rendering that is kept since then may depend on all of it.
 */
export async function beginReading(ctx: Context, services: HttpServices): Promise<RequestBegin | null> {
  if (!safeMethods.has(ctx.method)) return null;
  const begin = beginRequest(services);
  if (services.config.exactCache) await begin.mark();
  return begin;
}

/**
 * Takes the token of a signed link out of a request's address, which is as good as a password: neither logic, an error page nor a log
 * sees it. `sentToken` gives it. The page gets headers that keep its address from others.
 */
export function hideToken(ctx: Context, token: string): void {
  ctx.state.appsToken = token;
  ctx.path = ctx.path.replace(/[^/]+(\/?)$/, 'hidden$1');
  ctx.originalUrl = ctx.url;
  ctx.request.originalUrl = ctx.url;
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cache-Control', 'private, no-store');
  ctx.set('X-Robots-Tag', 'noindex, nofollow');
}

/** The token in the address of a request, which has none any more. @param inAddress as the address was parsed */
export function sentToken(ctx: Context, inAddress: string): string {
  if (ctx.state.appsToken === undefined) hideToken(ctx, inAddress);
  return String(ctx.state.appsToken);
}

/** The address of a request as its sender has it, with the token of a signed link: for a form that is sent there again. */
export function sentAddress(ctx: Context, baseUrl: string): string {
  const address = baseUrl + ctx.originalUrl;
  const { appsToken: token } = ctx.state;
  return token === undefined ? address : address.replace(/\/hidden(\/?(?:\?.*)?)$/s, `/${token}$1`);
}
