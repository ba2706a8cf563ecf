/** The cells of a table as values: by the kind of the element that has the item, or of all cells of the column. */
import type { CellKind } from '../../../shared/cells';
import type { Json } from '../../../shared/json';
import { checkNumbers } from '../common/numbers';
import { isoMoment } from '../common/values/moments';
import { isOwnText, jsonOf, NULL } from './csv';
import {
  AMBIGUOUS,
  booleanIn,
  dateIn,
  datetimeIn,
  looksGrouped,
  type Notation,
  notationOf,
  numberIn,
  spreadsheetBoolean,
  timeIn,
} from './notation';

/** A cell that has a type in its file. `text`: as people see it. */
export type TypedCell =
  | { type: 'number'; value: number; text: string }
  | { type: 'boolean'; value: boolean; text: string }
  /** A day, a day and time, or an hour. */
  | { type: 'date'; text: string }
  | { type: 'text'; text: string }
  | { type: 'error'; text: string };

/** A cell of CSV is a text, which may stand for anything. */
export type Cell = string | TypedCell;

/** How the item of a column is stored by an element. */
export interface ItemKind {
  kind: CellKind;
  /** The options of a list, if the definition has them. */
  options?: readonly string[] | undefined;
}

/** What all cells of a column are together. */
export interface ColumnKind {
  kind: 'text' | 'number' | 'boolean' | 'json';
  /** Whether texts are JSON, because there are other values too. */
  isMixed: boolean;
}

/** A cell that cannot be read; the message says why. */
export class WrongCell extends Error {}

export const isEmpty = (cell: Cell | undefined): boolean =>
  cell === undefined || (typeof cell === 'string' ? cell.trim() === '' : cell.type === 'text' && cell.text === '');

export const textOfCell = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

/** A value of JSON that is written as JavaScript writes it: `1E5`, `1.10` and `01067` are none. */
function plainJson(text: string, notation: Notation): Json | undefined {
  const value = jsonOf(text);
  if (value !== undefined && typeof value !== 'number') return value;
  const isForeign = notation.language ? notation.language.decimal === ',' && text.includes('.') : false;
  if (value !== undefined && String(value) === text && !isForeign && !(notation.hasCommas && looksGrouped.test(text)))
    return value;
  const boolean = spreadsheetBoolean(text);
  if (boolean !== null) return boolean;
  const usesCommas = notation.language ? notation.language.decimal === ',' : notation.hasCommas;
  if (!usesCommas || !/^-?\d+,\d+(e[+-]\d+)?$/.test(text)) return undefined;
  const written = text.replace(',', '.');
  return String(Number(written)) === written ? Number(written) : undefined;
}

/** A text of XLSX that may stand for another value. */
export const jsonInText = /^(?:["[{]|(?:null|true|false)$)/;

/** The value that a cell has without an element; undefined where it can only be a text. */
function plainValue(cell: Cell, notation: Notation): Json | undefined {
  if (typeof cell === 'string') return cell === NULL ? null : plainJson(cell, notation);
  if (cell.type === 'number' || cell.type === 'boolean') return cell.value;
  if (cell.type !== 'text') return undefined;
  if (cell.text === NULL) return null;
  // The type of the cell says that it is no number; a word of JSON is one of our CSV, which a spreadsheet has saved as XLSX.
  const value = jsonInText.test(cell.text) ? jsonOf(cell.text) : undefined;
  return typeof value === 'number' ? undefined : value;
}

type Sort = 'text' | 'number' | 'boolean' | 'string' | 'null' | 'other';

/** Finds out what the cells of a column are together. */
export class ColumnSurvey {
  readonly #sorts = new Set<Sort>();
  constructor(readonly notation: Notation) {}

  note(cell: Cell): void {
    // One text makes all of them texts.
    if (this.#sorts.has('text')) return;
    const value = plainValue(cell, this.notation);
    if (value === undefined) this.#sorts.add('text');
    else if (value === null) this.#sorts.add('null');
    else if (typeof value === 'object') this.#sorts.add('other');
    else this.#sorts.add(typeof value as 'number');
  }

  get kind(): ColumnKind {
    const sorts = new Set(this.#sorts);
    const isMixed = sorts.has('string') && [...sorts].some((sort) => sort !== 'string' && sort !== 'null');
    sorts.delete('null');
    const [only] = sorts;
    const isOne = sorts.size === 1 && !this.#sorts.has('text');
    if (this.#sorts.has('text') || (isOne && only === 'string')) return { kind: 'text', isMixed: false };
    return { kind: isOne && (only === 'number' || only === 'boolean') ? only : 'json', isMixed };
  }

  /** The same for an item that is a text: its numbers and truth values are texts too. */
  get textKind(): ColumnKind {
    const isNull = [...this.#sorts].every((sort) => sort === 'null');
    return isNull || this.#sorts.has('other') ? this.kind : { ...this.kind, kind: 'text' };
  }
}

/** The value of a cell in a column without an element; undefined for an empty one. */
export function readByColumn(cell: Cell, column: ColumnKind, notation: Notation): Json | undefined {
  if (typeof cell === 'string' ? cell === '' : isEmpty(cell)) return undefined;
  if (typeof cell !== 'string' && cell.type === 'error') throw new WrongCell(`holds the error ${cell.text}`);
  if (column.kind === 'text') return textOf(cell, column.isMixed);
  const value = plainValue(cell, notation);
  if (typeof value === 'string') return textOf(cell, column.isMixed);
  return value === undefined ? textOf(cell, false) : value;
}

/** The text of a cell, or null. A text that an export has put in quotes comes out of them. */
function textOf(cell: Cell, isMixed: boolean): Json {
  const text = textOfCell(cell);
  if (text === NULL) return null;
  if (typeof cell !== 'string' && cell.type !== 'text') return text;
  const value = text.startsWith('"') ? jsonOf(text) : undefined;
  return typeof value === 'string' && (isMixed || isOwnText(value) || value.includes('\r')) ? value : text;
}

/** The value of a cell as the element stores it; undefined for an empty one. Throws WrongCell. */
export function readByKind(cell: Cell, { kind, options }: ItemKind, column: ColumnKind, notation: Notation) {
  if (isEmpty(cell)) return typeof cell === 'string' && cell !== '' && kind === 'text' ? cell : undefined;
  if (typeof cell !== 'string' && cell.type === 'error') throw new WrongCell(`holds the error ${cell.text}`);
  const text = textOfCell(cell);
  if (text === NULL || (text === 'null' && kind !== 'text')) return null;
  return readers[kind](cell, text, { notation, column, options });
}

interface Reading {
  notation: Notation;
  column: ColumnKind;
  options: readonly string[] | undefined;
}

const readers: Record<CellKind, (cell: Cell, text: string, reading: Reading) => Json> = {
  text: (cell, _, { column }) => textOf(cell, column.isMixed),
  number(cell, text, { notation }) {
    if (typeof cell !== 'string' && cell.type === 'number') return cell.value;
    const found = numberIn(unquoted(text), notation);
    if (typeof found !== 'string') throw wrong(text, 'number', found, notation, numberIn);
    // The number of a table is one of JSON.
    const written = found.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
    checkNumbers(written.replace(/^(-?)\./, '$10.'));
    return Number(written);
  },
  boolean(cell, text) {
    if (typeof cell !== 'string' && cell.type === 'boolean') return cell.value;
    const found = booleanIn(unquoted(text));
    if (found === null) throw new WrongCell(`${shown(text)} is neither true nor false`);
    return found;
  },
  date: (cell, _, { notation }) => moment(cell, 'date', /^\d{4}-\d\d-\d\d$/, '', notation, dateIn),
  datetime: (cell, _, { notation }) => moment(cell, 'date and time', /^\d{4}-\d\d-\d\dT/, '', notation, datetimeIn),
  time: (cell, _, { notation }) => moment(cell, 'time', /^\d\d:\d\d/, '2000-01-01T', notation, timeIn),
  list(cell, text, { options }) {
    const value = jsonOf(text);
    if (Array.isArray(value)) return value;
    const whole = textOf(cell, false) as string;
    if (options?.includes(whole)) return [whole];
    const parts = whole.split(whole.includes(';') ? ';' : /[,\n]/).map((part) => part.trim());
    return options && parts.every((part) => options.includes(part)) ? parts : [whole];
  },
  json(cell, text, { column }) {
    const value = /^[[{]/.test(text) ? jsonOf(text) : undefined;
    return value === undefined ? textOf(cell, column.isMixed) : value;
  },
};

/** A text of JSON without its quotes: an export puts digits into them, so that they stay texts. */
function unquoted(text: string): string {
  const value = text.startsWith('"') ? jsonOf(text) : undefined;
  return typeof value === 'string' ? value : text;
}

/** The seconds that a browser or spreadsheet adds to an entered time. */
export const ADDED = /(?<=\d\d:\d\d):00$/;

type Reader = (text: string, notation: Notation) => string | null | typeof AMBIGUOUS;

function moment(cell: Cell, what: string, form: RegExp, before: string, notation: Notation, read: Reader): string {
  const given = textOfCell(cell);
  const text = unquoted(given).trim();
  // Spreadsheets write the seconds of a day and time that had none when they opened a CSV file.
  const isTheirs = typeof cell === 'string' && given.trim() === text;
  if (form.test(text) && isoMoment(before + text)) return isTheirs ? text.replace(ADDED, '') : text;
  const found = read(text, notation);
  if (typeof found !== 'string') throw wrong(text, what, found, notation, read);
  return found;
}

const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Languages that a message proposes. */
const proposed = ['en', 'de', 'fr', 'es'].map((tag) => [tag, notationOf(tag, false)] as const);

/** What is wrong with a cell, and whether a language cures it. */
function wrong(
  text: string,
  what: string,
  found: null | typeof AMBIGUOUS,
  notation: Notation,
  read: Reader,
): WrongCell {
  const fits = proposed.filter(([, one]) => typeof read(text, one) === 'string').map(([tag]) => tag);
  const cure = fits.length > 0 ? `; it is one in the language ${fits.join(', ')}` : '';
  if (found === AMBIGUOUS)
    return new WrongCell(`${shown(text)} is not the same ${what} in every language: choose the language of the file`);
  return new WrongCell(`${shown(text)} is no ${what}${notation.language ? ' in this language' : ''}${cure}`);
}
