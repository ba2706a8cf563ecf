import { type CellKind, type Encoding, type Separator, separators } from '../../../shared/cells';
import { type Items, isItems, type Json } from '../../../shared/json';
import { attempt, isAppsError } from '../common/errors';
import { checkNumbers } from '../common/numbers';
import { linesOf } from '../common/text';
import { inSlices } from '../common/time/pace';
import {
  type Cell,
  type ColumnKind,
  ColumnSurvey,
  type ItemKind,
  isEmpty,
  type Notation,
  notationOf,
  readByColumn,
  readByKind,
  textOfCell,
  WrongCell,
} from './cells';
import { fromSpreadsheet, itemOf } from './csv';
import { type DeclaredItems, type Heading, headingsOf, type Mapping, MORE, mapped } from './table';
import { csvRows, headOf, textOf, WrongEntry } from './text';
import type { Sheet } from './xlsx';

export type Format = 'csv' | 'ndjson' | 'xlsx';

/** A record of a file. */
export interface RecordEntry {
  id?: string;
  whenTaken?: 'refuse';
  items: Items;
  creator: string | null;
}

/** A line of NDJSON or a row of a table, counted from 1, with its record, or with the reason why it holds none. */
export type Line = { line: number; entry: RecordEntry } | { line: number; problem: string };

/** What people choose about a file; what they leave out is found in it. */
export interface ReadChoices {
  separator?: Separator | undefined;
  encoding?: Encoding | undefined;
  /** The language in which numbers and dates are written; without it only what is the same in every language is read. */
  language?: string | undefined;
  /** The block of the records that name none. */
  block?: string | undefined;
  /** The sheet of a workbook; the first one without it. */
  sheet?: string | undefined;
  /** Item names by columns. */
  mapping?: Mapping | undefined;
}

export interface ReadOptions extends ReadChoices {
  format: Format;
  /** What the definitions say. */
  declared: DeclaredItems<ItemKind>;
  /** Whether a cell has the value of our own exports, whatever the definitions say: what is restored. */
  isExact?: boolean;
  /** Characters of a line or row; any number without it. */
  maxLine?: number | undefined;
}

/** A file that can be read from its begin any number of times. */
export interface Source {
  bytes(): AsyncIterable<Uint8Array>;
  /** Reads it as XLSX. */
  sheet(name: string | undefined): Promise<Sheet>;
}

/** A column of a table, and what becomes of it. */
export interface FileColumn extends Heading {
  example: string;
  /** How its cells are read; null where it is left out. */
  kind: CellKind | null;
}

/** A file whose columns are known. */
export interface RecordFile {
  format: Format;
  /** Of a table only. */
  columns: FileColumn[];
  /** How it is written; null where that does not apply. */
  separator: string | null;
  encoding: Encoding | null;
  sheets: string[];
  /** Its lines, wrong ones among them. Throws WrongEntry where what follows cannot be read. */
  lines(): AsyncGenerator<Line>;
}

/** By its name a file is CSV, a text whose cells tabs separate, or XLSX; any other is NDJSON. */
export const formatOf = (file: string): Format =>
  /\.(?:csv|tsv)$/i.test(file) ? 'csv' : /\.xlsx$/i.test(file) ? 'xlsx' : 'ndjson';

/** The records of a file. Throws WrongEntry at the first line that holds none. */
export async function* entriesOf(file: RecordFile): AsyncGenerator<RecordEntry> {
  for await (const line of file.lines()) {
    if ('problem' in line) throw new WrongEntry(line.problem);
    yield line.entry;
  }
}

/** Opens a file of records: reads a table once, to know what its columns are. Throws WrongEntry. */
export async function openRecords(source: Source, options: ReadOptions): Promise<RecordFile> {
  if (options.format !== 'ndjson') return openTable(source, options);
  const { block, encoding = null, mapping = {}, maxLine } = options;
  const lines = () => ndjsonLines(textOf(source.bytes(), encoding ?? undefined), { block, mapping, maxLine });
  return { format: 'ndjson', columns: [], separator: null, encoding, sheets: [], lines };
}

/** A record from a line of NDJSON: a line of an export, a line of `GET <app>/records`, or the items themselves. */
function entryOf(value: unknown, line: string): RecordEntry | string {
  if (!isItems(value)) return `${line} is not an object`;
  const { items, creator = null, id: _, path: __, ...others } = value;
  const whole = isItems(items) && Object.keys(others).length === 0;
  const { id, ...rest } = whole ? { ...items, ...(value.id === undefined ? {} : { id: value.id }) } : value;
  if (id !== undefined && typeof id !== 'string') return `${line}: the id is not a string`;
  if (whole && creator !== null && typeof creator !== 'string') return `${line}: the creator is not a string`;
  const chosen = id === undefined ? {} : { id, whenTaken: 'refuse' as const };
  return { ...chosen, items: rest, creator: whole ? (creator as string | null) : null };
}

const lineOf = (line: number, found: RecordEntry | string): Line =>
  typeof found === 'string' ? { line, problem: found } : { line, entry: found };

type LineOptions = Required<Pick<ReadOptions, 'mapping'>> & Pick<ReadOptions, 'block' | 'maxLine'>;

async function* ndjsonLines(pieces: AsyncIterable<string>, options: LineOptions): AsyncGenerator<Line> {
  let line = 0;
  for await (const text of linesOf(pieces, options.maxLine, tooLong)) {
    line += 1;
    if (text.trim() === '') continue;
    yield lineOf(line, ndjsonEntry(text, `Line ${line}`, options));
  }
}

const tooLong = (): never => {
  throw new WrongEntry('A line of the file is too long');
};

function ndjsonEntry(text: string, line: string, { mapping = {}, block }: LineOptions): RecordEntry | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `${line} is not JSON`;
  }
  const { error } = attempt(() => checkNumbers(text));
  if (error) return `${line}: ${error.message}`;
  const entry = entryOf(value, line);
  if (typeof entry === 'string' || (block === undefined && Object.keys(mapping ?? {}).length === 0)) return entry;
  const { id, items } = entry;
  const named = mapped({ ...(id === undefined ? {} : { id }), ...items }, mapping ?? {});
  if (typeof named === 'string') return named;
  // An id is a text, also where an item that is one now was a number.
  const chosen = typeof named.id === 'number' ? { ...named, id: String(named.id) } : named;
  const found = entryOf({ items: withBlock(chosen, block), creator: entry.creator }, line);
  return typeof found === 'string' ? found : { ...found, creator: entry.creator };
}

const withBlock = (items: Items, block: string | undefined): Items =>
  block === undefined || (items.block !== undefined && items.block !== null) ? items : { ...items, block };

/** A row of a table, with its number in the file. */
type TableRow = readonly [row: number, cells: readonly (Cell | null)[]];

interface Table {
  rows(): AsyncIterable<TableRow> | Iterable<TableRow>;
  separator: string | null;
  encoding: Encoding | null;
  sheets: string[];
}

async function csvTableOf(source: Source, options: ReadOptions): Promise<Table> {
  const head = await headOf(source.bytes(), options.encoding);
  const separator = options.separator ? separators[options.separator] : head.separator;
  const rows = async function* (): AsyncGenerator<TableRow> {
    let row = 0;
    try {
      const text = textOf(source.bytes(), head.encoding);
      for await (const cells of csvRows(text, { separator, maxRow: options.maxLine ?? 0 })) {
        row += 1;
        if (row > 1 || !head.isNamed) yield [row, cells];
      }
    } catch (error) {
      throw error instanceof WrongEntry ? error : new WrongEntry((error as Error).message, { cause: error });
    }
  };
  return { rows, separator, encoding: head.encoding, sheets: [] };
}

async function xlsxTableOf(source: Source, { sheet }: ReadOptions): Promise<Table> {
  const found = await source.sheet(sheet);
  return { rows: () => found.rows(), separator: null, encoding: null, sheets: found.sheets };
}

/** Characters of an example. */
const MAX_EXAMPLE = 80;

async function openTable(source: Source, options: ReadOptions): Promise<RecordFile> {
  const table = await (options.format === 'csv' ? csvTableOf : xlsxTableOf)(source, options);
  const hasCommas = table.separator === separators.semicolon;
  const notation = notationIn(options.language, hasCommas);
  const { columns, reader } = await survey(table, options, notation);
  const lines = async function* (): AsyncGenerator<Line> {
    let isHead = true;
    for await (const [row, cells] of inSlices(table.rows())) {
      if (cells.every((cell) => cell === null || isEmpty(cell))) continue;
      if (!isHead) yield lineOf(row, reader(cells, `Row ${row}`));
      isHead = false;
    }
  };
  const { separator, encoding, sheets } = table;
  return { format: options.format, columns, separator, encoding, sheets, lines };
}

function notationIn(language: string | undefined, hasCommas: boolean): Notation {
  try {
    return notationOf(language, hasCommas);
  } catch {
    throw new WrongEntry(`"${language}" is no language, such as de or en-GB`);
  }
}

type RowReader = (cells: readonly (Cell | null)[], row: string) => RecordEntry | string;

/** Stands for all blocks that are not declared. */
const UNDECLARED = '';

/** Reads a table once, to find out what its columns are. */
async function survey(
  table: Table,
  options: ReadOptions,
  notation: Notation,
): Promise<{ columns: FileColumn[]; reader: RowReader }> {
  let headings: Heading[] | undefined;
  let blockAt = -1;
  let surveys: ColumnSurvey[] = [];
  let examples: (string | undefined)[] = [];
  const blocks = new Set<string | undefined>();
  for await (const [, cells] of inSlices(table.rows())) {
    if (cells.every((cell) => cell === null || isEmpty(cell))) continue;
    if (!headings) {
      headings = headingsOf(
        cells.map((cell) => (cell === null ? '' : textOfCell(cell))),
        options.mapping ?? {},
        options.declared,
      );
      blockAt = columnOfBlock(headings);
      surveys = headings.map(() => new ColumnSurvey(notation));
      examples = headings.map(() => undefined);
      continue;
    }
    // Columns are read in the same way for all blocks that are not declared.
    const block = blockOf(blockAt, cells, options.block);
    blocks.add(block === undefined || options.declared.blocks.has(block) ? block : UNDECLARED);
    for (const [at, cell] of cells.entries()) {
      const survey = surveys[at];
      if (!survey || cell === null || isEmpty(cell)) continue;
      const plain = plainCell(cell);
      survey.note(plain);
      examples[at] ??= textOfCell(plain).slice(0, MAX_EXAMPLE);
    }
  }
  const known = headings ?? [];
  requireHeadings(known, examples);
  const kinds = surveys.map((one, at): ColumnKinds => {
    const { kind } = one;
    return { named: kind, unnamed: isText(options.declared, known[at]?.item) ? one.textKind : kind };
  });
  const columns = known.map(({ name, item }, at): FileColumn => {
    const kind = item === null ? null : columnKind(item, kinds[at] as ColumnKinds, [...blocks], options);
    return { name, item, example: examples[at] ?? '', kind };
  });
  return { columns, reader: rowReader(known, kinds, options, notation) };
}

/** Columns without a heading are one item, whose name is empty, as an export has it: of two that have cells one would be lost. */
function requireHeadings(headings: readonly Heading[], examples: readonly (string | undefined)[]): void {
  const bare = headings.flatMap(({ name, item }, at) =>
    name === '' && item !== null && examples[at] !== undefined ? [at + 1] : [],
  );
  if (bare.length > 1) throw new WrongEntry(`Column ${bare[1]} has cells and no heading`);
}

/** What the cells of a column are without an element: in rows that name a block, and in others. */
type ColumnKinds = Record<'named' | 'unnamed', ColumnKind>;

const kindFor = ({ named, unnamed }: ColumnKinds, block: string | undefined): ColumnKind =>
  block === undefined ? unnamed : named;

/** How the cells of a column are read, as far as that is the same for all its rows. */
function columnKind(
  item: string,
  kinds: ColumnKinds,
  blocks: readonly (string | undefined)[],
  { declared }: ReadOptions,
): CellKind {
  if (item === 'id' || item === 'block') return 'text';
  const found = new Set(blocks.map((block) => inputOf(declared, block, item)?.kind ?? kindFor(kinds, block).kind));
  const [only = kinds.named.kind] = found;
  return found.size > 1 ? 'json' : only;
}

const inputOf = ({ blocks }: DeclaredItems<ItemKind>, block: string | undefined, item: string): ItemKind | undefined =>
  block === undefined ? undefined : blocks.get(block)?.get(item);

/** Whether all blocks that have the item read it as a text. */
function isText({ blocks }: DeclaredItems<ItemKind>, item: string | null = null): boolean {
  const inputs = [...blocks.values()].flatMap((block) => (item === null ? [] : (block.get(item) ?? [])));
  return inputs.length > 0 && inputs.every(({ kind }) => kind === 'text');
}

const columnOfBlock = (headings: readonly Heading[]): number => headings.findIndex(({ item }) => item === 'block');

/** A cell of CSV without the apostrophes that an export has put before formulas. */
const plainCell = (cell: Cell): Cell => (typeof cell === 'string' ? fromSpreadsheet(cell) : cell);

function blockOf(at: number, cells: readonly (Cell | null)[], chosen: string | undefined): string | undefined {
  const cell = cells[at];
  return cell === undefined || cell === null || isEmpty(cell) ? chosen : textOfCell(plainCell(cell)).trim();
}

function rowReader(
  headings: readonly Heading[],
  kinds: readonly ColumnKinds[],
  options: ReadOptions,
  notation: Notation,
): RowReader {
  const blockAt = columnOfBlock(headings);
  const read = (cell: Cell, item: string, at: number, block: string | undefined): Json | undefined => {
    const plain = plainCell(cell);
    if (item === 'id') return idOf(plain);
    if (item === MORE) return itemOf(textOfCell(plain));
    if (options.isExact)
      return typeof plain === 'string'
        ? itemOf(plain, notation.hasCommas)
        : readByColumn(plain, (kinds[at] as ColumnKinds).named, notation);
    if (item === 'block') return textOfCell(plain).trim() === '' ? undefined : blockValue(plain);
    const input = inputOf(options.declared, block, item);
    const column = kindFor(kinds[at] as ColumnKinds, block);
    return input ? readByKind(plain, input, column, notation) : readByColumn(plain, column, notation);
  };
  return (cells, row) => {
    const extra = cells.slice(headings.length).filter((cell) => cell !== null && !isEmpty(cell));
    // Only a table of text has rows of another length.
    const isShort = cells.length < headings.length && options.format === 'csv';
    if (extra.length > 0 || isShort) return `${row} has ${cells.length} cells, not ${headings.length}`;
    const block = blockOf(blockAt, cells, options.block);
    const values: [string, Json][] = [];
    for (const [at, { item, name }] of headings.entries()) {
      const cell = cells[at];
      if (item === null || cell === null || cell === undefined) continue;
      try {
        const value = read(cell, item, at, block);
        if (value !== undefined) values.push([item, value]);
      } catch (error) {
        if (error instanceof WrongCell || isAppsError(error)) return `${row}, column "${name}": ${error.message}`;
        throw error;
      }
    }
    const { [MORE]: more = {}, ...items } = Object.fromEntries(values);
    if (!isItems(more)) return `${row}: the column "${MORE}" is not a JSON object`;
    const all = withBlock({ ...items, ...more }, options.block);
    return entryOf({ items: all, ...(all.id === undefined ? {} : { id: all.id }) }, row);
  };
}

/** Null in an export; any other is the block's name. */
function blockValue(cell: Cell): Json {
  const value = typeof cell === 'string' ? itemOf(cell) : itemOf(cell.text);
  return value === null || typeof value === 'string' ? value : textOfCell(cell);
}

/** Ids are texts, also where they look like numbers. */
function idOf(cell: Cell): Json | undefined {
  if (typeof cell !== 'string' && cell.type !== 'text') return cell.text;
  const text = textOfCell(cell);
  const value = text.startsWith('"') ? itemOf(text) : text;
  return text.trim() === '' ? undefined : typeof value === 'string' ? value : text;
}
