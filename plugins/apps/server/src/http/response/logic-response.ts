import { Readable } from 'node:stream';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Context } from 'koa';
import type { Json } from '../../../../shared/json';
import type { CacheState, ShownInPage, VersionTest } from '../../apps';
import { setCookie } from '../../auth';
import type { FlashMessage } from '../../auth/types';
import type { LogEntry, ResponseChanges } from '../../logic/types';
import type { StoredRecord } from '../../records/types';
import type { Site } from '../../sites/types';
import type { Exchange } from '../request/exchange';
import { isByScript } from '../request/negotiate';

/**
 * A cookie of the visitor carries log entries across a redirect: no process has to store them, and no other visitor can see
 * them (docs/reference/logic.md#contextapp). They are compressed, because a cookie holds about 4 kB in all; entries that do
 * not fit are counted.
 */
const COOKIE = 'apps_log';
const MAX_PACKED = 2_800;

/** Characters of one message, and of all entries before they are packed. */
const MAX_MESSAGE = 2_000;
const MAX_ENTRIES = 60_000;

/** Keeps entries of the log in a cookie, for the console of the page that a redirect leads to. */
function keepLog(exchange: Exchange, logs: LogEntry[]): void {
  if (logs.length === 0) return;
  exchange.ctx.append('Set-Cookie', cookie(exchange.ctx, exchange.site, packed(logs), 60));
}

/** The first entries that fit, and a last one that says how many do not. */
export function packed(logs: readonly LogEntry[]): string {
  let size = 0;
  let kept = logs.map(cut).filter((entry) => {
    size += entry.message.length + 100;
    return size <= MAX_ENTRIES;
  });
  for (;;) {
    const text = pack([...kept, ...restOf(logs, kept.length)]);
    if (text.length <= MAX_PACKED || kept.length === 0) return text;
    kept = kept.slice(0, Math.floor((kept.length * 3) / 4));
  }
}

function cut(entry: LogEntry): LogEntry {
  const { message } = entry;
  if (message.length <= MAX_MESSAGE) return entry;
  const rest = message.length - MAX_MESSAGE;
  return { ...entry, message: `${message.slice(0, MAX_MESSAGE)}… (${rest} more characters in the server's log)` };
}

/** A note instead of the entries from `start` on. */
function restOf(logs: readonly LogEntry[], start: number): LogEntry[] {
  const [first] = logs.slice(start);
  if (!first) return [];
  const message = `… and ${logs.length - start} more, too long for a redirect: the server's log has them`;
  return [{ app: first.app, block: null, line: null, message }];
}

const pack = (entries: LogEntry[]): string => deflateRawSync(JSON.stringify(entries)).toString('base64url');

/** Reads the entries from the cookie and deletes it; a malformed cookie counts as empty. */
export function takeLog(ctx: Context, site: Site): LogEntry[] {
  const value = ctx.cookies.get(COOKIE);
  if (!value) return [];
  ctx.append('Set-Cookie', cookie(ctx, site, '', 0));
  return unpacked(value);
}

/** Reverses `packed`; the unpacked size is bounded, because a visitor can set the cookie. */
export function unpacked(value: string): LogEntry[] {
  try {
    const bytes = inflateRawSync(Buffer.from(value, 'base64url'), { maxOutputLength: 5 * MAX_ENTRIES });
    const entries: unknown = JSON.parse(bytes.toString());
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function cookie(ctx: Context, { url }: Site, value: string, age: number): string {
  const secure = ctx.secure || url.startsWith('https:');
  return setCookie(COOKIE, value, { path: new URL(url).pathname, maxAge: age, secure });
}

function isEntry(value: unknown): value is LogEntry {
  return typeof value === 'object' && value !== null && typeof (value as LogEntry).message === 'string';
}

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

/**
 * 303 See Other; console entries and messages for the visitor are kept for the next page. A script could not read what another origin
 * answers: the browser script gets the address alone, and shows that page.
 */
export function redirect(exchange: Exchange, url: string, { console, flashes }: Kept): void {
  const { ctx, site, visit, json } = exchange;
  keepLog(exchange, console);
  if (!json) {
    visit.flash?.add(flashes);
    visit.flash?.keep();
  }
  const { href, origin } = new URL(url);
  const isForScript = isByScript(ctx) && origin !== new URL(site.url).origin;
  ctx.status = isForScript ? 200 : 303;
  if (isForScript) ctx.set('Cache-Control', 'private, no-store');
  ctx.set('Location', href);
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
