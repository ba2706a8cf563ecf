import type { NewRecord } from '../../../server/src/records/types';
import type { Items, Json } from '../../../shared/json';
import { csvRows, itemOf } from './csv';
import { linesOf, textOf } from './text';

/** A file that holds no records, or a line that is none: the message names its line or row. */
export class WrongEntry extends Error {}

/** The name of a file of CSV; any other is NDJSON. */
export const isCsv = (file: string): boolean => /\.csv$/i.test(file);

/** The records of a file of NDJSON or CSV in UTF-8, one after the other. Throws WrongEntry. */
export const entriesOf = (file: string, stream: AsyncIterable<Uint8Array>) => {
  const text = textOf(stream, () => new WrongEntry('The file is not UTF-8'));
  return isCsv(file) ? csvEntries(text) : ndjsonEntries(text);
};

function isObject(value: unknown): value is Items {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A record from a line of NDJSON: a line of an export, a line of `GET <app>/records`, or the items themselves. */
function entryOf(value: unknown, line: string): NewRecord {
  if (!isObject(value)) throw new WrongEntry(`${line} is not an object`);
  const { items, creator = null, id: _, path: __, ...others } = value;
  const whole = isObject(items) && Object.keys(others).length === 0;
  const { id, ...rest } = whole ? { ...items, ...(value.id === undefined ? {} : { id: value.id }) } : value;
  if (id !== undefined && typeof id !== 'string') throw new WrongEntry(`${line}: the id is not a string`);
  if (whole && creator !== null && typeof creator !== 'string') {
    throw new WrongEntry(`${line}: the creator is not a string`);
  }
  const chosen = id === undefined ? {} : { id, whenTaken: 'refuse' as const };
  return { ...chosen, items: rest, creator: whole ? (creator as string | null) : null };
}

async function* ndjsonEntries(pieces: AsyncIterable<string>): AsyncGenerator<NewRecord> {
  let line = 0;
  for await (const text of linesOf(pieces)) {
    line += 1;
    if (text.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new WrongEntry(`Line ${line} is not JSON`);
    }
    yield entryOf(value, `Line ${line}`);
  }
}

async function* csvEntries(pieces: AsyncIterable<string>): AsyncGenerator<NewRecord> {
  let names: string[] | undefined;
  let row = 0;
  for await (const cells of rowsOf(pieces)) {
    row += 1;
    if (!names) names = cells;
    else if (cells.length !== 1 || cells[0] !== '') yield rowEntry(names, cells, `Row ${row}`);
  }
}

async function* rowsOf(pieces: AsyncIterable<string>): AsyncGenerator<string[]> {
  try {
    yield* csvRows(pieces);
  } catch (error) {
    throw new WrongEntry((error as Error).message, { cause: error });
  }
}

function rowEntry(names: readonly string[], cells: readonly string[], row: string): NewRecord {
  if (cells.length !== names.length) throw new WrongEntry(`${row} has ${cells.length} cells, not ${names.length}`);
  const items = Object.fromEntries(
    cells
      .map((cell, at) => [names[at] ?? '', names[at] === 'id' ? idOf(cell) : itemOf(cell)] as const)
      .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined),
  );
  return entryOf({ items, ...(items.id === undefined ? {} : { id: items.id }) }, row);
}

/** Ids are texts, also where they look like numbers. */
function idOf(cell: string): Json | undefined {
  const value = itemOf(cell);
  return typeof value === 'string' || value === undefined ? value : cell;
}
