import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Context } from 'koa';
import { AppsError, bodyTooLarge } from '../../common/errors';
import { checkNumbers } from '../../common/numbers';
import { mediaType } from './negotiate';
import { checkEncoded, checkUtf8 } from './text';

/** Checks of a body's text, besides UTF-8, by media type. */
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

/** Raw bytes of bodies: Strapi's parser silently puts U+FFFD for invalid bytes, and rounds numbers. */
const kept = new WeakMap<IncomingMessage, Buffer>();

/** Names that the parser refuses (`__proto__`), and escapes with which they may be written. */
const SUSPECT = /__proto__|\\u00[567]/i;

/**
 * The object or list of a JSON body as the parser would read it, undefined for all that the parser treats in its own way:
 * other media types, compressed, empty and wrong bodies, suspect names.
 */
export function plainJson(ctx: Context, bytes: Buffer): object | undefined {
  if (mediaType(ctx) !== 'application/json' || ctx.get('Content-Encoding') !== '') return undefined;
  const text = bytes.toString('utf8');
  if (SUSPECT.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the raw bytes of a body of this media type are checked. */
export const isChecked = (type: string): boolean => Object.hasOwn(checks, type);

/** Keeps the bytes of a request's body for `checkRawBody`. */
export function keepBody(request: IncomingMessage, bytes: Buffer): void {
  kept.set(request, bytes);
}

/** The bytes of a request's body as they came, until `checkRawBody`; undefined where they were not kept. */
export const keptBody = (ctx: Context): Buffer | undefined => kept.get(ctx.req);

/**
 * BadRequestError, with the position, for a JSON or form body that is not UTF-8 or has numbers that JavaScript cannot
 * represent; PayloadTooLargeError for one that is larger than `maxSize` bytes after decompression.
 */
export async function checkRawBody(ctx: Context, maxSize: number): Promise<void> {
  const body = kept.get(ctx.req);
  const type = mediaType(ctx);
  // A file may hold any bytes; `formFields` refuses files.
  const { files } = ctx.request as { files?: object };
  if (!body || (files && Object.keys(files).length > 0)) return;
  kept.delete(ctx.req);
  const bytes = await decoded(body, ctx.get('Content-Encoding').toLowerCase(), maxSize);
  checkUtf8(bytes, 'The body');
  checks[type]?.(bytes.toString('utf8'));
}

async function decoded(bytes: Buffer, encoding: string, maxSize: number): Promise<Buffer> {
  const decode = decoders[encoding];
  if (!decode) return bytes;
  return decode(bytes, { maxOutputLength: maxSize }).catch((cause: { code?: string }) => {
    if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(maxSize);
    throw new AppsError('BadRequestError', 'The body cannot be read', { cause });
  });
}
