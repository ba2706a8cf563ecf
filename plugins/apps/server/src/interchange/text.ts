import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TextDecoder } from 'node:util';
import { parse } from 'csv-parse';
import { type Encoding, separators } from '../../../shared/cells';
import { AppsError } from '../common/errors';

interface CsvOptions {
  separator?: string;
  /** Characters of a row; 0: any number. */
  maxRow?: number;
}

/**
 * Bytes that the parser gets at once. For each row of another length than the first it makes an error, which takes some hundredths of a
 * millisecond: nothing else could be done for as long as it takes for all rows of a piece.
 */
const PIECE = 1_024;

/** Rows that may have another number of cells than the first one; empty lines are among them. */
export const MAX_UNEVEN = 10_000;

async function* inPieces(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk as string);
    for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
  }
}

/** Rows of a CSV file that comes in pieces of text. A quote inside a cell that does not begin with one is a character of its text. */
export async function* csvRows(
  chunks: AsyncIterable<Uint8Array | string>,
  { separator = separators.comma, maxRow = 0 }: CsvOptions = {},
): AsyncGenerator<string[]> {
  const parser = parse({
    max_record_size: maxRow,
    bom: true,
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
  });
  // Its errors end the loop below, too.
  pipeline(Readable.from(inPieces(chunks)), parser).catch(() => undefined);
  try {
    let length: number | undefined;
    let uneven = 0;
    for await (const row of parser as AsyncIterable<string[]>) {
      length ??= row.length;
      if (row.length !== length) uneven += 1;
      if (uneven > MAX_UNEVEN)
        throw new Error(`More than ${MAX_UNEVEN} rows have another number of cells than the first one`);
      yield row;
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'CSV_MAX_RECORD_SIZE')
      throw new Error('A row of the file is too long', { cause: error });
    if ((error as { code?: string }).code === 'CSV_QUOTE_NOT_CLOSED')
      throw new Error('The last quoted cell is not closed', { cause: error });
    throw error;
  }
}

/** The separator that most often stands in the first line, outside quotes; of equals the first of the table. */
function separatorOf(line: string): string {
  const bare = line.replace(/"(?:[^"]|"")*"/g, '');
  const counts = Object.values(separators).map((sign) => [sign, bare.split(sign).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** The separator that a line `sep=;` names, as Excel writes and reads it. */
const namedSeparator = (line: string): string | undefined => /^"?sep=([^\r\n"])"?\r?$/i.exec(line)?.[1];

/** A file that holds no records, or a line that is none: the message names its line or row. */
export class WrongEntry extends AppsError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BadRequestError', message, options);
  }
}

/** Bytes in which a file without a byte order mark shows its encoding, and its first line its separator. */
const LOOK = 64 * 1024;

const marks: [bytes: number[], encoding: Encoding][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/** The encoding that the first bytes of a file show; UTF-8 if they show none. */
function encodingOf(bytes: Uint8Array): Encoding {
  const marked = marks.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  if (marked) return marked[1];
  // A text begins with a letter of ASCII: half of it is 0 in UTF-16.
  if (bytes.length < 2) return 'utf-8';
  return bytes[1] === 0 && bytes[0] !== 0 ? 'utf-16le' : bytes[0] === 0 && bytes[1] !== 0 ? 'utf-16be' : 'utf-8';
}

const wrongBytes = (encoding: Encoding): WrongEntry =>
  new WrongEntry(
    encoding === 'utf-8'
      ? 'The file is not UTF-8: save it as "CSV UTF-8", or choose its encoding, such as windows-1252'
      : `The file is not ${encoding.toUpperCase()}`,
  );

/**
 * The text of a file that comes in pieces of bytes, without its byte order mark. WrongEntry for bytes that are not of its encoding.
 * @param chosen its encoding; otherwise that which its first bytes show
 */
export async function* textOf(chunks: AsyncIterable<Uint8Array>, chosen?: Encoding): AsyncGenerator<string> {
  let [decoder, encoding]: [TextDecoder | undefined, Encoding] = [undefined, chosen ?? 'utf-8'];
  const decode = (bytes?: Uint8Array): string => {
    try {
      return (decoder as TextDecoder).decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw wrongBytes(encoding);
    }
  };
  let begin = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (decoder) {
      yield decode(chunk);
      continue;
    }
    begin = Buffer.concat([begin, chunk]);
    if (begin.length < 3) continue;
    encoding = chosen ?? encodingOf(begin);
    decoder = new TextDecoder(encoding, { fatal: true });
    yield decode(begin);
  }
  if (!decoder) {
    encoding = chosen ?? encodingOf(begin);
    decoder = new TextDecoder(encoding, { fatal: true });
    yield decode(begin);
  }
  // Throws for a character that is not complete.
  yield decode();
}

/** What the begin of a CSV file says about the rest. */
interface CsvHead {
  separator: string;
  /** Whether the first row is a line `sep=;`, and no heading. */
  isNamed: boolean;
  encoding: Encoding;
}

/** Finds out how a CSV file is written. */
export async function headOf(chunks: AsyncIterable<Uint8Array>, chosen?: Encoding): Promise<CsvHead> {
  let begin = Buffer.alloc(0);
  for await (const chunk of chunks) {
    begin = Buffer.concat([begin, chunk]);
    if (begin.length >= LOOK) break;
  }
  const encoding = chosen ?? encodingOf(begin);
  const text = new TextDecoder(encoding).decode(begin.subarray(0, LOOK));
  const line = firstRow(text);
  const named = namedSeparator(line);
  return { separator: named ?? separatorOf(line) ?? separators.comma, isNamed: named !== undefined, encoding };
}

/** The first row that is not empty: a line break in quotes does not end it. */
function firstRow(text: string): string {
  const begin = /[^\r\n]/.exec(text)?.index ?? 0;
  let isQuoted = false;
  for (let at = begin; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === '\n' || sign === '\r')) return text.slice(begin, at);
  }
  return text.slice(begin);
}
