import { describe, expect, test } from 'vitest';
import { processorTime } from '../common/testing/processor-time';
import { fold, parseTextQuery, phraseText, words } from './keys';
import { MAX_INDEXED, wordsOf } from './rows';

describe('folding', () => {
  const cases: [string, string][] = [
    ['ÉCOLE', 'ecole'],
    ['e\u0301\u0316cole', 'ecole'],
    ['ﬁne', 'fine'],
    ['ｶﾞ', 'ガ'],
    // Excess marks on a letter are dropped.
    [`a${'\u0f71'.repeat(31)}b`, `a${'\u0f71'.repeat(30)}b`],
    [`a${'\u0f71\u200d'.repeat(31)}b`, `a${'\u0f71'.repeat(30)}b`],
  ];
  test.each(cases)('%s', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each([
    ['marks', `a${'\u0301\u0316'.repeat(250_000)}`],
    ['half-width marks', `a${'\u0301\uff9e'.repeat(250_000)}`],
    ['marks between joiners', `a${'\u0f71\u200d\u0f72'.repeat(250_000)}`],
    ['digits', '\u0669'.repeat(1_000_000)],
    ['marks between letters', 'a\u0301\u0316'.repeat(150_000)],
  ])('of a megabyte of %s takes no time that grows with its square', async (_name, text) => {
    expect(await processorTime(() => fold(text))).toBeLessThan(5_000);
  });
});

/** Texts whose words are found as they are read: each finds the other. */
const same: [what: string, text: string, query: string][] = [
  ['soft hyphens', 'Donau\u00addampf\u00adschiff\u00adfahrt', 'Donaudampfschifffahrt'],
  ['a space of no width', 'Super\u200bmarkt', 'Supermarkt'],
  ['a word joiner', 'Super\u2060markt', 'Supermarkt'],
  ['a byte order mark', '\ufeffMarkt', 'Markt'],
  ['marks of direction', '\u200fשלום\u200e', 'שלום'],
  ['a grapheme joiner', 'o\u034f\u0308l', 'ol'],
  ['a Hangul filler', '가\u3164', '가'],
  ['a non-joiner of Persian', 'می\u200cخواهم', 'میخواهم'],
  ['a joiner of Hindi', 'क्\u200dष', 'क्ष'],
  ['a chillu of Malayalam', 'അവൻ', 'അവന്\u200d'],
  ['a khanda ta of Bengali', 'সৎ', 'সত্\u200d'],
  ['tatweel', 'مـــدرسة', 'مدرسة'],
  ['harakat', 'مَدْرَسَةٌ', 'مدرسة'],
  ['a superscript alef', 'هٰذا', 'هذا'],
  ['hamza on a letter', 'أحمد إلى آمال', 'احمد الى امال'],
  ['an alef with wasla', 'ٱلكتاب', 'الكتاب'],
  ['teh marbuta', 'مدرسه', 'مدرسة'],
  ['yeh and kaf of Persian', 'علی کتاب', 'علي كتاب'],
  ['presentation forms of Arabic', 'ﻻ', 'لا'],
  ['Hebrew points', 'שָׁלוֹם', 'שלום'],
  ['a final letter of Hebrew', 'מלך', 'מלכ'],
  ['a Yiddish pair', 'ייִדיש', 'ײִדיש'],
  ['presentation forms of Hebrew', 'שּׁ', 'ש'],
  ['Syriac points', 'ܫܠܳܡܳܐ', 'ܫܠܡܐ'],
  ['half-width kana', 'ｶﾞｷﾞｸﾞ', 'ガギグ'],
  ['full-width letters', 'Ｔｏｋｙｏ２０２６', 'tokyo2026'],
  ['a final sigma', 'ΟΔΟΣ', 'οδός'],
  ['accents of Greek', 'Ἀθῆναι', 'Αθηναι'],
  ['yo', 'Королёв', 'Королев'],
  ['a stress mark', 'за\u0301мок', 'замок'],
  ['titlo', 'гд҃ь', 'гдь'],
  ['dotted and dotless i', 'İstanbul ılık', 'istanbul ilik'],
  ['ligatures', 'ﬁn œuvre Ĳssel', 'fin oeuvre ijssel'],
  ['sharp s', 'STRAẞE Straße', 'strasse strasse'],
  ['long s', 'Waſſer', 'Wasser'],
  ['letters of Maltese and Sami', 'Ħamrun Ŧ Ŋ', 'hamrun t n'],
  ['hooked letters', 'Ɓauchi Ƙano ɗaya', 'bauchi kano daya'],
  ['accents of Vietnamese', 'Đường', 'duong'],
  ['an apostrophe of Ukrainian', "об'єкт", 'обʼєкт'],
  ['a curly one', 'об’єкт', 'обʼєкт'],
  ['an okina', 'Hawaiʻi', "Hawai'i"],
  ['Arabic digits', '٢٠٢٦', '2026'],
  ['Persian digits', '۲۰۲۶', '2026'],
  ['Devanagari digits', '२०२६', '2026'],
  ['Thai digits', '๒๐๒๖', '2026'],
  ['mathematical digits', '𝟚𝟘𝟚𝟞', '2026'],
  ['a dot below of Hindi', 'फ़िल्म', 'फिल्म'],
  ['a nasal sign of Hindi', 'हँसी', 'हंसी'],
  ['a variation selector', '\u2764\ufe0f', '\u2764'],
  ['a tone of the skin', '👍🏽', '👍'],
  ['a keycap', '1\ufe0f\u20e3', '1'],
  ['a joined emoji', '👩\u200d🚀', '👩🚀'],
];

/** What is no part of what is read there. */
const different: [what: string, text: string, query: string][] = [
  ['voiced kana', 'か', 'が'],
  ['vowels of Hindi', 'कि', 'की'],
  ['letters of Bengali', 'য', 'য়'],
  ['vowels of Thai', 'กา', 'กี'],
  ['vowels of Dhivehi', 'ހަ', 'ހި'],
  ['flags', '🇩🇪', '🇩🇰'],
  ['emoji', '🍕', '🍔'],
];

describe('words are found as they are read', () => {
  test.each(same)('%s', (_what, text, query) => {
    expect(words(text)).toEqual(words(query));
    expect(words(text).length).toBeGreaterThan(0);
    expect(words(fold(text))).toEqual(words(text));
  });

  test.each(different)('but not with other %s', (_what, text, query) => {
    expect(words(text)).not.toEqual(words(query));
  });

  test.each<[text: string, list: string[]]>([
    ['Pizza 🍕, I❤NY', ['pizza', '🍕', 'i', '❤', 'ny']],
    ['🇩🇪🇫🇷', ['🇩🇪', '🇫🇷']],
    ['スーパーA', ['ス', 'ー', 'パ', 'ー', 'a']],
    ['人々', ['人', '々']],
    ['မြန်မာ', ['မြ', 'န်', 'မာ']],
    ['東京、2026年。', ['東', '京', '2026', '年']],
    ['؟ ، — „“ ', []],
  ])('%s', (text, list) => {
    expect(words(text)).toEqual(list);
  });
});

const MIB = 1024 * 1024;

test.each([
  ['a character that becomes 18', '\ufdfa', 3, true],
  ['words of one letter', 'a ', 2, false],
  ['characters that are words', '東', 3, false],
])('a text of 1 MiB of %s has no more words than an index takes', (_what, character, bytes, isCut) => {
  const text = character.repeat(MIB / bytes);
  const list = wordsOf([text]);
  expect(list.length < words(text).length).toBe(isCut);
  expect(words(text).slice(0, list.length)).toEqual(list);
  const size = Buffer.byteLength(phraseText(list));
  expect(size).toBeLessThanOrEqual(MAX_INDEXED + 1);
  if (isCut) expect(size).toBeGreaterThan(MAX_INDEXED - 100);
});

test.each<[string, (at: number) => string]>([
  ['words with accents', (at) => `Été${at} `],
  ['lines', (at) => `invoice${at}\n`],
  ['cells', (at) => `é${at},b${at}\t`],
  ['words with characters that cannot be seen', (at) => `sil\u00adben${at} `],
  ['characters of two units', () => '🍕'],
  ['characters that are words', () => '東'],
  ['characters with marks', () => 'မြ'],
  ['sentences without spaces', (at) => `東京${at}に住む。`],
])('a long text of %s has the words of its parts', (_what, part) => {
  const parts = Array.from({ length: 20_000 }, (_, at) => part(at));
  expect(words(parts.join(''))).toEqual(parts.flatMap((one) => words(one)));
});

test('a search text is parsed', () => {
  expect(words("l'eau, C++")).toEqual(['l', 'eau', 'c']);
  expect(parseTextQuery('one "two three" or -fo* "five')).toEqual([
    [
      { words: ['one'], prefix: false, negated: false },
      { words: ['two', 'three'], prefix: false, negated: false },
    ],
    [
      { words: ['fo'], prefix: true, negated: true },
      { words: ['five'], prefix: false, negated: false },
    ],
  ]);
});
