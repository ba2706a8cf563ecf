import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { StoredBytes } from '../../files/types';
import { answerUnchanged, hasTag, streamed } from './logic-response';

/** What of a file is sent: the positions of the first and the last byte. */
interface Part {
  status: 200 | 206 | 416;
  start: number;
  end: number;
}

/** One range of bytes of a `Range` header: from a byte, to a byte, or the last bytes. Names of units are in any case. */
const RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * The part of a file that the request's `Range` asks for (RFC 9110, section 14): the whole file without the header, for
 * several parts, for what is no range, and for another version than `If-Range` names; 416 if the file has no such part.
 */
export function partOf(range: string, size: number): Part {
  const [, from, to, last] = RANGE.exec(range) ?? [];
  const [first, end] = [Number(from), to ? Number(to) : Number.POSITIVE_INFINITY];
  if ((from === undefined && last === undefined) || end < first) return { status: 200, start: 0, end: size - 1 };
  const start = last === undefined ? first : Math.max(0, size - Number(last));
  return start < size ? { status: 206, start, end: Math.min(end, size - 1) } : { status: 416, start: 0, end: -1 };
}

/** The header `Range` of a request that wants a part of this version; '' for the whole. */
function rangeOf(ctx: Context, tag: string): string {
  const version = ctx.get('If-Range');
  return ctx.method === 'GET' && (version === '' || version === tag) ? ctx.get('Range') : '';
}

/** The content of a file and how to read parts of it. */
interface SentContent {
  size: number;
  tag: string;
  /** The bytes from `start` to `end`, both included. */
  read(start: number, end: number): Buffer | Readable;
}

/** Answers with a file: 304 when the client has it, 206 or 416 for a part of it. The caller has set its type and its caching. */
export function sendContent(ctx: Context, { size, tag, read }: SentContent): void {
  ctx.set({ 'X-Content-Type-Options': 'nosniff', 'Accept-Ranges': 'bytes' });
  if (answerUnchanged(ctx, tag)) return;
  const { status, start, end } = partOf(rangeOf(ctx, tag), size);
  const length = end - start + 1;
  ctx.status = status;
  if (status === 206) ctx.set('Content-Range', `bytes ${start}-${end}/${size}`);
  else if (status === 416) ctx.set('Content-Range', `bytes */${size}`);
  if (ctx.method !== 'HEAD') ctx.body = length > 0 ? read(start, end) : Buffer.alloc(0);
  ctx.length = length;
}

/** As many bytes as were announced: a client must not wait for others. */
async function* exactly(bytes: number, stream: Readable): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of stream) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new Error('The file has become shorter');
}

/**
 * Opens what the request wants of a stored content, before anything of the answer is set, because it may fail.
 * @returns `read` of its SentContent; null where the bytes are gone
 */
export async function openStored(
  ctx: Context,
  { size, read }: StoredBytes,
  tag: string,
): Promise<SentContent['read'] | null> {
  const { status, start, end } = partOf(rangeOf(ctx, tag), size);
  if (ctx.method === 'HEAD' || status === 416 || size === 0 || hasTag(ctx, tag)) return () => Buffer.alloc(0);
  const stream = await read(start, end);
  if (!stream) return null;
  const body = streamed(ctx, exactly(end - start + 1, stream));
  body.once('close', () => stream.destroy());
  return () => body;
}

/** Answers with the bytes of an open file. False where the caller closes it: no stream reads it. */
export function sendHandle(
  ctx: Context,
  handle: FileHandle,
  { size, tag, caching }: { size: number; tag: string; caching: string },
): boolean {
  let streaming = false;
  const read = (start: number, end: number) => {
    const stream = handle.createReadStream({ start, end });
    streaming = true;
    // A file that has become shorter: the client must not wait for the rest.
    stream.on('end', () => stream.bytesRead < end - start + 1 && ctx.res.destroy());
    return stream;
  };
  ctx.set('Cache-Control', caching);
  sendContent(ctx, { size, tag, read });
  return streaming;
}
