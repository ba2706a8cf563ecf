import type { Context } from 'koa';
import type { Items } from '../../../../shared/json';
import { hasRules, type ItemSource, itemsOf } from '../../apps';
import { AppsError, bodyTooLarge } from '../../common/errors';
import { checkNumbers } from '../../common/numbers';
import { spool, spoolBytes } from '../../common/spool';
import { linesOf } from '../../common/text';
import { shortWork } from '../../common/time/pace';
import { readParameters } from '../../common/validation';
import { type Format, openRecords, type Sheet } from '../../interchange';
import { checkDepth, closeUnlessEnded, jsonBody, type SentBytes } from '../request/body';
import { charsetOf } from '../request/negotiate';
import { tableParameters } from '../request/operations';
import { checkUtf8 } from '../request/text';

/** Items of a JSON array that are given to the store at once. */
const MAX_BATCH = 500;

/** A body that is a file of records. */
interface SentFile {
  format: Format;
  bytes: SentBytes;
}

interface BulkOptions {
  /** What the definitions say about a table. */
  declared(): Parameters<typeof openRecords>[1]['declared'];
  /** Bytes of a line, and of a whole table that a requester sends who may only add records. */
  maxLine: number;
  /** Records of the body; null: any number. */
  maxRecords: number | null;
  /** Of the temporary file. */
  folder: string;
  /** Reads a workbook. */
  readSheet(bytes: AsyncIterable<Uint8Array>, name: string | undefined): Promise<Sheet>;
}

/**
 * Reads the items of operation 6 for `work`: a JSON array, or NDJSON, or a table of any length. All items are read before `work` begins,
 * so that no database transaction waits for a slow client. PayloadTooLargeError when there are more than `maxRecords`.
 */
export async function withItems<T>(
  ctx: Context,
  file: SentFile | null,
  options: BulkOptions,
  work: (source: ItemSource) => Promise<T>,
): Promise<T> {
  if (file) return withFile(ctx, file, options, work);
  // Strapi's parser has bounded the array, and it is in memory.
  const entries = entriesOf(jsonBody(ctx));
  checkNumber(entries.length, options.maxRecords);
  return work({ hasRules: entries.some(hasRules), read: () => batchesOf(entries), lineOf: null });
}

function checkNumber(records: number, max: number | null): void {
  if (max === null || records <= max) return;
  const reason = `A requester who may only add records sends at most ${max} at once: nothing was stored`;
  throw new AppsError('PayloadTooLargeError', reason, { details: { maxRecords: max } });
}

async function withFile<T>(
  ctx: Context,
  file: SentFile,
  options: BulkOptions,
  work: (source: ItemSource) => Promise<T>,
): Promise<T> {
  const { maxLine, maxRecords, folder } = options;
  const { format, bytes } = file;
  if (!['', 'identity'].includes(ctx.get('Content-Encoding'))) {
    const what = format === 'ndjson' ? 'NDJSON' : 'A table';
    throw new AppsError('UnsupportedMediaTypeError', `${what} is taken without a Content-Encoding`);
  }
  let isRuled = false;
  let records = 0;
  const lines = format === 'ndjson' ? parsedLines(bytes, maxLine) : tableLines(ctx, file, options);
  const items = async function* () {
    for await (const one of lines) {
      checkNumber(++records, maxRecords);
      isRuled ||= hasRules(one.items);
      yield one;
    }
  };
  const spooled = await spool(items(), folder).catch((error: unknown) => {
    closeUnlessEnded(ctx.req);
    throw error;
  });
  try {
    return await work({ hasRules: isRuled, ...withLineNumbers(spooled.read) });
  } finally {
    await spooled.remove();
  }
}

/** Items of a table, row by row. It is read twice: what its columns are shows only at its end. */
async function* tableLines(ctx: Context, { format, bytes }: SentFile, options: BulkOptions): AsyncGenerator<Line> {
  const { declared, folder, maxLine, maxRecords, readSheet } = options;
  const choices = readParameters(tableParameters, ctx.query);
  const encoding = charsetOf(ctx.get('Content-Type'));
  const body = maxRecords === null ? bytes.read() : bounded(bytes.read(), maxLine);
  const spooled = await spoolBytes(body, folder);
  try {
    const source = {
      bytes: spooled.read,
      sheet: (name: string | undefined) => readSheet(spooled.read(), name),
    };
    const file = await openRecords(source, { ...choices, format, declared: declared(), encoding, maxLine });
    for await (const found of file.lines()) {
      const { line } = found;
      if ('problem' in found) throw new AppsError('BadRequestError', found.problem, { details: { line } });
      const { id, items } = found.entry;
      checkDepth(items);
      yield { line, items: id === undefined ? items : { ...items, id } };
    }
  } finally {
    await spooled.remove();
  }
}

async function* bounded(bytes: AsyncIterable<Buffer>, max: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > max) throw bodyTooLarge(max);
    yield chunk;
  }
}

async function* batchesOf(entries: Items[]): AsyncIterable<Items[]> {
  for (let start = 0; start < entries.length; start += MAX_BATCH) yield entries.slice(start, start + MAX_BATCH);
}

function entriesOf(body: unknown): Items[] {
  if (!Array.isArray(body)) throw new AppsError('BadRequestError', 'The body must be a JSON array of item objects');
  return body.map((entry, index) => itemsOf(entry, `Entry ${index + 1} of the array`, { record: index + 1 }));
}

/** Items of a line of NDJSON, or of a row. */
interface Line {
  line: number;
  items: Items;
}

/** The items of lines, with the lines of the batch that was read last. */
function withLineNumbers(lines: () => AsyncIterable<Line[]>): Pick<ItemSource, 'read' | 'lineOf'> {
  let [before, batch]: [number, Line[]] = [0, []];
  return {
    async *read() {
      [before, batch] = [0, []];
      for await (const next of lines()) {
        [before, batch] = [before + batch.length, next];
        yield next.map(({ items }) => items);
      }
    },
    lineOf: (record) => batch[record - before - 1]?.line ?? 0,
  };
}

/** Items of NDJSON, line by line; empty lines are skipped. Errors name the line, counted from 1. */
async function* parsedLines(sent: SentBytes, maxLine: number): AsyncGenerator<Line> {
  const refuse = (): never => {
    throw new AppsError('PayloadTooLargeError', `A line is longer than ${maxLine} bytes`);
  };
  let number = 0;
  for await (const binary of linesOf(binaryText(sent.read()), maxLine, refuse)) {
    number += 1;
    const bytes = Buffer.from(binary, 'latin1');
    checkUtf8(bytes, `Line ${number}`);
    const line = bytes.toString('utf8');
    if (line.trim() === '') continue;
    yield {
      line: number,
      items: await shortWork(() => itemsOf(parse(line, number), `Line ${number}`, { line: number })),
    };
  }
}

/** Bytes as Latin-1 text: its length counts bytes, and invalid UTF-8 is reported with its line. */
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
