import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Items } from '../../../shared/json';
import { type ItemSource, itemsOf } from '../apps';
import { AppsError } from '../errors';
import { linesOf } from '../lines';
import { spool } from '../spool';
import { checkDepth, jsonBody, received } from './body';
import { closeUnlessEnded } from './bounded-body';
import { mediaType } from './negotiate';
import { checkNumbers, checkUtf8 } from './text';

/**
 * Reads the items of operation 6 for `work`: a JSON array, or NDJSON of any length, which is read to its end first, so
 * that no database transaction waits for a slow client.
 */
export async function withItems<T>(
  ctx: Context,
  { lineLimit, folder }: { /** Bytes. */ lineLimit: number /** Of the temporary file. */; folder: string },
  work: (source: ItemSource) => Promise<T>,
): Promise<T> {
  if (mediaType(ctx) !== 'application/x-ndjson') return work(arraySource(jsonBody(ctx)));
  if (!['', 'identity'].includes(ctx.get('Content-Encoding'))) {
    throw new AppsError('UnsupportedMediaTypeError', 'NDJSON is taken without a Content-Encoding');
  }
  let namesBlocks = false;
  const items = async function* () {
    for await (const one of parsedLines(ctx.req, lineLimit)) {
      namesBlocks ||= namesBlock(one);
      yield one;
    }
  };
  const spooled = await spool(items(), folder).catch((error: unknown) => {
    closeUnlessEnded(ctx.req);
    throw error;
  });
  try {
    const read = async function* () {
      for await (const batch of spooled.read()) yield* batch;
    };
    return await work({ namesBlocks, read });
  } finally {
    await spooled.remove();
  }
}

function arraySource(body: unknown): ItemSource {
  if (!Array.isArray(body)) throw new AppsError('BadRequestError', 'The body must be a JSON array of item objects');
  const all = body.map((entry, index) => itemsOf(entry, `Entry ${index} of the array`));
  return {
    namesBlocks: all.some(namesBlock),
    read: async function* () {
      yield* all;
    },
  };
}

function namesBlock(items: Items): boolean {
  return items.block !== undefined && items.block !== null;
}

/** Items of NDJSON, line by line; empty lines are passed over. Errors name the line, counted from 1. */
async function* parsedLines(request: IncomingMessage, lineLimit: number): AsyncGenerator<Items> {
  const refuse = (): never => {
    throw new AppsError('PayloadTooLargeError', `A line is longer than ${lineLimit} bytes`);
  };
  let number = 0;
  for await (const binary of linesOf(binaryText(received(request)), lineLimit, refuse)) {
    number += 1;
    const bytes = Buffer.from(binary, 'latin1');
    checkUtf8(bytes, `Line ${number}`);
    const line = bytes.toString('utf8');
    if (line.trim() === '') continue;
    yield itemsOf(parse(line, number), `Line ${number}`);
  }
}

/** Bytes as text of as many characters: a line is cut at its bytes, and what is not UTF-8 is found with its line. */
async function* binaryText(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield chunk.toString('latin1');
}

function parse(line: string, number: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new AppsError('BadRequestError', `Line ${number} is not JSON`, { details: { line: number } });
  }
  checkNumbers(line, ` of line ${number}`);
  checkDepth(value);
  return value;
}
