import { type Items, isItems, type Json } from '../../../shared/json';
import { attempt } from '../common/errors';
import { linesOf } from '../common/lines';
import { checkNumbers } from '../common/numbers';
import { csvRows, fromSpreadsheet, itemOf } from './csv';
import { MORE } from './table';
import { textOf } from './text';

/** A file that holds no records, or a line that is none: the message names its line or row. */
export class WrongEntry extends Error {}

export type Format = 'csv' | 'ndjson';

/** A record of a file. */
export interface Entry {
  id?: string;
  whenTaken?: 'refuse';
  items: Items;
  creator: string | null;
}

/** A line of NDJSON or a row of CSV, counted from 1, with its record, or with the reason why it holds none. */
export type Line = { line: number; entry: Entry } | { line: number; problem: string };

/** By its name a file is CSV; any other is NDJSON. */
export const formatOf = (file: string): Format => (/\.csv$/i.test(file) ? 'csv' : 'ndjson');

/**
 * The lines of a file in UTF-8, one after the other, wrong ones among them. Throws WrongEntry where what follows cannot be
 * read.
 * @param maxLine characters of a line or row; any number without it
 */
export function linesOfFile(format: Format, stream: AsyncIterable<Uint8Array>, maxLine?: number): AsyncGenerator<Line> {
  const text = textOf(stream, () => new WrongEntry('The file is not UTF-8'));
  return format === 'csv' ? csvLines(text, maxLine) : ndjsonLines(text, maxLine);
}

/** The records of a file. Throws WrongEntry at the first line that holds none. */
export async function* entriesOf(file: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  for await (const line of linesOfFile(formatOf(file), stream)) {
    if ('problem' in line) throw new WrongEntry(line.problem);
    yield line.entry;
  }
}

/** A record from a line of NDJSON: a line of an export, a line of `GET <app>/records`, or the items themselves. */
function entryOf(value: unknown, line: string): Entry | string {
  if (!isItems(value)) return `${line} is not an object`;
  const { items, creator = null, id: _, path: __, ...others } = value;
  const whole = isItems(items) && Object.keys(others).length === 0;
  const { id, ...rest } = whole ? { ...items, ...(value.id === undefined ? {} : { id: value.id }) } : value;
  if (id !== undefined && typeof id !== 'string') return `${line}: the id is not a string`;
  if (whole && creator !== null && typeof creator !== 'string') return `${line}: the creator is not a string`;
  const chosen = id === undefined ? {} : { id, whenTaken: 'refuse' as const };
  return { ...chosen, items: rest, creator: whole ? (creator as string | null) : null };
}

const lineOf = (line: number, found: Entry | string): Line =>
  typeof found === 'string' ? { line, problem: found } : { line, entry: found };

async function* ndjsonLines(pieces: AsyncIterable<string>, maxLine?: number): AsyncGenerator<Line> {
  let line = 0;
  for await (const text of linesOf(pieces, maxLine, tooLong)) {
    line += 1;
    if (text.trim() === '') continue;
    yield lineOf(line, ndjsonEntry(text, `Line ${line}`));
  }
}

function ndjsonEntry(text: string, line: string): Entry | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `${line} is not JSON`;
  }
  const { error } = attempt(() => checkNumbers(text));
  return error ? `${line}: ${error.message}` : entryOf(value, line);
}

async function* csvLines(pieces: AsyncIterable<string>, maxLine?: number): AsyncGenerator<Line> {
  let names: string[] | undefined;
  let row = 0;
  for await (const cells of rowsOf(pieces, maxLine)) {
    row += 1;
    if (!names) names = cells.map(fromSpreadsheet);
    else if (cells.length !== 1 || cells[0] !== '') yield lineOf(row, rowEntry(names, cells, `Row ${row}`));
  }
}

const tooLong = (): never => {
  throw new WrongEntry('A line of the file is too long');
};

async function* rowsOf(pieces: AsyncIterable<string>, maxLine?: number): AsyncGenerator<string[]> {
  try {
    yield* csvRows(pieces, maxLine);
  } catch (error) {
    throw new WrongEntry((error as Error).message, { cause: error });
  }
}

function rowEntry(names: readonly string[], cells: readonly string[], row: string): Entry | string {
  if (cells.length !== names.length) return `${row} has ${cells.length} cells, not ${names.length}`;
  const values = cells
    .map((cell, at) => [names[at] ?? '', fromSpreadsheet(cell)] as const)
    .map(([name, cell]) => [name, name === 'id' ? idOf(cell) : itemOf(cell)] as const)
    .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined);
  const { [MORE]: more = {}, ...items } = Object.fromEntries(values);
  if (!isItems(more)) return `${row}: the column "${MORE}" is not a JSON object`;
  return entryOf({ items: { ...items, ...more }, ...(items.id === undefined ? {} : { id: items.id }) }, row);
}

/** Ids are texts, also where they look like numbers. */
function idOf(cell: string): Json | undefined {
  const value = itemOf(cell);
  return typeof value === 'string' || value === undefined ? value : cell;
}
