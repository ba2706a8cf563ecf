import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { addressGroup } from '../../auth';
import { AppsError, methodNotAllowed } from '../../common/errors';
import type { LiveChanges, LiveConnection } from '../../events/types';

/** Tokens that one page may wait for. */
const MAX_TOKENS = 300;

/** Characters of one token: topics have short ones of one length, conditions longer ones. */
const TOKEN = /^[\w-]{20,2000}$/;

/** Milliseconds between events that keep proxies from closing a silent connection. */
const HEARTBEAT = 25_000;

/**
 * `/<site_id>/@@apps.live?t=<token>,<token>&since=<position>`: server-sent events, one `change` for each change of something that
 * a block of the page has read; `alive` says that the connection is. The id of each event is the position up to which all is sent:
 * a browser that connects again sends the last one.
 */
export function answerLive(ctx: Context, live: LiveChanges): void {
  if (ctx.method !== 'GET') throw methodNotAllowed('GET');
  const { t, since } = ctx.query;
  const tokens = typeof t === 'string' ? t.split(',').filter((token) => TOKEN.test(token)) : [];
  const begin = ctx.get('Last-Event-ID') || since;
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) {
    throw new AppsError('BadRequestError', `"t" is a list of 1 to ${MAX_TOKENS} tokens of live blocks`);
  }
  const stream = new PassThrough();
  let isReady = false;
  const send = (event: string, data: string) => {
    // Before, something earlier may be missing yet.
    const id = isReady ? `\nid: ${live.position()}` : '';
    // A client that does not read is disconnected; it connects again later.
    if (stream.writableLength > 64_000) stream.destroy();
    else stream.write(`event: ${event}\ndata: ${data}${id}\n\n`);
  };
  const connection: LiveConnection = { send: (token) => send('change', token), end: () => stream.end() };
  const from = typeof begin === 'string' ? begin : undefined;
  const { ready, disconnect } = live.connect(addressGroup(ctx.ip), tokens, connection, from);
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
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  ctx.body = stream;
  stream.write('retry: 3000\n\n');
}
