import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Context } from 'koa';
import { AppsError } from '../errors';
import { mediaType } from './negotiate';
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

/** Bytes of bodies as they came: Strapi's parser puts U+FFFD where bytes are wrong and rounds numbers without a word. */
const kept = new WeakMap<IncomingMessage, Buffer>();

/** Whether the bytes of a body of this media type are looked at, besides what the parser makes of them. */
export const isChecked = (type: string): boolean => Object.hasOwn(checks, type);

/** Keeps the bytes of a request's body for `checkRawBody`. */
export function keepBody(request: IncomingMessage, bytes: Buffer): void {
  kept.set(request, bytes);
}

/**
 * BadRequestError, with the position, for a JSON or form body that is not UTF-8 or has numbers that cannot be held;
 * PayloadTooLargeError for one that is larger than `limit` bytes once it is unpacked.
 */
export async function checkRawBody(ctx: Context, limit: number): Promise<void> {
  const body = kept.get(ctx.req);
  const type = mediaType(ctx);
  // What a file holds is bytes; that files cannot be stored is said elsewhere.
  const { files } = ctx.request as { files?: object };
  if (!body || (files && Object.keys(files).length > 0)) return;
  kept.delete(ctx.req);
  const bytes = await decoded(body, ctx.get('Content-Encoding').toLowerCase(), limit);
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
