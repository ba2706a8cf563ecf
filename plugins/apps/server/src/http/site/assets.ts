import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { methodNotAllowed } from '../../common/errors';
import { codings, type OwnFile } from '../../common/own-files';
import { versionedContent } from '../../sites';
import type { OpenFile } from '../../sites/types';
import { answerUnchanged } from '../response/logic-response';

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

/** The content of a public file and how to read parts of it. */
interface PublicContent {
  size: number;
  tag: string;
  /** Of the content, as the query of an address names it. */
  version: string | null;
  /** The bytes from `start` to `end`, both included. */
  read(start: number, end: number): Buffer | Readable;
}

/** The request's version of a file; an address with the current one may be cached for ever. */
const wantedVersion = (ctx: Context): string | null => new URLSearchParams(ctx.querystring).get('v');

/** Answers with a public file: 304 when the client has it, 206 or 416 for a part of it. The caller has set its type. */
function sendContent(ctx: Context, { size, tag, version, read }: PublicContent): void {
  const isCurrent = version !== null && version === wantedVersion(ctx);
  ctx.set({
    'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate',
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'bytes',
  });
  if (answerUnchanged(ctx, tag)) return;
  const { status, start, end } = partOf(rangeOf(ctx, tag), size);
  const length = end - start + 1;
  ctx.status = status;
  if (status === 206) ctx.set('Content-Range', `bytes ${start}-${end}/${size}`);
  else if (status === 416) ctx.set('Content-Range', `bytes */${size}`);
  if (ctx.method !== 'HEAD') ctx.body = length > 0 ? read(start, end) : Buffer.alloc(0);
  ctx.length = length;
}

/** Answers with one of the plugin's own files, compressed if the client takes that; parts of it are not compressed. */
export async function sendOwnFile(ctx: Context, type: string, file: OwnFile): Promise<void> {
  const whole = ctx.get('Range') === '';
  const coding = (whole && codings.find((one) => ctx.acceptsEncodings(one))) || 'identity';
  const bytes = await file.bytes(coding);
  const { version } = file;
  ctx.type = type;
  ctx.vary('Accept-Encoding');
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  sendContent(ctx, {
    size: bytes.length,
    tag: coding === 'identity' ? `"${version}"` : `"${version}-${coding}"`,
    version,
    read: (start, end) => bytes.subarray(start, end + 1),
  });
}

/**
 * Answers with an open file, which it closes: type by its ending, ETag by size and time. The answer has the size that the file
 * had when it was opened, even if it changes meanwhile; an answer that may be cached for ever has the bytes of its version.
 */
export async function sendFile(ctx: Context, file: OpenFile): Promise<void> {
  const { handle, path, info } = file;
  let streaming = false;
  try {
    ctx.type = extname(path) || 'application/octet-stream';
    const wanted = wantedVersion(ctx);
    const content = wanted === null ? null : await versionedContent(file);
    if (content !== null && content.version === wanted) {
      const { bytes, version } = content;
      const read = (start: number, end: number) => bytes.subarray(start, end + 1);
      return sendContent(ctx, { size: bytes.length, tag: `"${version}"`, version, read });
    }
    const size = Number(info.size);
    const tag = `"${size.toString(36)}-${(info.mtimeNs / 1_000_000n).toString(36)}"`;
    const read = (start: number, end: number) => {
      const stream = handle.createReadStream({ start, end });
      streaming = true;
      // A file that has become shorter: the client must not wait for the rest.
      stream.on('end', () => stream.bytesRead < end - start + 1 && ctx.res.destroy());
      return stream;
    };
    sendContent(ctx, { size, tag, version: null, read });
  } finally {
    // A stream closes the file at its end, or when the client leaves.
    if (!streaming) await handle.close();
  }
}

/** Public files answer GET and HEAD alone. */
export function requireRead(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  throw methodNotAllowed('GET, HEAD');
}
