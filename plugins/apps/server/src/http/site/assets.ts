import { extname } from 'node:path';
import type { Context } from 'koa';
import { methodNotAllowed } from '../../common/errors';
import { codings, type OwnFile } from '../../common/own-files';
import { versionedContent } from '../../sites';
import type { OpenFile } from '../../sites/types';
import { sendContent, sendHandle } from '../response/sent-file';

/** The request's version of a file; an address with the current one may be cached for ever. */
const wantedVersion = (ctx: Context): string | null => new URLSearchParams(ctx.querystring).get('v');

/** How long caches may keep a public file. */
function publicCaching(ctx: Context, version: string | null): string {
  const isCurrent = version !== null && version === wantedVersion(ctx);
  return isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate';
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
  ctx.set('Cache-Control', publicCaching(ctx, version));
  sendContent(ctx, {
    size: bytes.length,
    tag: coding === 'identity' ? `"${version}"` : `"${version}-${coding}"`,
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
      ctx.set('Cache-Control', publicCaching(ctx, version));
      return sendContent(ctx, { size: bytes.length, tag: `"${version}"`, read });
    }
    const size = Number(info.size);
    const tag = `"${size.toString(36)}-${(info.mtimeNs / 1_000_000n).toString(36)}"`;
    streaming = sendHandle(ctx, handle, { size, tag, caching: publicCaching(ctx, null) });
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
