/**
 * The cells of CSV (RFC 4180) as spreadsheets write and read them. A cell of our own exports holds a text unchanged, any other value as JSON, and
 * a text that would be read as another value, or that a spreadsheet would change, as JSON too
 * (docs/reference/import-export.md#csv).
 */
import { separators } from '../../../shared/cells';
import type { Json } from '../../../shared/json';
import { checkNumbers } from '../common/numbers';

/** The cell of null in a column of texts, where `null` is a text. */
export const NULL = '(null)';

/** A cell that is quoted, by the separator of the file. */
const special: Record<string, RegExp> = {
  [separators.comma]: /[",\r\n]/,
  [separators.semicolon]: /[";\r\n]/,
  [separators.tab]: /["\t\r\n]/,
};
/** A heading that is quoted: an import finds the separator in the first line. */
const specialHead = /[",;\t\r\n]/;

/** A row as text, with its line break. */
export function csvText(row: readonly string[], separator: string = separators.comma, isHead = false): string {
  const isSpecial = isHead ? specialHead : (special[separator] ?? specialHead);
  return `${row.map((cell) => (isSpecial.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator)}\r\n`;
}

/**
 * The cell of a value, without loss: `itemOf` gives the value back.
 * @param value undefined: a missing item
 * @param hasCommas whether the decimal sign of numbers is a comma
 */
export function cellOf(value: Json | undefined, hasCommas = false): string {
  if (value === undefined) return '';
  if (typeof value === 'number' && hasCommas) return String(value).replace('.', ',');
  return typeof value === 'string' && itemOf(value, hasCommas) === value ? value : JSON.stringify(value);
}

/** A number with a comma, as `cellOf` writes it. */
const withComma = /^-?\d+,\d+(?:e[+-]?\d+)?$/;

/** The value of a cell of our own exports; undefined for an empty one. */
export function itemOf(cell: string, hasCommas = false): Json | undefined {
  if (cell === '') return undefined;
  if (cell === NULL) return null;
  if (hasCommas && withComma.test(cell)) return Number(cell.replace(',', '.'));
  const value = jsonOf(cell);
  return value === undefined ? cell : value;
}

const digits = /^[+-]?[\d.,]*\d[.,]?(?:e[+-]?\d+)?\s?%?$/i;
const dateLike = /^\d{1,4}([-/.])\d{1,4}(?:\1\d{1,4})?(?=$|[\sT])|^\d{1,3}:\d{1,2}/;
const month =
  /^(?:\d{1,4}[-/. ]?)?(?:jan|f[eé]b|m[aä]r|apr|ma[iy]|jui?n|jui?l|aug|ao[uû]|sep|o[ck]t|nov|de[cz]|ene|abr|ago|dic)[a-zûé]*\.?[-/. ]?(?:\d{1,4})?$/i;
const word = /^(?:true|false|wahr|falsch|vrai|faux|verdadero|falso)$/i;

/** Whether a spreadsheet would make a number, a date or a truth value of a text when it opens a CSV file. */
const isChanged = (text: string): boolean =>
  digits.test(text) || dateLike.test(text) || word.test(text) || (month.test(text) && /\d/.test(text));

/** The cell of a text that stays a text in spreadsheets. */
export const keptText = (text: string): string => (isChanged(text) ? JSON.stringify(text) : cellOf(text));

/** Whether an export puts a text into quotes of JSON. */
export const isOwnText = (text: string): boolean => keptText(text) !== text;

/** What a spreadsheet would read as a formula, perhaps behind apostrophes; `＝`, `＋`, `－` and `＠` are their forms of full width. */
const formula = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Where a formula begins inside a cell for a spreadsheet that separates cells otherwise, e.g. by semicolons: quotes that begin
 * elsewhere protect nothing there.
 */
const innerFormula = /[;\t\r\n](?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
const innerText = /([;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A cell with an apostrophe before each formula, so that a spreadsheet shows a text. Numbers stay. */
export const notFormula = (cell: string): string =>
  cell && (formula.test(cell) && !number.test(cell) ? `'${cell}` : cell).replace(innerFormula, "$&'");

/** A cell without the apostrophes of `notFormula`. */
export const fromSpreadsheet = (cell: string): string =>
  (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell).replace(innerText, '$1');

/** The value of a JSON text; undefined for another text, and for one with numbers that would change. */
export function jsonOf(text: string): Json | undefined {
  if (!/^[\s\d"[{tfn-]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    checkNumbers(text);
    return value;
  } catch {
    return undefined;
  }
}
