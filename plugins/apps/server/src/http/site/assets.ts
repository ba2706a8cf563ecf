import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Context } from 'koa';
import { methodNotAllowed } from '../../errors';
import type { OpenFile } from '../../sites/types';
import { answerUnchanged } from '../response/etag';

/** Opens a file of the plugin's own for `sendFile`. */
export async function openOwnFile(path: string): Promise<OpenFile> {
  const handle = await open(path);
  return { handle, path, info: await handle.stat({ bigint: true }) };
}

/**
 * Answers with an open file, which it closes: type by its ending, ETag by size and time, 304 when the client has it. The
 * answer has the size that the file had when it was opened, even if it changes meanwhile.
 */
export async function sendFile(ctx: Context, { handle, path, info }: OpenFile): Promise<void> {
  let streaming = false;
  try {
    const size = Number(info.size);
    const tag = `"${size.toString(36)}-${(info.mtimeNs / 1_000_000n).toString(36)}"`;
    ctx.set({ 'Cache-Control': 'public, max-age=0, must-revalidate', 'X-Content-Type-Options': 'nosniff' });
    ctx.type = extname(path) || 'application/octet-stream';
    if (answerUnchanged(ctx, tag)) return;
    ctx.status = 200;
    if (ctx.method !== 'HEAD' && size > 0) {
      const stream = handle.createReadStream({ start: 0, end: size - 1 });
      streaming = true;
      // A file that has become shorter: the client must not wait for the rest.
      stream.on('end', () => stream.bytesRead < size && ctx.res.destroy());
      ctx.body = stream;
    } else if (ctx.method !== 'HEAD') {
      ctx.body = Buffer.alloc(0);
    }
    ctx.length = size;
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
