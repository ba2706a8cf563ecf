/**
 * Records as CSV (RFC 4180), without loss: a cell holds a text unchanged, any other value as JSON, and a text that would be
 * read as JSON also as JSON. An empty cell is a missing item.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';

/** @returns the rows as text, each with its line break */
export const csvText = (rows) => stringify(rows, { record_delimiter: '\r\n', quote_record_delimiter: true });

export function cellOf(value) {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || isJson(value) ? JSON.stringify(value) : value;
}

export function itemOf(cell) {
  if (cell === '') return undefined;
  return isJson(cell) ? JSON.parse(cell) : cell;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Rows of a CSV file that comes in pieces, in UTF-8, with a byte order mark or without. */
export async function* csvRows(chunks) {
  const parser = parse({ bom: true, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true });
  // Its errors end the loop below, too.
  pipeline(Readable.from(chunks), parser).catch(() => undefined);
  try {
    yield* parser;
  } catch (error) {
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') throw new Error('The last quoted cell is not closed', { cause: error });
    throw error;
  }
}
