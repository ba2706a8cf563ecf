import { once } from 'node:events';
import Busboy from '@fastify/busboy';
import type { Context } from 'koa';
import { bodyTooLarge } from '../../common/errors';
import { recordWork, untilLoopIsFree } from '../../common/time/pace';
import type { RequestFiles } from '../../files';
import { closeUnlessEnded, MAX_FIELDS, received } from './body';
import { badForm, type MultipartOptions, MultipartParts, tooManyFields } from './multipart-parts';

/** Bytes of files that are read, though not kept, where they are too large: so that the form can say which one is. */
const READ_SIZE = 64 * 1024 * 1024;

/**
 * Reads a form with files (docs/reference/definitions.md#files): fields into `ctx.request.body`, files into the temporary folder,
 * in constant memory. PayloadTooLargeError by its Content-Length before anything is read, or while it is read;
 * BadRequestError for a body that ends too soon or is no form.
 */
export async function readMultipart(
  ctx: Context,
  files: RequestFiles,
  options: MultipartOptions,
): Promise<RequestFiles> {
  try {
    const texts = await readParts(ctx, options, files);
    // Not by assignment: a field may be called __proto__.
    (ctx.request as { body?: unknown }).body = Object.fromEntries(
      [...texts].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]),
    );
    return files;
  } catch (error) {
    closeUnlessEnded(ctx.req);
    throw error;
  }
}

async function readParts(ctx: Context, options: MultipartOptions, files: RequestFiles): Promise<Map<string, string[]>> {
  const { bodySize, uploadSize, rules } = options;
  const wanted = [...(rules?.values() ?? [])].reduce((sum, { maxSize, count }) => sum + maxSize * count, 0);
  const filesSize = rules === null ? uploadSize : wanted && Math.min(Math.max(wanted, READ_SIZE), uploadSize);
  const maxSize = bodySize + filesSize;
  if (Number(ctx.get('Content-Length') || 0) > maxSize) throw bodyTooLarge(maxSize);
  const parts = new MultipartParts(options, files);
  try {
    await feed(ctx, parserOf(ctx, parts), parts, maxSize);
  } catch (error) {
    await parts.abort(error as Error);
    throw error;
  }
  return parts.texts;
}

/** Gives the body to the parser as fast as its parts are written. */
async function feed(
  ctx: Context,
  parser: InstanceType<typeof Busboy>,
  parts: MultipartParts,
  maxSize: number,
): Promise<void> {
  const finished = new Promise((resolve) => parser.once('finish', resolve));
  let size = 0;
  let pieceSize = MIN_PIECE;
  for await (const chunk of received(ctx.req)) {
    size += chunk.length;
    if (size > maxSize) throw bodyTooLarge(maxSize);
    for (const piece of piecesOf(chunk, pieceSize)) {
      const time = await Promise.race([written(parser, piece), parts.failed]);
      pieceSize = time > MANY_PARTS ? MIN_PIECE : Math.min(MAX_PIECE, 2 * pieceSize);
      parts.throwFailure();
    }
  }
  parser.end();
  await Promise.race([finished, parts.failed]);
  await parts.end();
}

/** Milliseconds for which a piece of the body is parsed that has many parts; one of a file takes a tenth of it. */
const MANY_PARTS = 1;

/** Bytes that the parser gets at once: it handles all parts in them before anything else is done. */
const MIN_PIECE = 8 * 1024;
const MAX_PIECE = 64 * 1024;

function* piecesOf(chunk: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
}

/** Resolves when the parser takes more, to the milliseconds for which it has parsed. */
async function written(parser: InstanceType<typeof Busboy>, piece: Buffer): Promise<number> {
  const begin = performance.now();
  // Asked for at once: it may come while this work waits for others.
  const drained = parser.write(piece) ? undefined : once(parser, 'drain');
  // Awaited below, perhaps after it has rejected.
  drained?.catch(() => undefined);
  const time = performance.now() - begin;
  if (time > MANY_PARTS) {
    recordWork(time);
    await untilLoopIsFree();
  }
  await drained;
  return time;
}

function parserOf(ctx: Context, parts: MultipartParts): InstanceType<typeof Busboy> {
  try {
    const parser = new Busboy({
      headers: { 'content-type': ctx.get('Content-Type') },
      // All parts are streams, so that the bytes of fields can be checked.
      isPartAFile: () => true,
      preservePath: true,
      limits: { headerPairs: 20, parts: MAX_FIELDS + 100 },
    });
    parser.on('file', (name, stream, filename) => parts.take(name, stream, filename));
    parser.on('partsLimit', () => parts.fail(tooManyFields()));
    parser.on('error', (error) => parts.fail(badForm(error)));
    return parser;
  } catch (error) {
    throw badForm(error);
  }
}
