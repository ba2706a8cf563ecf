/** The columns of a table, and the items that they become. */
import type { Items } from '../../../shared/json';
import { fromSpreadsheet, jsonOf } from './csv';
import { WrongEntry } from './text';

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
const MAX_HEADINGS = 16_384;

/**
 * Reads the item that a heading names: one that an export has put into quotes, a name of the definitions, also in other letters or
 * by its label, or the heading itself.
 */
export function headingReader({ names, labels }: DeclaredItems): (heading: string) => string {
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
export const headingOf = (item: string, read: (heading: string) => string): string =>
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
    // Columns that spreadsheets leave behind have neither heading nor cells.
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
