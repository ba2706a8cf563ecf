import { createRequire } from 'node:module';
import { fromBuffer, type ZipFile } from 'yauzl';
import { AppsError } from '../common/errors';
import type { TypedCell } from './cells';
import { fromSpreadsheet } from './csv';

/** What one file may hold, so that the process that reads it stays small. */
export interface SheetLimits {
  /** Bytes of its parts, unpacked. */
  unpacked: number;
  rows: number;
  cells: number;
}

export interface SheetInput {
  bytes: Uint8Array;
  /** The name of the sheet that is read; the first visible one with cells without it. */
  sheet?: string | undefined;
  limits: SheetLimits;
}

export interface SheetOutput {
  /** Names of all visible sheets that have cells. */
  sheets: string[];
  /** The one that was read. */
  sheet: string;
  /** One line of JSON for each row that is not empty: its number and its cells. */
  rows: Uint8Array;
}

/** A row as a line of `SheetOutput.rows`: a cell without a type is a text. */
export type SheetRow = [row: number, cells: (string | TypedCell | null)[]];

const refused = (message: string) => new AppsError('BadRequestError', message);

const NO_XLSX = 'The file cannot be read as XLSX: save it as XLSX or CSV, without a password';

/** Parts that hold the cells of a workbook. */
const PART = /^(?:\[Content_Types\]\.xml|_rels\/.*|xl\/.*\.(?:xml|rels)|docProps\/.*\.xml)$/i;

/** Parts of one file. */
const MAX_PARTS = 2_000;

/**
 * Reads the cells of a workbook. Runs in a process of its own: a parser of XML works in one piece, and needs memory for all
 * cells (docs/decisions/spreadsheets.md).
 */
export async function readSheet({ bytes, sheet, limits }: SheetInput): Promise<SheetOutput> {
  const parts = await partsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), limits);
  const { parse_zip: parse } = library();
  let book: Book;
  try {
    const options = { dense: true, cellNF: true, cellHTML: false, cellText: false, cellFormula: false };
    book = parse({ files: parts }, { ...options, sheetRows: limits.rows + 2 });
  } catch {
    throw refused(NO_XLSX);
  }
  const visible = book.SheetNames.filter((name, at) => !book.Workbook?.Sheets?.[at]?.Hidden && hasCells(book, name));
  const chosen = sheet ?? visible[0];
  if (chosen === undefined) throw refused('The file has no sheet with cells');
  if (!visible.includes(chosen)) throw refused(`The file has no sheet "${chosen}"; it has ${visible.join(', ')}`);
  return { sheets: visible, sheet: chosen, rows: await linesOf(book, chosen, limits) };
}

interface SheetCell {
  t: string;
  v?: string | number | boolean;
  z?: string;
}

interface Book {
  SheetNames: string[];
  Sheets: Record<string, { '!data'?: SheetCell[][] }>;
  Workbook?: { Sheets?: { Hidden?: number }[]; WBProps?: { date1904?: boolean } };
}

/** What the package offers in CommonJS; its types name a part of it. */
interface Library {
  parse_zip(zip: { files: object }, options: object): Book;
  SSF: Formats;
}

const library = () => createRequire(__filename)('@e965/xlsx') as Library;

const hasCells = ({ Sheets }: Book, name: string): boolean => Object.keys(Sheets[name]?.['!data'] ?? []).length > 0;

/** The unpacked parts, counted while they are unpacked: a size that a ZIP names may be wrong. */
async function partsOf(bytes: Buffer, limits: SheetLimits): Promise<Record<string, object>> {
  // Excel's old format, and a workbook with a password, begin otherwise.
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== 0x504b) throw refused(NO_XLSX);
  const files = new Map<string, object>();
  let size = 0;
  try {
    const zip = await opened(bytes);
    for await (const entry of zip.eachEntry()) {
      if (files.size >= MAX_PARTS) throw refused(`The workbook has more than ${MAX_PARTS} parts`);
      if (!PART.test(entry.fileName)) continue;
      const chunks: Buffer[] = [];
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        size += (chunk as Buffer).length;
        if (size > limits.unpacked)
          throw refused(`The workbook has more than ${limits.unpacked / 1024 ** 2} MB of cells: save it as CSV`);
        chunks.push(chunk as Buffer);
      }
      const content = Buffer.concat(chunks);
      files.set(entry.fileName, { name: entry.fileName, asNodeBuffer: () => content });
    }
  } catch (error) {
    throw error instanceof AppsError ? error : refused(NO_XLSX);
  }
  return Object.fromEntries(files);
}

const opened = (bytes: Buffer): Promise<ZipFile> =>
  new Promise((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, zip) => (error ? reject(error) : resolve(zip as ZipFile))),
  );

async function linesOf(book: Book, name: string, limits: SheetLimits): Promise<Uint8Array> {
  const { SSF } = library();
  const isOld = book.Workbook?.WBProps?.date1904 === true;
  const lines: string[] = [];
  let cells = 0;
  for (const [at, row] of Object.entries(book.Sheets[name]?.['!data'] ?? {})) {
    if (lines.length > limits.rows) throw refused(`The sheet has more than ${limits.rows} rows: save it as CSV`);
    const found = Object.entries(row ?? {});
    const last = Number(found.at(-1)?.[0] ?? -1);
    cells += last + 1;
    if (cells > limits.cells) throw refused(`The sheet has more than ${limits.cells} cells: save it as CSV`);
    const list: SheetRow[1] = Array.from({ length: last + 1 }, () => null);
    for (const [column, cell] of found) list[Number(column)] = cellOf(cell, SSF, isOld);
    if (list.some((cell) => cell !== null)) lines.push(JSON.stringify([Number(at) + 1, list]));
  }
  return Buffer.from(lines.join('\n'));
}

/** Formats and dates of spreadsheets, as the package has them. */
interface Formats {
  is_date(format: string): boolean;
  format(format: string, value: number): string;
  /** Null for a number that is no day: a negative one, or one after the year 9999. */
  parse_date_code(
    value: number,
    options: { date1904: boolean },
  ): Record<'y' | 'm' | 'd' | 'H' | 'M' | 'S', number> | null;
}

/** Errors of formulas by their codes. */
const errors: Record<number, string> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
  42: '#N/A',
};

function cellOf(cell: SheetCell, formats: Formats, date1904: boolean): string | TypedCell | null {
  const { t: type, v: value, z: format = 'General' } = cell;
  if (value === undefined || value === '') return null;
  if (type === 'b') return { type: 'boolean', value: value === true, text: value ? 'TRUE' : 'FALSE' };
  if (type === 'e') return { type: 'error', text: errors[Number(value)] ?? '#ERROR' };
  if (type !== 'n' || typeof value !== 'number') return { type: 'text', text: fromSpreadsheet(String(value)) };
  const moment = formats.is_date(format) ? momentOf(value, formats, date1904) : null;
  if (moment !== null) return { type: 'date', text: moment };
  return { type: 'number', value, text: isCode(format) ? formats.format(format, value) : String(value) };
}

/** Whether a format shows all digits of a whole number, with zeros before them: postal codes, for example. */
const isCode = (format: string): boolean => /^[0\- /()]*$/.test(format) && /0.*0/.test(format);

const two = (number: number): string => String(number).padStart(2, '0');

/** A day, an hour, or both: the days of a spreadsheet since 1900 or 1904. Null for a number that is none. */
function momentOf(value: number, formats: Formats, date1904: boolean): string | null {
  // A time of a day has been rounded to 15 digits.
  const days = Math.round(value * 86_400_000) / 86_400_000;
  const parts = formats.parse_date_code(days, { date1904 });
  if (parts === null) return null;
  const { y, m, d, H, M, S } = parts;
  const time = `${two(H)}:${two(M)}${Math.round(S) > 0 ? `:${two(Math.round(S))}` : ''}`;
  if (days < 1 && !date1904) return time;
  const day = `${String(y).padStart(4, '0')}-${two(m)}-${two(d)}`;
  return H === 0 && M === 0 && Math.round(S) === 0 ? day : `${day}T${time}`;
}
