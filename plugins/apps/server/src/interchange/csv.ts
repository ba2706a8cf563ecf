/**
 * Records as CSV (RFC 4180), without loss: a cell holds a text unchanged, any other value as JSON, and a text that would be
 * read as JSON also as JSON. An empty cell is a missing item (docs/reference/import-export.md#csv).
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import type { Items, Json } from '../../../shared/json';

/** The rows as text, each with its line break. */
export const csvText = (rows: readonly string[][]): string =>
  stringify([...rows], { record_delimiter: '\r\n', quote_record_delimiter: true });

/** The names of all items of records, each once: the columns of a table. */
export async function itemNames(
  batches: Iterable<{ items: Items }[]> | AsyncIterable<{ items: Items }[]>,
): Promise<string[]> {
  const names = new Set<string>();
  for await (const batch of batches)
    for (const { items } of batch) for (const name of Object.keys(items)) names.add(name);
  return [...names];
}

export function cellOf(value: Json | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || parsed(value) !== undefined ? JSON.stringify(value) : value;
}

export function itemOf(cell: string): Json | undefined {
  if (cell === '') return undefined;
  const value = parsed(cell);
  return value === undefined ? cell : value;
}

/** What a spreadsheet would read as a formula, perhaps behind apostrophes. */
const formula = /^'*[=+\-@\t\r]/;

/** A cell with an apostrophe before a formula, so that a spreadsheet shows a text. Numbers stay. */
export const notFormula = (cell: string): string =>
  formula.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell;

/** A cell without the apostrophe of `notFormula`. */
export const fromSpreadsheet = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;

/** The value of a JSON text; undefined for another text. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Rows of a CSV file that comes in pieces, in UTF-8, with a byte order mark or without. @param maxRow characters; 0: any number */
export async function* csvRows(chunks: AsyncIterable<Uint8Array | string>, maxRow = 0): AsyncGenerator<string[]> {
  const parser = parse({
    max_record_size: maxRow,
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
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
