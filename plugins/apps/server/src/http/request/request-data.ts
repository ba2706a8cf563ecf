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
