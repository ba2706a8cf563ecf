import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Json } from '../../../../shared/json';
import type { CacheState, ShownInPage, VersionTest } from '../../apps';
import type { FlashMessage } from '../../auth/types';
import type { LogEntry, ResponseChanges } from '../../logic/types';
import type { StoredRecord } from '../../records/types';
import type { Exchange } from '../request/exchange';
import { keepLog } from './pending-log';

/**
 * Headers that would let caches keep an answer or share it between visitors. A page may carry a CSRF token of its visitor
 * (docs/reference/http.md#caching), so logic cannot change its `private, no-store`.
 */
const CACHING = ['cache-control', 'expires'];

/** Blocks that are named in the header `Server-Timing`, so that it stays below the limits of proxies. */
const MAX_BLOCKS = 40;

/**
 * Says in debug mode where an answer comes from, and each block of a page (docs/reference/embedding.md#exact-renderings): in
 * `x-apps-cache`, and in `Server-Timing`, which the browser's developer tools and the script of the command `dev` show.
 */
export function setCacheHeaders(ctx: Context, cache: CacheState, blocks: readonly ShownInPage[] = []): void {
  ctx.set('x-apps-cache', cache);
  const named = blocks
    .slice(0, MAX_BLOCKS)
    .map(
      ({ app, block, cache, milliseconds }) => `block;desc="${app}/${block}: ${cache}";dur=${milliseconds.toFixed(1)}`,
    );
  ctx.set('Server-Timing', [`page;desc="${cache}"`, ...named].join(', '));
}

/** Applies logic's changes of the response (`context.request.response`) after everything else was set. */
export function applyLogicResponse(
  exchange: Exchange,
  { response, ...kept }: { response: ResponseChanges } & Kept,
  { isPage = false } = {},
): void {
  const { ctx } = exchange;
  if (response.status !== null) ctx.status = response.status;
  for (const [name, value] of Object.entries(response.headers)) {
    if (name === 'vary') ctx.vary(value);
    else if (!isPage || !CACHING.includes(name)) ctx.set(name, value);
  }
  if (response.redirect !== null) redirect(exchange, response.redirect, kept);
}

/**
 * Sends the text of an element with the media type that logic has set. A browser runs nothing in it, because the text may
 * contain input of visitors and comes from the site's own origin.
 */
export function answerTyped({ ctx }: Exchange, type: string, value: Json): void {
  ctx.set('Content-Type', `${type}; charset=utf-8`);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a redirect keeps for the next page. */
interface Kept {
  console: LogEntry[];
  flashes: readonly FlashMessage[];
}

/** 303 See Other; console entries and messages for the visitor are kept for the next page. */
export function redirect(exchange: Exchange, url: string, { console, flashes }: Kept): void {
  const { ctx, visit, json } = exchange;
  keepLog(exchange, console);
  if (!json) {
    visit.flash?.add(flashes);
    visit.flash?.keep();
  }
  ctx.status = 303;
  ctx.set('Location', new URL(url).href);
  ctx.type = 'text/plain';
  ctx.body = 'See other';
}

/** The ETag of a record's version; `seq` tells it from a record that had the same id before. */
export function etagOf({ seq, version }: StoredRecord): string {
  return `"${seq}-${version}"`;
}

/** The tags of an `If-Match` or `If-None-Match` header. */
const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim());

/** What the request's `If-Match` demands of a record; undefined without the header. Weak tags never match (RFC 9110). */
export function ifMatch(ctx: Context): VersionTest {
  const header = ctx.get('If-Match');
  if (header === '') return undefined;
  const tags = tagsOf(header);
  return (record) => tags.includes('*') || tags.includes(etagOf(record));
}

/** Whether the client has a version already (`If-None-Match`). */
export function hasTag(ctx: Context, tag: string): boolean {
  const known = tagsOf(ctx.get('If-None-Match')).map((one) => one.replace(/^W\//, ''));
  return known.includes('*') || known.includes(tag);
}

/**
 * Sets the ETag; true when the client has that version already (`If-None-Match`), after setting the status 304. Koa's
 * `ctx.fresh` is never true for `fetch()`, which adds `Cache-Control: no-cache` to a request with that header.
 */
export function answerUnchanged(ctx: Context, tag: string): boolean {
  ctx.set('ETag', tag);
  if (!hasTag(ctx, tag)) return false;
  ctx.status = 304;
  return true;
}

/** A body of chunks; closes the connection when they fail, so that an incomplete answer does not look complete. */
export function streamed(ctx: Context, chunks: AsyncIterable<string | Buffer>): Readable {
  const body = Readable.from(chunks);
  body.once('error', () => ctx.res.destroy());
  return body;
}

/** What an iterator gives, after its first result was read. */
export async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
