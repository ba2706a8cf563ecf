import { setImmediate } from 'node:timers/promises';
import { type Separator, separators } from '../../../shared/cells';
import type { Items, Json } from '../../../shared/json';
import { AppsError } from '../common/errors';
import { encoded, slices } from '../common/time/pace';
import { ADDED, type ItemKind } from './cells';
import { cellOf, csvText, fromSpreadsheet, jsonOf, keptText, NULL, notFormula } from './csv';
import { WrongEntry } from './text';

/** The columns of a table, and the items that they become. */

/** What the definitions of an app say about items (`declaredCells` of apps/elements). */
export interface DeclaredItems<Kind = unknown> {
  /** Names of items, those of all blocks. */
  names: readonly string[];
  /** Their labels, where one label stands for one item only. */
  labels: ReadonlyMap<string, string>;
  /** The inputs of each block. */
  blocks: ReadonlyMap<string, ReadonlyMap<string, Kind>>;
}

/** The last column of a table that has not a column for each item: the others of a record as a JSON object. No element has such a name. */
export const MORE = '(more)';

/** Item names by headings; null leaves a column out. */
export type Mapping = Readonly<Record<string, string | null>>;

export interface Heading {
  /** As it stands in the file, without blanks around it. */
  name: string;
  /** The item; null: the column is left out. */
  item: string | null;
}

const folded = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Columns of a table that is read: as many as a sheet of Excel has. */
export const MAX_HEADINGS = 16_384;

/**
 * Reads the item that a heading names: one that an export has put into quotes, a name of the definitions, also in other letters or
 * by its label, or the heading itself.
 */
function headingReader({ names, labels }: DeclaredItems): (heading: string) => string {
  const known = new Set(['id', 'block', ...names]);
  // Null for two names that differ in their letters alone.
  const alike = new Map<string, string | null>();
  for (const name of known) alike.set(folded(name), alike.has(folded(name)) ? null : name);
  return (heading) => {
    const quoted = heading.startsWith('"') ? jsonOf(heading) : undefined;
    if (typeof quoted === 'string') return quoted;
    const name = heading.replace(/^\ufeff/, '').trim();
    if (known.has(name) || name === MORE) return name;
    return alike.get(folded(name)) ?? labels.get(folded(name)) ?? name;
  };
}

/** The heading of an item in an export, which `headingReader` reads back. */
const headingOf = (item: string, read: (heading: string) => string): string =>
  read(item) === item ? item : JSON.stringify(item);

/** Labels in the form in which headings are compared; those that two items have are left out. */
export function labelsOf(items: readonly { name: string; label?: string | undefined }[]): ReadonlyMap<string, string> {
  const found = new Map<string, string | null>();
  for (const { name, label } of items) {
    if (!label) continue;
    const key = folded(label);
    found.set(key, found.has(key) && found.get(key) !== name ? null : name);
  }
  return new Map([...found].filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The columns of a table by its first row. WrongEntry where two of them are the same item. */
export function headingsOf(row: readonly string[], mapping: Mapping, declared: DeclaredItems): Heading[] {
  if (row.length > MAX_HEADINGS) throw new WrongEntry(`The table has more than ${MAX_HEADINGS} columns`);
  const itemOfHeading = headingReader(declared);
  const names = row.map((cell) => fromSpreadsheet(cell.trim()).trim());
  const items = new Map<string, string>();
  return names.map((name) => {
    const item = Object.hasOwn(mapping, name) ? (mapping[name] ?? null) : itemOfHeading(name);
    // Columns that spreadsheets leave behind have neither heading nor cells; others are found with their cells.
    if (item === null || name === '') return { name, item };
    const other = items.get(item);
    if (other !== undefined)
      throw new WrongEntry(
        other === name
          ? `Two columns have the heading "${name}"`
          : `The columns "${other}" and "${name}" are both "${item}"`,
      );
    items.set(item, name);
    return { name, item };
  });
}

/** Items under the names that a mapping gives them; a text says what is wrong. */
export function mapped(columns: Items, mapping: Mapping): Items | string {
  const items = new Map<string, Items[string]>();
  for (const [column, value] of Object.entries(columns)) {
    const name = Object.hasOwn(mapping, column) ? mapping[column] : column;
    if (name === null || name === undefined) continue;
    if (items.has(name)) return `Two columns are the item "${name}"`;
    items.set(name, value);
  }
  return Object.fromEntries(items);
}

/** A record of a table. */
export interface RecordRow {
  id: string;
  items: Items;
  /** Its place in the order of creation. */
  seq: number;
}

export type RowBatches = Iterable<RecordRow[]> | AsyncIterable<RecordRow[]>;

/** Columns of elements that the definitions of an app declare, and of other items: a cell for each is in every row. */
export const MAX_DECLARED = 1_000;
export const MAX_OTHERS = 200;

/** The byte order mark, by which a spreadsheet that opens a file knows that it is UTF-8. */
const MARK = '\ufeff';

export interface TableOptions {
  /** What the definitions say: the items of which records have some are the first columns, in their order. */
  declared: DeclaredItems<ItemKind>;
  /** Whether an import reads each value back; otherwise each cell is a text, or JSON, or empty. */
  isWhole: boolean;
  separator?: Separator;
  /** Whether it begins with a byte order mark. */
  hasMark?: boolean;
}

/** What the values of a column are, so that an import knows them again. */
export interface Column {
  name: string;
  heading: string;
  /** Whether it has texts, and other values besides null. */
  hasTexts: boolean;
  hasOthers: boolean;
  /** Whether each of its texts is a date of an element. */
  isDate: boolean;
}

export interface Columns {
  id: Column;
  items: Column[];
  hasMore: boolean;
  /** Columns by the names of their items. */
  byName: ReadonlyMap<string, Column>;
  /** The place of the newest record. */
  newest: number;
}

/**
 * Records as a CSV table, in pieces of some milliseconds of work, between which other requests are served. The first line
 * names the columns of the items that the records have: `id`, declared items, at most 200 others in the order of the records, and
 * `MORE` where these are not all (docs/reference/import-export.md#csv). No spreadsheet reads a cell as a formula.
 * @param read reads the records, twice, to keep memory flat: the columns come first. Records that are newer than these are
 *   left out; ColumnsChanged where one has got an item without a column
 */
export async function* csvTable(read: () => RowBatches, options: TableOptions): AsyncGenerator<Buffer, void> {
  const separator = separators[options.separator ?? 'comma'];
  const columns = await columnsOf(options, read());
  const line = (cells: string[], isHead = false) => csvText(cells.map(notFormula), separator, isHead);
  const { id, items, hasMore } = columns;
  const cell = options.isWhole ? wholeCell(separator === separators.semicolon) : plainCell;
  const head =
    (options.hasMark ? MARK : '') +
    line([id.heading, ...items.map(({ heading }) => heading), ...(hasMore ? [MORE] : [])], true);
  const rowOf = (row: RecordRow): string => {
    requireColumns(row, columns, options);
    const cells = [cell(row.id, id), ...items.map((column) => cell(valueIn(row, column), column))];
    return line(hasMore ? [...cells, moreCell(row, columns)] : cells);
  };
  yield* encoded(seenOf(read(), columns), rowOf, { head });
}

/** Those of the records that have been there when the columns were found. */
export async function* seenOf(batches: RowBatches, { newest }: Columns): AsyncGenerator<RecordRow[], void> {
  for await (const batch of batches) yield batch.filter(({ seq }) => seq <= newest);
}

/** Throws ColumnsChanged for a record whose items the columns do not hold. */
export function requireColumns(
  { id, items }: RecordRow,
  { byName, hasMore }: Columns,
  { isWhole }: Pick<TableOptions, 'isWhole'>,
): void {
  for (const [name, value] of Object.entries(items)) {
    const column = byName.get(name);
    const fits = column ? !isWhole || value === null || column[sortOf(value)] : hasMore;
    if (!fits) throw new ColumnsChanged(id);
  }
}

/** A record was changed while a table was made, so that its columns are others now: the table can be made again. */
export class ColumnsChanged extends AppsError {
  constructor(id: string) {
    const message = `The record "${id}" was changed during the export, which has no column for it: try again`;
    super('ServiceUnavailableError', message, { headers: { 'Retry-After': '1' } });
  }
}

/** The rows that `work` makes of records, in slices. */
export async function* rowsOf<T>(batches: RowBatches, work: (row: RecordRow) => T): AsyncGenerator<T[], void> {
  for await (const batch of batches) {
    yield* slices(batch, work);
    await setImmediate();
  }
}

export const valueIn = ({ items }: RecordRow, { name }: Column): Json | undefined =>
  Object.hasOwn(items, name) ? items[name] : undefined;

/** A text unchanged, any other value as JSON; null and a missing item are empty. */
function plainCell(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The cell from which an import reads a value back, in the column in which it is. */
const wholeCell =
  (hasCommas: boolean) =>
  (value: Json | undefined, { hasTexts, hasOthers, isDate }: Column): string => {
    if (value === null && hasTexts && !hasOthers) return NULL;
    if (typeof value !== 'string') return cellOf(value, hasCommas);
    // Beside other values a bare text would make texts of them.
    if (hasOthers) return JSON.stringify(value);
    return isDate && !ADDED.test(value) ? cellOf(value, hasCommas) : keptText(value);
  };

/** The items that have no column. */
export function moreCell({ items }: RecordRow, { byName }: Columns): string {
  const others = Object.entries(items).filter(([name]) => !byName.has(name));
  const members = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return members.length > 0 ? `{${members.join()}}` : '';
}

type Found = Pick<Column, 'hasTexts' | 'hasOthers'>;

/** What a column has that has a value besides null. */
const sortOf = (value: Json): keyof Found => (typeof value === 'string' ? 'hasTexts' : 'hasOthers');

/** The columns of the items that the records have. @param look sees each record, before anything is written */
export async function columnsOf(
  { declared, isWhole }: Pick<TableOptions, 'declared' | 'isWhole'>,
  batches: RowBatches,
  look: (row: RecordRow) => void = () => undefined,
): Promise<Columns> {
  const wanted = new Set(declared.names.filter((name) => name !== 'id' && name !== MORE).slice(0, MAX_DECLARED));
  const [found, others] = [new Map<string, Found>(), new Map<string, Found>()];
  let [hasMore, newest] = [false, 0];
  const placeOf = (name: string): Map<string, Found> | undefined => {
    if (wanted.has(name)) return found;
    if (others.has(name) || (name !== MORE && others.size < MAX_OTHERS)) return others;
    hasMore = true;
    return undefined;
  };
  const note = (name: string, value: Json): void => {
    const place = placeOf(name);
    if (!place) return;
    const sorts = place.get(name) ?? { hasTexts: false, hasOthers: false };
    if (value !== null) sorts[sortOf(value)] = true;
    place.set(name, sorts);
  };
  const noteRow = (row: RecordRow): void => {
    for (const [name, value] of Object.entries(row.items)) note(name, value);
    newest = Math.max(newest, row.seq);
    look(row);
  };
  for await (const _ of rowsOf(batches, noteRow));
  const readHeading = headingReader(declared);
  const columnOf = (name: string, sorts: Found): Column => ({
    ...sorts,
    name,
    heading: isWhole ? headingOf(name, readHeading) : name,
    isDate: isDate(declared, name),
  });
  const inOrder = [...wanted].flatMap((name) => (found.has(name) ? [[name, found.get(name) as Found] as const] : []));
  const items = [...inOrder, ...others].map(([name, sorts]) => columnOf(name, sorts));
  const id = { name: 'id', heading: 'id', hasTexts: true, hasOthers: false, isDate: false };
  return { id, items, hasMore, byName: new Map(items.map((column) => [column.name, column])), newest };
}

const dates = new Set(['date', 'datetime', 'time']);

const isDate = ({ blocks }: DeclaredItems<ItemKind>, name: string): boolean =>
  [...blocks.values()].some((inputs) => dates.has(inputs.get(name)?.kind ?? ''));
