import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Context, Middleware, Next } from 'koa';
import { AppsError } from '../errors';
import type { DoorServices } from './exchange';
import { isOurs, mediaType } from './negotiate';
import { checkEncoded, checkNumbers, checkUtf8 } from './text';

/** What is checked of a body's text, besides that it is UTF-8, by media type. */
const checks: Record<string, (text: string) => void> = {
  'application/json': (text) => checkNumbers(text),
  'application/x-www-form-urlencoded': (text) => checkEncoded(text, 'The form'),
  'multipart/form-data': () => undefined,
};

const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Bytes of bodies as they came, up to a little more than they may have. */
const kept = new WeakMap<IncomingMessage, { chunks: Buffer[]; size: number }>();

/**
 * A middleware that keeps the bytes of a body at one of the plugin's addresses: Strapi's parser, which reads it, puts
 * U+FFFD where bytes are wrong and rounds numbers without a word. Must be used before Strapi's own, in `register`.
 */
export function createBodyKeeper(services: () => DoorServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    const running = services();
    const keeps = running && Object.hasOwn(checks, mediaType(ctx)) && isOurs(running.sites, ctx.path);
    if (keeps) keep(ctx.req, running.config.limits.bodySize);
    await next();
  };
}

/** Listens as soon as somebody else does: listening by itself would make the data flow too soon. */
function keep(request: IncomingMessage, limit: number): void {
  const body = { chunks: [] as Buffer[], size: 0 };
  kept.set(request, body);
  const onListener = (event: string | symbol) => {
    if (event !== 'data') return;
    request.off('newListener', onListener);
    request.on('data', (chunk: Buffer) => {
      body.size += chunk.length;
      if (body.size <= limit) body.chunks.push(chunk);
    });
  };
  request.on('newListener', onListener);
}

/**
 * BadRequestError, with the position, for a JSON or form body that is not UTF-8 or has numbers that cannot be held;
 * PayloadTooLargeError for one that is larger than `limit` bytes.
 */
export async function checkRawBody(ctx: Context, limit: number): Promise<void> {
  const body = kept.get(ctx.req);
  const type = mediaType(ctx);
  // What a file holds is bytes; that files cannot be stored is said elsewhere.
  const { files } = ctx.request as { files?: object };
  if (!body || (files && Object.keys(files).length > 0)) return;
  kept.delete(ctx.req);
  if (body.size > limit) throw tooLarge(limit);
  const bytes = await decoded(Buffer.concat(body.chunks), ctx.get('Content-Encoding').toLowerCase(), limit);
  checkUtf8(bytes, 'The body');
  checks[type]?.(bytes.toString('utf8'));
}

async function decoded(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  const decode = decoders[encoding];
  if (!decode) return bytes;
  return decode(bytes, { maxOutputLength: limit }).catch((cause: { code?: string }) => {
    if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new AppsError('BadRequestError', 'The body cannot be read', { cause });
  });
}

function tooLarge(limit: number): AppsError {
  return new AppsError('PayloadTooLargeError', `The body is larger than ${limit} bytes`);
}
