import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { scriptTag } from '../../apps';
import { addressGroup } from '../../auth';
import { contentVersion } from '../../common/assets';
import { AppsError } from '../../common/errors';
import type { LiveChanges, LiveConnection } from '../../events';
import type { Reloads } from '../request/exchange';

/** Tokens that one page may wait for. */
const MAX_TOKENS = 300;

/** Characters of one token: topics have short ones of one length, conditions longer ones. */
const TOKEN = /^[\w-]{20,2000}$/;

/** Milliseconds between events that keep proxies from closing a silent connection. */
const HEARTBEAT = 25_000;

/** Status and headers of server-sent events: all that HEAD is answered with. */
function beginEvents(ctx: Context): void {
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
}

/**
 * `/<site_id>/@@apps.live?t=<token>,<token>&since=<position>`: server-sent events, one `change` for each change of something that
 * a block of the page has read; `alive` says that the connection is. The id of each event is the position up to which all is sent:
 * a browser that connects again sends the last one.
 */
export async function answerLive(ctx: Context, live: LiveChanges): Promise<void> {
  const { t, since } = ctx.query;
  const tokens = typeof t === 'string' ? t.split(',').filter((token) => TOKEN.test(token)) : [];
  const begin = ctx.get('Last-Event-ID') || since;
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) {
    throw new AppsError('BadRequestError', `"t" is a list of 1 to ${MAX_TOKENS} tokens of live blocks`);
  }
  if (ctx.method === 'HEAD') return beginEvents(ctx);
  const stream = new PassThrough();
  let isReady = false;
  const send = (event: string, data: string) => {
    // Before, something earlier may be missing yet.
    const id = isReady ? `\nid: ${live.position()}` : '';
    // A client that does not read is disconnected; it connects again later.
    if (stream.writableLength > 64_000) ctx.res.destroy();
    else stream.write(`event: ${event}\ndata: ${data}${id}\n\n`);
  };
  const connection: LiveConnection = { send: (token) => send('change', token), end: () => stream.end() };
  const from = typeof begin === 'string' ? begin : undefined;
  const { ready, disconnect } = await live.connect(addressGroup(ctx.ip), tokens, connection, from);
  let heartbeat: NodeJS.Timeout | undefined;
  let isClosed = false;
  void ready.then(() => {
    if (isClosed) return;
    isReady = true;
    send('alive', '');
    heartbeat = setInterval(() => send('alive', ''), HEARTBEAT).unref();
  });
  stream.on('close', () => {
    isClosed = true;
    clearInterval(heartbeat);
    disconnect();
  });
  beginEvents(ctx);
  ctx.body = stream;
  stream.write('retry: 3000\n\n');
}

/** Milliseconds between two looks at the files while a page waits. */
const INTERVAL = 400;

/** Pages that wait at a time: each browser tab is one. */
const MAX_PAGES = 100;

/** @param version a text that differs when a file has changed */
export function createReloads(version: () => Promise<string>): Reloads {
  const pages = new Set<PassThrough>();
  let current = '';
  let timer: NodeJS.Timeout | undefined;

  const hashed = async () => contentVersion(await version());

  const look = async () => {
    const next = await hashed();
    if (next !== current) for (const page of pages) send(page, next);
    current = next;
    clearTimeout(timer);
    if (pages.size > 0) timer = setTimeout(look, INTERVAL);
  };

  return {
    version: hashed,
    answer(ctx) {
      if (ctx.method === 'HEAD') return beginEvents(ctx);
      if (pages.size >= MAX_PAGES) throw new AppsError('ServiceUnavailableError', 'Too many pages wait for changes');
      const page = new PassThrough();
      pages.add(page);
      page.on('close', () => pages.delete(page));
      beginEvents(ctx);
      ctx.body = page;
      page.write('retry: 500\n\n');
      // The page compares: it may have been made before the last look.
      current = '';
      void look();
    },
    destroy() {
      clearTimeout(timer);
      for (const page of pages) page.end();
      pages.clear();
    },
  };
}

const send = (page: PassThrough, version: string) => page.write(`event: version\ndata: ${version}\n\n`);

/**
 * Adds the script that reloads a page to an answer that is a whole HTML document.
 * @param version of the files before the answer was made
 */
export function addReloadScript(ctx: Context, site: string, version: string): void {
  if (typeof ctx.body !== 'string' || !ctx.response.is('html') || !isDocument.test(ctx.body)) return;
  // At the end, because a theme may leave out closing tags.
  ctx.body += `${scriptTag(`${site}/@@apps.reload.js?version=${version}`)}\n`;
}

const isDocument = /^\s*<!doctype html/i;
