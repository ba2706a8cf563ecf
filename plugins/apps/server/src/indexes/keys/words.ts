import { fold } from './folding';
import { encodeText } from './keys';

/** Folded words of a text, in order, in the form of the index. */
export function words(text: string): string[] {
  return fold(text).match(wordPattern) ?? [];
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
