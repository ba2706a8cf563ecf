import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Context } from 'koa';
import { AppsError } from '../errors';

/** Answers with a file of the disk: type by its ending, ETag by size and time, 304 when the client has it. */
export async function sendFile(ctx: Context, file: string): Promise<void> {
  const { size, mtimeMs } = await stat(file);
  const tag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  ctx.set({ ETag: tag, 'Cache-Control': 'public, max-age=0, must-revalidate', 'X-Content-Type-Options': 'nosniff' });
  ctx.type = extname(file) || 'application/octet-stream';
  if (ctx.get('If-None-Match').includes(tag)) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  ctx.length = size;
  if (ctx.method === 'HEAD') return;
  ctx.body = createReadStream(file);
  ctx.length = size;
}

/** Public files answer GET and HEAD alone. */
export function requireRead(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  throw new AppsError('MethodNotAllowedError', 'This address can only be read', { headers: { Allow: 'GET, HEAD' } });
}
