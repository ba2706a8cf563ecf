/** The cells of a table as values: by the kind of the element that has the item, or of all cells of the column. */

import type { CellKind } from '../../../shared/cells';
import type { Json } from '../../../shared/json';
import { checkNumbers } from '../common/numbers';
import { isoMoment } from '../common/time/moments';
import { isOwnText, jsonOf, NULL } from './csv';

/**
 * Numbers, dates and truth values as people and their spreadsheets write them (docs/decisions/spreadsheets.md). Without a
 * language only what is the same in all of them is read; what differs is `ambiguous`.
 */

export interface Notation {
  /** The signs and the order of a date (`dmy`) of the language that was chosen; undefined: none was. */
  language?: { decimal: string; group: string; order: string } | undefined;
  /** Whether a comma may be the decimal sign without a language: cells are then separated by another sign. */
  hasCommas: boolean;
}

/** How a language writes numbers and dates. Throws RangeError for a text that is no language tag. */
export function notationOf(language: string | undefined, hasCommas: boolean): Notation {
  if (language === undefined) return { hasCommas };
  const number = new Intl.NumberFormat(language, { useGrouping: true, numberingSystem: 'latn' }).formatToParts(12345.5);
  const sign = (wanted: string) => number.find(({ type }) => type === wanted)?.value ?? '';
  const date = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'numeric', day: 'numeric' }).formatToParts(
    0,
  );
  const letters: Record<string, string> = { day: 'd', month: 'm', year: 'y' };
  const order = date.map(({ type }) => letters[type] ?? '').join('');
  return { language: { decimal: sign('decimal'), group: sign('group'), order }, hasCommas };
}

/** A cell that is read in two ways, so that a language has to be chosen. */
const AMBIGUOUS = Symbol('ambiguous');

/** A text, null where it is none of the kind. */
type Read = string | null | typeof AMBIGUOUS;

const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Digits in groups of three between signs that only separate groups. */
const grouped = /^([+-]?\d{1,3})((?:[\s\u00a0\u202f'\u2019]\d{3})+)(?=$|[.,])/;
const withCommas = /^[+-]?\d*,\d+(?:e[+-]?\d+)?$/i;
/** A number that may have a sign between its thousands in place of a decimal sign. */
const looksGrouped = /^[+-]?[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*$/;

/** A number as JavaScript writes one, with its digits as they stand; its value may still be too large. */
function numberIn(text: string, { language, hasCommas }: Notation): Read {
  const trimmed = text.trim().replace(/^[\u2212\u2013]/, '-');
  // Blanks and apostrophes separate groups in some languages, and nothing else in any.
  const spaced = trimmed.replace(grouped, (_, head, tail) => head + tail.replace(/\D/g, ''));
  if (!language) return withoutLanguage(spaced, hasCommas);
  const { decimal, group } = language;
  const whole = withoutGroups(spaced, group, decimal);
  if (whole === null) return null;
  const written = decimal === ',' ? whole.replace(',', '.') : whole;
  return (decimal !== ',' || !whole.includes('.')) && plainNumber.test(written) ? written : null;
}

/** A text without the signs between its groups; null where they are not between groups of three. */
function withoutGroups(text: string, group: string, decimal: string): string | null {
  if (group !== '.' && group !== ',') return text;
  const [whole = '', ...fraction] = text.split(decimal);
  if (!whole.includes(group)) return text;
  const pattern = group === '.' ? /^[+-]?\d{1,3}(?:\.\d{3})+$/ : /^[+-]?\d{1,3}(?:,\d{3})+$/;
  return pattern.test(whole) ? [whole.replaceAll(group, ''), ...fraction].join(decimal) : null;
}

function withoutLanguage(text: string, hasCommas: boolean): Read {
  // As JSON has it; in a file with commas as decimal signs, 1.234 may be a thousand and more.
  if (plainNumber.test(text)) return hasCommas && looksGrouped.test(text) ? AMBIGUOUS : text;
  if (/^[+-]?\d{1,3}(?:\.\d{3})+,\d+$/.test(text)) return text.replaceAll('.', '').replace(',', '.');
  if (/^[+-]?\d{1,3}(?:,\d{3})+\.\d+$/.test(text)) return text.replaceAll(',', '');
  if (withCommas.test(text)) return hasCommas ? text.replace(',', '.') : AMBIGUOUS;
  return looksGrouped.test(text) ? AMBIGUOUS : null;
}

/** Words of a truth value in spreadsheets and on pages of the service's languages. */
const yes = new Set(['true', 'yes', 'on', '1', 'wahr', 'ja', 'vrai', 'oui', 'verdadero', 'sí', 'si', 'x']);
const no = new Set(['false', 'no', 'off', '0', 'falsch', 'nein', 'faux', 'non', 'falso']);

function booleanIn(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  return yes.has(word) ? true : no.has(word) ? false : null;
}

/** A truth value as a spreadsheet writes it, which is no word that people use for something else. */
const spreadsheetBoolean = (text: string): boolean | null =>
  ['TRUE', 'WAHR', 'VRAI', 'VERDADERO'].includes(text)
    ? true
    : ['FALSE', 'FALSCH', 'FAUX', 'FALSO'].includes(text)
      ? false
      : null;

const day = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$/;
const clock = /^(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([ap])?\.?\s*(?:m\.?)?$/i;

/** A day as ISO 8601 has it. */
function dateIn(text: string, { language }: Notation): Read {
  const trimmed = text.trim();
  // What a spreadsheet shows of a day without a time that is given a time.
  const found = day.exec(trimmed.replace(/[T ]0?0:00(?::00(?:\.0+)?)?$/, ''));
  if (!found) return null;
  const [, first = '', sign, second = '', third = ''] = found;
  if (first.length === 4) return isoDay(first, second, third);
  if (first.length > 2 || third.length === 3) return null;
  if (sign !== '.' && !language) return AMBIGUOUS;
  const order = sign === '.' || !language ? 'dmy' : language.order;
  if (order.startsWith('y')) return third.length === 4 ? null : isoDay(first, second, third);
  return order === 'mdy' ? isoDay(third, first, second) : isoDay(third, second, first);
}

function isoDay(year: string, month: string, date: string): string | null {
  // As spreadsheets do: 30 is 1930.
  const full = year.length > 2 ? year : `${Number(year) < 30 ? 20 : 19}${year.padStart(2, '0')}`;
  const iso = `${full.padStart(4, '0')}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`;
  return isoMoment(iso) ? iso : null;
}

/** An hour as ISO 8601 has it, without seconds where they are 0. */
function timeIn(text: string): string | null {
  const found = clock.exec(text.trim());
  if (!found) return null;
  const [, hour = '', minute, second = '00', part = '', half] = found;
  const isHalf = half !== undefined;
  if (isHalf && (Number(hour) < 1 || Number(hour) > 12)) return null;
  const hours = isHalf ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour);
  const rest = Number(part) > 0 ? `.${part.slice(0, 3)}` : '';
  const seconds = second === '00' && rest === '' ? '' : `:${second}${rest}`;
  const iso = `${String(hours).padStart(2, '0')}:${minute}${seconds}`;
  return isoMoment(`2000-01-01T${iso}`) ? iso : null;
}

/** A day and time as ISO 8601 has them; a day alone begins at 00:00. */
function datetimeIn(text: string, notation: Notation): Read {
  const [first = '', ...rest] = text.trim().split(/(?:,?\s+|T)/);
  const found = dateIn(first, notation);
  if (typeof found !== 'string') return found;
  if (rest.length === 0) return `${found}T00:00`;
  const time = timeIn(rest.join(' '));
  return time === null ? null : `${found}T${time}`;
}

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
