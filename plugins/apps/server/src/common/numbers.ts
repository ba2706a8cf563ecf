import { isWholeNumber } from '../../../shared/numbers';
import { AppsError } from './errors';

/** Every number that loses its value has 16 digits in a row, or an exponent of three digits; other texts need no check. */
const suspicious = /\d{16}|\de[+-]?\d{3}/i;
const numbers = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const digit = /[\d-]/;
/** A number whose digits before the exponent are not all 0. */
const nonZero = /^[-+.0]*[1-9]/;

/**
 * BadRequestError, with its offset, for a number in JSON that JavaScript cannot represent: one that is too large, one so small that
 * it would become 0, and a whole number, written without fraction and exponent, that would change. Decimal fractions are
 * rounded, as always.
 * @param text JSON that was parsed without an error
 * @param where follows the position: ` of line 3`
 */
export function checkNumbers(text: string, where = ''): void {
  if (!suspicious.test(text)) return;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = stringEnd(text, at);
    else if (digit.test(character)) {
      numbers.lastIndex = at;
      const [number = character] = numbers.exec(text) ?? [];
      if (!isExact(number)) throw inexactNumber(number, at, where);
      at += number.length - 1;
    }
  }
}

/** The offset of the quotation mark that ends the string which begins at an offset. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Whether a decimal number can be represented, as `checkNumbers` says it. @param number with digits on both sides of its point, if it has one */
export function isExact(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !nonZero.test(number);
  return /[.e]/i.test(number) || Number.isSafeInteger(value) || isWholeNumber(number);
}

function inexactNumber(number: string, position: number, where: string): AppsError {
  const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
  const message = `The number ${shown} at position ${position}${where} cannot be stored exactly: send it as a string`;
  return new AppsError('BadRequestError', message, { details: { position } });
}
