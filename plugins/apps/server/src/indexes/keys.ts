import { createHash } from 'node:crypto';
import type { Json } from '../../../shared/json';

/**
 * More marks on one letter than Unicode's stream-safe texts have: sorting them takes quadratic time. The two half-width
 * ones are letters by category, and become marks by decomposition.
 */
const excessMarks = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Characters that cannot be seen: soft hyphens, joiners, marks of direction, variation selectors, fillers. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Marks without which a word is the same word: accents, points of vowels, signs of reading, tones of the skin. */
const optionalMarks = new RegExp(
  `[${[
    // Accents of Latin, Greek and Cyrillic letters; marks around symbols, such as of a keycap.
    '\\u0300-\\u036f\\u0483-\\u0489\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u2de0-\\u2dff\\ufe20-\\ufe2f',
    // Hebrew points; Arabic vowels, hamza on a letter, signs of the Quran, tatweel; Syriac points.
    '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7',
    '\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed\\u08ca-\\u08ff',
    '\\u0711\\u0730-\\u074a',
    // The dot below a letter of Hindi.
    '\\u093c',
  ].join('')}\\p{Emoji_Modifier}]`,
  'gu',
);

/** Letters that Unicode does not decompose, and what they count as. */
const letters: Record<string, string> = {
  // Latin: usual transcriptions.
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ƒ: 'f',
  ɓ: 'b',
  ɗ: 'd',
  ƙ: 'k',
  ƴ: 'y',
  ɛ: 'e',
  ɔ: 'o',
  ɨ: 'i',
  ʉ: 'u',
  // Forms at the end of a word.
  ς: 'σ',
  ך: 'כ',
  ם: 'מ',
  ן: 'נ',
  ף: 'פ',
  ץ: 'צ',
  // Yiddish pairs.
  װ: 'וו',
  ױ: 'וי',
  ײ: 'יי',
  // Arabic letters that are written for each other; those of Persian and Urdu.
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ے: 'ي',
  ک: 'ك',
  ة: 'ه',
  ہ: 'ه',
  ە: 'ه',
  ھ: 'ه',
  // Hindi.
  '\u0901': '\u0902',
  // Letters without a vowel, which older texts write with a joiner: Malayalam, Bengali.
  ൺ: 'ണ്',
  ൻ: 'ന്',
  ർ: 'ര്',
  ൽ: 'ല്',
  ൾ: 'ള്',
  ൿ: 'ക്',
  ৎ: 'ত্',
  // Modifier letters that are written for an apostrophe, which is no part of a word.
  ...Object.fromEntries([...'\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\ua78b\ua78c'].map((letter) => [letter, "'"])),
};
const lettersPattern = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu');

const otherDigits = /(?![0-9])\p{Nd}/gu;
const isDigit = /^\p{Nd}$/u;

/** The value of a digit of any script: the ten of a script have consecutive code points. */
function digit(character: string): string {
  const code = character.codePointAt(0) as number;
  let value = 0;
  while (value < 9 && isDigit.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

const beyondAscii = /[^\x00-\x7f]/;

/** Of ASCII, which most texts are, the tables of Unicode say nothing: they are not looked at. */
const isAscii = (text: string): boolean => !beyondAscii.test(text);

/**
 * The form in which texts are compared: without regard to case, accents and points, width, ligatures, digits of a script, and
 * characters that cannot be seen; the same for every database.
 */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return (
    text
      // First, because they may stand between marks.
      .replace(invisible, '')
      .replace(excessMarks, '$1')
      .normalize('NFKD')
      .replace(optionalMarks, '')
      .toLowerCase()
      .replace(lettersPattern, (letter) => letters[letter] ?? letter)
      .replace(otherDigits, digit)
      .normalize('NFKC')
  );
}

/** A value that a field index orders: any other counts as missing (docs/reference/search.md#order). */
export type Scalar = boolean | number | string | null;

/** An order-preserving binary key: the order of the bytes is the order of docs/reference/search.md#order. */
interface Key {
  bytes: Buffer;
  /** All bytes of a string too long for a key, to compare rows with equal keys. */
  long: Buffer | null;
}

type KeyType = 'boolean' | 'number' | 'string';

const tags: Record<KeyType, number> = { boolean: 0x10, number: 0x20, string: 0x30 };

/** The key of null, missing values, lists and objects, after all others. */
export const missingKey: Buffer = Buffer.from([0xff]);

/** The term that distinguishes the entry of a list or object in a field index from null and missing. */
export const unorderedTerm: Buffer = Buffer.from([0xfe]);

/** Bytes of a key, its tag included. A key of exactly this length is the beginning of a longer string. */
export const keySize = 255;

/** Half-open range of the keys of a type. */
export function typeRange(type: KeyType): [Buffer, Buffer] {
  return [Buffer.from([tags[type]]), Buffer.from([tags[type] + 1])];
}

/** The key of a value; lists, objects, null and undefined have the key of a missing value. */
export function encodeKey(value: Json | undefined): Key {
  if (typeof value === 'boolean') return { bytes: Buffer.from([tags.boolean, value ? 1 : 0]), long: null };
  if (typeof value === 'number') return { bytes: encodeNumber(value), long: null };
  if (typeof value === 'string') return encodeString(value);
  return { bytes: missingKey, long: null };
}

/** A term for exact membership only: long strings are cut and distinguished by a digest. */
export function encodeTerm(value: boolean | number | string): Buffer {
  const { bytes, long } = encodeKey(value);
  if (!long) return bytes;
  return Buffer.concat([bytes.subarray(0, keySize - 32), createHash('sha256').update(long).digest()]);
}

/** Bytes that order as the code points do (UTF-8; lone surrogates as if they were characters). */
export function encodeText(text: string): Buffer {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text, 'utf8');
  return Buffer.concat(Array.from(text, (character) => encodeCharacter(character)));
}

function encodeCharacter(character: string): Buffer {
  const code = character.codePointAt(0) as number;
  if (code < 0xd800 || code > 0xdfff) return Buffer.from(character, 'utf8');
  return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
}

function encodeString(value: string): Key {
  const text = encodeText(value);
  const bytes = Buffer.concat([Buffer.from([tags.string]), text.subarray(0, keySize - 1)]);
  return { bytes, long: bytes.length === keySize ? text : null };
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = tags.number;
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1);
  // Makes the bytes of doubles sortable: sets the sign bit of positive numbers, flips all bits of negative ones.
  if ((bytes[1] ?? 0) & 0x80) for (let at = 1; at < 9; at++) bytes[at] = ~(bytes[at] ?? 0) & 0xff;
  else bytes[1] = (bytes[1] ?? 0) | 0x80;
  return bytes;
}

/** Characters of a text that are folded at once, which makes up to 18 of one. */
const PIECE = 16_384;

/**
 * Folded words of a text, in order, in the form of the index.
 * @param maxBytes of the words with a space after each: the first ones, where all are more. Never cuts a text of up to `PIECE` characters
 */
export function words(text: string, maxBytes = Number.POSITIVE_INFINITY): string[] {
  if (text.length <= PIECE) return wordsOfPiece(text);
  const all: string[] = [];
  let left = maxBytes;
  for (let begin = 0, end = 0; begin < text.length; begin = end) {
    end = endOfPiece(text, begin);
    for (const word of wordsOfPiece(text.slice(begin, end))) {
      left -= Buffer.byteLength(word) + 1;
      if (left < 0) return all;
      all.push(word);
    }
  }
  return all;
}

function wordsOfPiece(text: string): string[] {
  const folded = fold(text);
  return folded.match(isAscii(folded) ? asciiWord : wordPattern) ?? [];
}

/** Characters in which the end of a piece is looked for. */
const LOOK_BACK = 1_000;
/** What is in no word, however it is folded: white space, and punctuation of ASCII and of East Asia. */
const between = /[\s\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\u3001\u3002\uff0c]/;
/** What belongs to the character before it. */
const continued = /[\p{M}\p{Cf}\udc00-\udfff]/u;

/** Between two words, where the last characters of a piece have a place between words: else a long word becomes two. */
function endOfPiece(text: string, begin: number): number {
  const end = begin + PIECE;
  if (end >= text.length) return text.length;
  const first = end - LOOK_BACK;
  for (let at = end; at > first; at -= 1) if (between.test(text.charAt(at - 1))) return at;
  for (let at = end; at > first; at -= 1) if (!continued.test(text.charAt(at))) return at;
  return end;
}

/** Whether the term of a word is cut, or the same as that of a longer one. */
export const isCutWord = (word: string): boolean => encodeText(word).length >= MAX_WORD_BYTES;

/** The term of a word, cut to `MAX_WORD_BYTES`: words with the same first bytes are one word. */
export function encodeWord(word: string): Buffer {
  const bytes = encodeText(word);
  return bytes.length <= MAX_WORD_BYTES ? bytes : bytes.subarray(0, MAX_WORD_BYTES);
}

const MAX_WORD_BYTES = 200;

/** Scripts without spaces: each of their characters is a word, so that any part of a sentence is found as a phrase. */
const unspacedScripts =
  'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Javanese Balinese';
const unspaced = `(?=[\\p{L}\\p{N}])[${unspacedScripts.replace(/\S+ ?/g, (name) => `\\p{Script_Extensions=${name.trim()}}`)}]`;

/** An emoji is a word of its own; two letters make a flag. */
const emoji = '\\p{RI}{2}|\\p{RI}|\\p{Extended_Pictographic}';
const asciiWord = /[a-z0-9]+/g;
const wordPattern = new RegExp(`${emoji}|${unspaced}\\p{M}*|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/** Words as one string that contains each phrase as ` word word `. */
export function phraseText(list: readonly string[]): string {
  return ` ${list.join(' ')} `;
}

/** A search text: a disjunction of conjunctions (docs/reference/search.md#indexes). */
export type TextQuery = TextCondition[][];

export interface TextCondition {
  /** Consecutive words. */
  words: string[];
  /** The last word is a prefix. */
  prefix: boolean;
  negated: boolean;
}

/** Reads `word word`, `"a phrase"`, `prefix*`, `-word` and `or`; parts without any letter, digit or emoji are left out. */
export function parseTextQuery(text: string): TextQuery {
  const alternatives: TextQuery = [[]];
  for (const [part = '', minus, phrase, word = ''] of text.matchAll(/(-?)(?:"([^"]*)(?:"|$)|([^\s"]+))/g)) {
    if (part.toLowerCase() === 'or') {
      alternatives.push([]);
      continue;
    }
    const list = words(phrase ?? word);
    const prefix = phrase === undefined && word.endsWith('*');
    if (list.length) alternatives.at(-1)?.push({ words: list, prefix, negated: minus === '-' });
  }
  return alternatives.filter((conditions) => conditions.length > 0);
}
