import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'koa';
import type { Items } from '../../../shared/json';
import { type ItemSource, itemsOf } from '../apps';
import { AppsError } from '../errors';
import { checkDepth, jsonBody } from './body';
import { mediaType } from './negotiate';
import { checkNumbers, checkUtf8 } from './text';

const NEWLINE = 10;

/** Reads the items of operation 6 for `work`: a JSON array, or NDJSON of any length, which is kept in a temporary file. */
export async function withItems<T>(
  ctx: Context,
  lineLimit: number,
  work: (source: ItemSource) => Promise<T>,
): Promise<T> {
  if (mediaType(ctx) !== 'application/x-ndjson') return work(arraySource(jsonBody(ctx)));
  if (!['', 'identity'].includes(ctx.get('Content-Encoding'))) {
    throw new AppsError('UnsupportedMediaTypeError', 'NDJSON is taken without a Content-Encoding');
  }
  const folder = await mkdtemp(join(tmpdir(), 'strapi-apps-'));
  try {
    const file = join(folder, 'items.ndjson');
    const namesBlocks = await spool(ctx, file, lineLimit);
    return await work({ namesBlocks, read: () => parsedLines(createReadStream(file), lineLimit) });
  } finally {
    await rm(folder, { recursive: true, force: true });
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

/** Writes the checked lines to a file, so that no database transaction waits for a slow client. */
async function spool(ctx: Context, file: string, lineLimit: number): Promise<boolean> {
  const handle = await open(file, 'w', 0o600);
  let namesBlocks = false;
  try {
    let pending: string[] = [];
    let size = 0;
    const flush = async () => {
      await handle.write(pending.join(''));
      pending = [];
      size = 0;
    };
    for await (const items of parsedLines(ctx.req, lineLimit)) {
      namesBlocks ||= namesBlock(items);
      const line = `${JSON.stringify(items)}\n`;
      pending.push(line);
      size += line.length;
      if (size > 65_536) await flush();
    }
    await flush();
  } finally {
    await handle.close();
  }
  return namesBlocks;
}

/** Items of NDJSON, line by line; empty lines are passed over. Errors name the line, counted from 1. */
async function* parsedLines(input: AsyncIterable<Buffer>, lineLimit: number): AsyncGenerator<Items> {
  let number = 0;
  for await (const bytes of lines(input, lineLimit)) {
    number += 1;
    checkUtf8(bytes, `Line ${number}`);
    const line = bytes.toString('utf8');
    if (line.trim() === '') continue;
    yield itemsOf(parse(line, number), `Line ${number}`);
  }
}

/** Lines without their ends. However small the chunks are, each byte is looked at once. */
async function* lines(input: AsyncIterable<Buffer>, lineLimit: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > lineLimit) throw new AppsError('PayloadTooLargeError', `A line is longer than ${lineLimit} bytes`);
    parts.push(part);
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      yield Buffer.concat(parts);
      [parts, size, start] = [[], 0, end + 1];
    }
    add(chunk.subarray(start));
  }
  if (size > 0) yield Buffer.concat(parts);
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
