import { encodeText } from './keys';

/** Folded words of a text, in order, in the form of the index. */
export function words(text: string): string[] {
  return fold(text).match(wordPattern) ?? [];
}

/** The term of a word, cut to `MAX_WORD_BYTES`: words with the same first bytes are one word. */
export function encodeWord(word: string): Buffer {
  const bytes = encodeText(word);
  return bytes.length <= MAX_WORD_BYTES ? bytes : bytes.subarray(0, MAX_WORD_BYTES);
}

const MAX_WORD_BYTES = 200;

/**
 * More marks on one letter than Unicode's stream-safe texts have: sorting them takes quadratic time. The two half-width
 * ones are letters by category, and become marks by decomposition.
 */
const excessMarks = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Case- and accent-insensitive, width- and ligature-insensitive form of a text; the same for every database. */
export function fold(text: string): string {
  return text
    .replace(excessMarks, '$1')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[ßøłđıæœþðς]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFKC');
}

/** Letters that Unicode does not decompose, and their usual transcriptions. */
const letters: Record<string, string> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  ς: 'σ',
};

/** In scripts without spaces each character is a word, so that any part of a sentence is found as a phrase. */
const unspaced =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}]';
const wordPattern = new RegExp(`${unspaced}\\p{M}*|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

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

/** Reads `word word`, `"a phrase"`, `prefix*`, `-word` and `or`; parts without any letter or digit are left out. */
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
