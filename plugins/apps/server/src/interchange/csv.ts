/**
 * Records as CSV (RFC 4180), without loss: a cell holds a text unchanged, any other value as JSON, and a text that would be
 * read as JSON also as JSON. An empty cell is a missing item (docs/reference/import-export.md#csv).
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import type { Json } from '../../../shared/json';
import { checkNumbers } from '../common/numbers';

/** A cell that is quoted. */
const special = /[",\r\n]/;

/** A row as text, with its line break. */
export const csvText = (row: readonly string[]): string =>
  `${row.map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join()}\r\n`;

/**
 * The cell of a value, without loss: `itemOf` gives the value back.
 * @param value undefined: a missing item
 */
export function cellOf(value: Json | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || parsed(value) !== undefined ? JSON.stringify(value) : value;
}

/** The value of a cell; undefined for an empty one. */
export function itemOf(cell: string): Json | undefined {
  if (cell === '') return undefined;
  const value = parsed(cell);
  return value === undefined ? cell : value;
}

/** What a spreadsheet would read as a formula, perhaps behind apostrophes; `＝`, `＋`, `－` and `＠` are their forms of full width. */
const formula = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Where a formula begins inside a cell for a spreadsheet that separates cells otherwise, e.g. by semicolons: quotes that begin
 * elsewhere protect nothing there.
 */
const innerFormula = /[;\t\r\n](?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
const innerText = /([;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A cell with an apostrophe before each formula, so that a spreadsheet shows a text. Numbers stay. */
export const notFormula = (cell: string): string =>
  cell && (formula.test(cell) && !number.test(cell) ? `'${cell}` : cell).replace(innerFormula, "$&'");

/** A cell without the apostrophes of `notFormula`. */
export const fromSpreadsheet = (cell: string): string =>
  (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell).replace(innerText, '$1');

/** The value of a JSON text; undefined for another text, and for one with numbers that would change. */
function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    checkNumbers(text);
    return value;
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
