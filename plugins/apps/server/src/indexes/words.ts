import { encodeText } from './keys';

/** Words of a text as the index holds them: folded, in order. */
export function words(text: string): string[] {
  return fold(text).match(wordPattern) ?? [];
}

/** The term of a word, cut to what fits a key: words that agree in so many bytes are one word. */
export function encodeWord(word: string): Buffer {
  const bytes = encodeText(word);
  return bytes.length <= maxWordBytes ? bytes : bytes.subarray(0, maxWordBytes);
}

const maxWordBytes = 200;

/**
 * More marks on one letter than Unicode's stream-safe texts have: sorting them takes the square of their number. The two
 * half-width ones are letters by category, and marks once they are decomposed.
 */
const manyMarks = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Case- and accent-insensitive, width- and ligature-insensitive form of a text; the same for every database. */
export function fold(text: string): string {
  return text
    .replace(manyMarks, '$1')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[ßøłđıæœþðς]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFKC');
}

/** Letters that people type without, and Unicode does not take apart. */
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

/** Scripts written without spaces give one word a character, so that any part of a sentence is found as a phrase. */
const unspaced =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}]';
const wordPattern = new RegExp(`${unspaced}\\p{M}*|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/** Words as one string in which a phrase is found as ` word word `. */
export function phraseText(list: readonly string[]): string {
  return ` ${list.join(' ')} `;
}

/** A search text: alternatives, each a list of conditions that all hold (contract, section 9, `text`). */
export type TextQuery = TextCondition[][];

export interface TextCondition {
  /** Words that follow each other. */
  words: string[];
  /** The last word is the beginning of a word. */
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
