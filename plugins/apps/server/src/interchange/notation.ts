/**
 * Numbers, dates and truth values as people and their spreadsheets write them (docs/decisions/spreadsheets.md). Without a
 * language only what is the same in all of them is read; what differs is `ambiguous`.
 */
import { isoMoment } from '../common/values/moments';

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
export const AMBIGUOUS = Symbol('ambiguous');

/** A text, null where it is none of the kind. */
type Read = string | null | typeof AMBIGUOUS;

const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Digits in groups of three between signs that only separate groups. */
const grouped = /^([+-]?\d{1,3})((?:[\s\u00a0\u202f'\u2019]\d{3})+)(?=$|[.,])/;
const withCommas = /^[+-]?\d*,\d+(?:e[+-]?\d+)?$/i;
/** A number that may have a sign between its thousands in place of a decimal sign. */
export const looksGrouped = /^[+-]?[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*$/;

/** A number as JavaScript writes one, with its digits as they stand; its value may still be too large. */
export function numberIn(text: string, { language, hasCommas }: Notation): Read {
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

export function booleanIn(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  return yes.has(word) ? true : no.has(word) ? false : null;
}

/** A truth value as a spreadsheet writes it, which is no word that people use for something else. */
export const spreadsheetBoolean = (text: string): boolean | null =>
  ['TRUE', 'WAHR', 'VRAI', 'VERDADERO'].includes(text)
    ? true
    : ['FALSE', 'FALSCH', 'FAUX', 'FALSO'].includes(text)
      ? false
      : null;

const day = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$/;
const clock = /^(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([ap])?\.?\s*(?:m\.?)?$/i;

/** A day as ISO 8601 has it. */
export function dateIn(text: string, { language }: Notation): Read {
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
export function timeIn(text: string): string | null {
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
export function datetimeIn(text: string, notation: Notation): Read {
  const [first = '', ...rest] = text.trim().split(/(?:,?\s+|T)/);
  const found = dateIn(first, notation);
  if (typeof found !== 'string') return found;
  if (rest.length === 0) return `${found}T00:00`;
  const time = timeIn(rest.join(' '));
  return time === null ? null : `${found}T${time}`;
}
