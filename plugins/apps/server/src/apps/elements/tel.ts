import { message } from '../locales';
import { inputmode } from './inputs/settings';
import { textInput } from './inputs/text-input';

/** Digits with the usual marks between them, and an extension. Adjacent parts share no character. */
const NUMBER = /^\+?[\d ()./-]+(?:(?:ext\.?|x|#) ?\d{1,10})?$/i;

/** Digits of a number without its extension; E.164 allows 15, national prefixes in brackets add some. */
const DIGITS = { least: 3, most: 20 };

/** A telephone number, stored as it was written. */
export const tel = textInput({
  type: 'tel',
  trim: true,
  settings: inputmode,
  check: (text) => (isNumber(text) ? null : message('tel')),
});

function isNumber(text: string): boolean {
  const digits = text.split(/ext|x|#/i, 1)[0]?.replace(/\D/g, '').length ?? 0;
  return text.length <= 50 && NUMBER.test(text) && digits >= DIGITS.least && digits <= DIGITS.most;
}
