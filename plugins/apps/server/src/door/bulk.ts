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
  for await (const line of lines(input, lineLimit)) {
    number += 1;
    if (line.trim() === '') continue;
    yield itemsOf(parse(line, number), `Line ${number}`);
  }
}

async function* lines(input: AsyncIterable<Buffer>, lineLimit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of input) {
    rest += decode(decoder, chunk);
    const parts = rest.split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > lineLimit)
      throw new AppsError('PayloadTooLargeError', `A line is longer than ${lineLimit} bytes`);
    yield* parts;
  }
  rest += decode(decoder);
  if (rest !== '') yield rest;
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Buffer): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw new AppsError('BadRequestError', 'The body is not UTF-8');
  }
}

function parse(line: string, number: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new AppsError('BadRequestError', `Line ${number} is not JSON`, { details: { line: number } });
  }
  checkDepth(value);
  return value;
}
