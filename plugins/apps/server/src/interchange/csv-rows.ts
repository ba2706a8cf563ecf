import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { separators } from '../../../shared/cells';

export interface CsvOptions {
  separator?: string;
  /** Characters of a row; 0: any number. */
  maxRow?: number;
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
  pipeline(Readable.from(chunks), parser).catch(() => undefined);
  try {
    yield* parser as AsyncIterable<string[]>;
  } catch (error) {
    if ((error as { code?: string }).code === 'CSV_MAX_RECORD_SIZE')
      throw new Error('A row of the file is too long', { cause: error });
    if ((error as { code?: string }).code === 'CSV_QUOTE_NOT_CLOSED')
      throw new Error('The last quoted cell is not closed', { cause: error });
    throw error;
  }
}

/** The separator that most often stands in the first line, outside quotes; of equals the first of the table. */
export function separatorOf(line: string): string {
  const bare = line.replace(/"(?:[^"]|"")*"/g, '');
  const counts = Object.values(separators).map((sign) => [sign, bare.split(sign).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** The separator that a line `sep=;` names, as Excel writes and reads it. */
export const namedSeparator = (line: string): string | undefined => /^"?sep=([^\r\n"])"?\r?$/i.exec(line)?.[1];
