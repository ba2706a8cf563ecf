import { describe, expect, test } from 'vitest';
import type { Json } from '../../../shared/json';
import { encodeKey, encodeTerm, fold, keySize, words } from './keys';

/** In the order of docs/reference/search.md#order. */
const ordered: Json[] = [
  false,
  true,
  -1e300,
  -10,
  -2,
  -1.5,
  -1,
  -5e-324,
  0,
  5e-324,
  0.1,
  1,
  2,
  10,
  1e300,
  '',
  '\u0000',
  ' ',
  '10',
  '9',
  'A',
  'Z',
  'a',
  'a\u0000',
  'a ',
  'aa',
  'b',
  'z',
  'é',
  '\ud800',
  '\uffee',
  '𝒳',
  '😀',
];

describe('keys', () => {
  test('have the order of their values', () => {
    for (let at = 1; at < ordered.length; at++) {
      const [left, right] = [ordered[at - 1] as Json, ordered[at] as Json];
      expect([left, right, Math.sign(Buffer.compare(encodeKey(left).bytes, encodeKey(right).bytes))]).toEqual([
        left,
        right,
        -1,
      ]);
    }
  });

  test('null, missing, lists and objects have the last key', () => {
    const missing = encodeKey(undefined).bytes;
    for (const value of [null, [], {}, [1]]) expect(encodeKey(value).bytes).toEqual(missing);
    for (const value of ordered) expect(Buffer.compare(encodeKey(value).bytes, missing)).toBe(-1);
  });

  test('zero has one key', () => expect(encodeKey(-0)).toEqual(encodeKey(0)));

  test('of long strings are cut, with the whole string beside them', () => {
    const [short, exact] = ['x'.repeat(keySize - 2), 'x'.repeat(keySize - 1)];
    expect(encodeKey(short)).toMatchObject({ long: null });
    expect(encodeKey(exact).long?.toString()).toBe(exact);
    expect(encodeKey(`${exact}y`).bytes).toEqual(encodeKey(exact).bytes);
    expect(encodeTerm(`${exact}y`)).not.toEqual(encodeTerm(exact));
    expect(encodeTerm(`${exact}y`)).toHaveLength(keySize);
  });
});

describe('words', () => {
  test.each<[string, string[]]>([
    ['Hello, WORLD!', ['hello', 'world']],
    ['École naïve Straße ŁÓDŹ ﬁn Ⅷ', ['ecole', 'naive', 'strasse', 'lodz', 'fin', 'viii']],
    ["l'eau foo_bar node.js", ['l', 'eau', 'foo', 'bar', 'node', 'js']],
    ['東京tower', ['東', '京', 'tower']],
    ['ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
    ['हिन्दी', ['हिन्दी']],
    ['!!! 😀', ['😀']],
  ])('%s', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test('of ASCII are the same beside other letters', () => {
    for (let code = 0; code < 128; code += 1) {
      const text = `A${String.fromCharCode(code)}b 9`;
      expect(words(text)).toEqual(words(`${text} é`).slice(0, -1));
    }
  });

  test('folding is stable', () => {
    for (const text of ['İstanbul', 'ẞ', 'Å', '한국어', 'ｆｕｌｌ']) expect(fold(fold(text))).toBe(fold(text));
  });
});
