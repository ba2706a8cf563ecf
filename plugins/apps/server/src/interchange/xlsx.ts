import { setImmediate } from 'node:timers/promises';
import type { CellValue } from 'hucre/xlsx';
import type { Json } from '../../../shared/json';
import { AppsError, isAppsError, unavailable } from '../common/errors';
import { SLICE } from '../common/time/pace';
import type { SandboxConfig } from '../config.types';
import { createSemaphore, createWorkers, WorkerFailure } from '../workers';
import { jsonInText } from './cells';
import { fromSpreadsheet, jsonOf, NULL, notFormula } from './csv';
import type { SheetInput, SheetLimits, SheetOutput, SheetRow } from './sheet-task';
import {
  type Column,
  columnsOf,
  MORE,
  moreCell,
  type RecordRow,
  type RowBatches,
  requireColumns,
  rowsOf,
  seenOf,
  type TableOptions,
  valueIn,
} from './table';
import { WrongEntry } from './text';

/** Bytes of an XLSX file. */
export const MAX_SHEET_FILE = 20 * 1024 * 1024;
/** Bytes of its cells, unpacked; rows and cells of the sheet. */
export const MAX_UNPACKED = 64 * 1024 * 1024;
export const MAX_SHEET_ROWS = 100_000;
export const MAX_SHEET_CELLS = 1_000_000;

const limits: SheetLimits = { unpacked: MAX_UNPACKED, rows: MAX_SHEET_ROWS, cells: MAX_SHEET_CELLS };

/** Megabytes of V8's old space, milliseconds of the processor. */
const MEMORY = 768;
const TIME = 20_000;
/** Files that wait for the process, half of them of one app; milliseconds that one waits. */
export const MAX_WAITING = 8;
const MAX_WAIT = 30_000;

/** A sheet that was read. */
export interface Sheet extends Omit<SheetOutput, 'rows'> {
  /** Its rows that are not empty. */
  rows(): Generator<SheetRow>;
}

/** Reads XLSX files in a process of its own, one at a time. */
export interface Sheets {
  /** @param user who is to have no more than a share of the queue  @param sheet its name; the first without it */
  read(user: string, bytes: AsyncIterable<Uint8Array>, sheet: string | undefined): Promise<Sheet>;
  destroy(): Promise<void>;
}

interface Options {
  /** The built worker program. */
  path: string;
  sandbox: SandboxConfig;
  logger: { error(message: string): void };
}

/** Packages that the task loads, besides which its process can read no others. */
export const sheetPackages = ['@e965/xlsx', 'yauzl'];

export function createSheets({ path, sandbox, logger }: Options): Sheets {
  const busy = () => unavailable('The server is busy with other spreadsheets, try again soon', 5);
  const semaphore = createSemaphore({ permits: 1, queue: MAX_WAITING, share: (all) => Math.ceil(all / 2), busy });
  const access = { packages: sheetPackages };
  const workers = createWorkers({ path, count: 1, memory: MEMORY, kept: 0, sandbox, logger, access });
  return {
    async read(user, bytes, sheet) {
      // Only with a permit it is in memory.
      const release = await semaphore.acquire(user, MAX_WAIT);
      try {
        const input: SheetInput = { bytes: await collected(bytes), sheet, limits };
        const output = (await workers.run('readSheet', input, { time: TIME, byProcessor: true })) as SheetOutput;
        return { sheets: output.sheets, sheet: output.sheet, rows: () => rowsOfSheet(Buffer.from(output.rows)) };
      } catch (error) {
        if (!(error instanceof WorkerFailure) || isAppsError(error)) throw error;
        throw new AppsError('BadRequestError', 'Reading the workbook takes too much: save it as CSV', { cause: error });
      } finally {
        release();
      }
    },
    destroy: workers.destroy,
  };
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MAX_SHEET_FILE) {
      const most = `${MAX_SHEET_FILE / 1024 ** 2} MB`;
      throw new AppsError('PayloadTooLargeError', `An XLSX file has at most ${most}: save it as CSV`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Line by line, so that the cells of a large sheet are not in memory twice. */
function* rowsOfSheet(lines: Buffer): Generator<SheetRow> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(0x0a, start);
    const stop = end < 0 ? lines.length : end;
    yield JSON.parse(lines.toString('utf8', start, stop)) as SheetRow;
    start = stop + 1;
  }
}

/** What one sheet holds in every program: rows with the heading, and the characters of a cell. */
export const MAX_ROWS = 1_048_576;
export const MAX_CELL = 32_767;

/** The media type of XLSX. */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * Records as an XLSX table, in pieces, with the columns of `csvTable`: numbers and truth values have their types, all others are
 * texts. WrongEntry for what no sheet can hold, before the first piece where it is not written meanwhile.
 */
export async function* xlsxTable(
  read: () => RowBatches,
  { declared, isWhole }: Pick<TableOptions, 'declared' | 'isWhole'>,
): AsyncGenerator<Buffer, void> {
  const columns = await columnsOf({ declared, isWhole }, read(), bounds());
  const requireBounds = bounds();
  const { id, items, hasMore } = columns;
  const cell = isWhole ? wholeCell : plainCell;
  const valuesOf = (row: RecordRow): CellValue[] => {
    requireColumns(row, columns, { isWhole });
    requireBounds(row);
    const cells = [cell(row.id, id), ...items.map((column) => cell(valueIn(row, column), column))];
    return (hasMore ? [...cells, moreCell(row, columns)] : cells).map(asCell);
  };
  const headings = [id, ...items].map(({ heading, hasOthers }) => ({ heading, isText: !hasOthers }));
  const shown = hasMore ? [...headings, { heading: MORE, isText: true }] : headings;
  // A package of modules, which not every process needs.
  const { writeXlsxStream } = await import('hucre/xlsx');
  const written = writeXlsxStream(singly(rowsOf(seenOf(read(), columns), valuesOf)), {
    name: 'Records',
    // Text stays text when it is edited: ids and codes, for example.
    columns: shown.map(({ heading, isText }) => ({ header: escaped(heading), ...(isText && { numFmt: '@' }) })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: Number.POSITIVE_INFINITY,
  });
  for await (const { buffer, byteOffset, byteLength } of written) yield Buffer.from(buffer, byteOffset, byteLength);
}

/** Rows one by one, with pauses for other requests: each row is written between two of them. */
async function* singly(batches: AsyncIterable<CellValue[][]>): AsyncGenerator<CellValue[], void> {
  for await (const rows of batches) {
    let begin = performance.now();
    for (const row of rows) {
      yield row;
      if (performance.now() - begin < SLICE) continue;
      await setImmediate();
      begin = performance.now();
    }
  }
}

/** Throws WrongEntry for a record that a sheet cannot hold with those before it. */
function bounds(): (row: RecordRow) => void {
  let rows = 1;
  return (row) => {
    rows += 1;
    if (rows > MAX_ROWS) throw new WrongEntry('A sheet has at most 1,048,575 records: export them as CSV or NDJSON');
    for (const [name, value] of Object.entries(row.items)) requireShort(row, name, value);
  };
}

function requireShort({ id }: RecordRow, name: string, value: Json): void {
  // JSON of a text has a sixth of its characters or more.
  const { length } = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  if (length <= MAX_CELL) return;
  const rest = 'a cell of a sheet has at most 32,767: export as CSV or NDJSON';
  throw new WrongEntry(`The item "${name}" of the record "${id}" has ${length} characters, and ${rest}`);
}

type Value = string | number | boolean | undefined;

/** As people read it: null and a missing item are empty. */
function plainCell(value: Json | undefined): Value {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** From which an import reads a value back, in the column in which it is. */
function wholeCell(value: Json | undefined, { hasTexts, hasOthers }: Column): Value {
  if (value === undefined) return undefined;
  if (value === null) return NULL;
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'string') return value;
  // A line break of two signs becomes one in spreadsheets.
  const isJson =
    value === '' || value === NULL || value.includes('\r') || (jsonInText.test(value) && jsonOf(value) !== undefined);
  if (isJson || (hasTexts && hasOthers)) return JSON.stringify(value);
  // No sheet reads a text as a formula, but an import takes the apostrophe of CSV away.
  return fromSpreadsheet(value) === value ? value : notFormula(value);
}

const asCell = (value: Value): CellValue => (typeof value === 'string' ? escaped(value) || null : (value ?? null));

/**
 * A text as spreadsheets write what XML cannot hold. The package does that for control characters; it neither marks a text that looks like
 * one of those, nor keeps half of a pair.
 */
const escaped = (text: string): string =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\ufffe\uffff]|\p{Surrogate}/gu, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase()}_`);
