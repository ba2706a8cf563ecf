import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { addressGroup } from '../../auth';
import { AppsError, methodNotAllowed } from '../../common/errors';
import type { LiveChanges, LiveConnection } from '../../events/types';

/** Tokens that one page may wait for. */
const MAX_TOKENS = 300;

/** Milliseconds between comments that keep proxies from closing a silent connection. */
const HEARTBEAT = 25_000;

/**
 * `/<site_id>/@@apps.live?t=<token>,<token>`: server-sent events, one `change` for each change of something that a block of
 * the page has read.
 */
export function answerLive(ctx: Context, live: LiveChanges): void {
  if (ctx.method !== 'GET') throw methodNotAllowed('GET');
  const { t } = ctx.query;
  const tokens = typeof t === 'string' ? t.split(',').filter((token) => /^[\w-]{20}$/.test(token)) : [];
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) {
    throw new AppsError('BadRequestError', `"t" is a list of 1 to ${MAX_TOKENS} tokens of live blocks`);
  }
  const stream = new PassThrough();
  const connection: LiveConnection = {
    // A client that does not read is disconnected; it connects again later.
    send: (token) =>
      stream.writableLength > 64_000 ? stream.destroy() : stream.write(`event: change\ndata: ${token}\n\n`),
    end: () => stream.end(),
  };
  const disconnect = live.connect(addressGroup(ctx.ip), tokens, connection);
  const heartbeat = setInterval(() => stream.write(':\n\n'), HEARTBEAT);
  heartbeat.unref();
  stream.on('close', () => {
    clearInterval(heartbeat);
    disconnect();
  });
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  ctx.body = stream;
  stream.write('retry: 3000\n\n');
}
