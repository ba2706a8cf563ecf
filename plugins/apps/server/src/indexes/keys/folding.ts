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
  ...{
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
  },
  ...{ ɓ: 'b', ɗ: 'd', ƙ: 'k', ƴ: 'y', ɛ: 'e', ɔ: 'o', ɨ: 'i', ʉ: 'u' },
  // Forms at the end of a word.
  ...{ ς: 'σ', ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' },
  // Yiddish pairs.
  ...{ װ: 'וו', ױ: 'וי', ײ: 'יי' },
  // Arabic letters that are written for each other; those of Persian and Urdu.
  ...{ ٱ: 'ا', ى: 'ي', ی: 'ي', ے: 'ي', ک: 'ك', ة: 'ه', ہ: 'ه', ە: 'ه', ھ: 'ه' },
  // Hindi.
  '\u0901': '\u0902',
  // Letters without a vowel, which older texts write with a joiner: Malayalam, Bengali.
  ...{ ൺ: 'ണ്', ൻ: 'ന്', ർ: 'ര്', ൽ: 'ല്', ൾ: 'ള്', ൿ: 'ക്', ৎ: 'ত্' },
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

/**
 * The form in which texts are compared: without regard to case, accents and points, width, ligatures, digits of a script, and
 * characters that cannot be seen; the same for every database.
 */
export function fold(text: string): string {
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
