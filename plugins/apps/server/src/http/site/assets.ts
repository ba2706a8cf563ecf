import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Context } from 'koa';
import parseRange from 'range-parser';
import { methodNotAllowed } from '../../errors';
import type { OpenFile } from '../../sites/types';
import { answerUnchanged } from '../response/etag';

/** Opens a file of the plugin's own for `sendFile`. */
export async function openOwnFile(path: string): Promise<OpenFile> {
  const handle = await open(path);
  return { handle, path, info: await handle.stat({ bigint: true }) };
}

/** Answers with the browser script, which finds these words on its element (browser/src/home.ts). */
export async function sendScript(ctx: Context, path: string, words: { [name: string]: string }): Promise<void> {
  // `<` could end the element of a script that somebody puts into a page.
  const json = JSON.stringify(words).replace(/</g, '\\u003c');
  const text = `Object.assign(document.currentScript??{},{appsWords:${json}});\n${await readFile(path, 'utf8')}`;
  ctx.set({ 'Cache-Control': 'public, max-age=0, must-revalidate', 'X-Content-Type-Options': 'nosniff' });
  ctx.type = 'js';
  if (answerUnchanged(ctx, `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`)) return;
  ctx.status = 200;
  ctx.body = text;
}

/** What of a file is sent: the positions of the first and the last byte. */
interface Part {
  status: 200 | 206 | 416;
  start: number;
  end: number;
}

/**
 * The part of a file that the request's `Range` asks for (RFC 9110, section 14): the whole file without the header, for
 * several parts, and for another version than `If-Range` names; 416 if the file has no such part.
 */
function partOf(ctx: Context, size: number, tag: string): Part {
  const whole: Part = { status: 200, start: 0, end: size - 1 };
  const [header, version] = [ctx.get('Range'), ctx.get('If-Range')];
  if (header === '' || ctx.method !== 'GET' || (version !== '' && version !== tag)) return whole;
  const parts = parseRange(size, header);
  if (parts === -1) return { status: 416, start: 0, end: -1 };
  if (parts === -2 || parts.type !== 'bytes') return whole;
  const [part, second] = parts;
  return part && !second ? { status: 206, ...part } : whole;
}

/**
 * Answers with an open file, which it closes: type by its ending, ETag by size and time, 304 when the client has it, 206
 * or 416 for a part of it. The answer has the size that the file had when it was opened, even if it changes meanwhile.
 */
export async function sendFile(ctx: Context, { handle, path, info }: OpenFile): Promise<void> {
  let streaming = false;
  try {
    const size = Number(info.size);
    const tag = `"${size.toString(36)}-${(info.mtimeNs / 1_000_000n).toString(36)}"`;
    ctx.set({
      'Cache-Control': 'public, max-age=0, must-revalidate',
      'X-Content-Type-Options': 'nosniff',
      'Accept-Ranges': 'bytes',
    });
    ctx.type = extname(path) || 'application/octet-stream';
    if (answerUnchanged(ctx, tag)) return;
    const { status, start, end } = partOf(ctx, size, tag);
    const length = end - start + 1;
    ctx.status = status;
    if (status === 206) ctx.set('Content-Range', `bytes ${start}-${end}/${size}`);
    else if (status === 416) ctx.set('Content-Range', `bytes */${size}`);
    if (ctx.method !== 'HEAD' && length > 0) {
      const stream = handle.createReadStream({ start, end });
      streaming = true;
      // A file that has become shorter: the client must not wait for the rest.
      stream.on('end', () => stream.bytesRead < length && ctx.res.destroy());
      ctx.body = stream;
    } else if (ctx.method !== 'HEAD') {
      ctx.body = Buffer.alloc(0);
    }
    ctx.length = length;
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
