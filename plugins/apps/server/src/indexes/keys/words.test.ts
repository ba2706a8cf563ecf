import { describe, expect, test } from 'vitest';
import { processorTime } from '../../common/testing/processor-time';
import { fold, parseTextQuery, words } from './words';

describe('folding', () => {
  const cases: [string, string][] = [
    ['ÉCOLE', 'ecole'],
    ['e\u0301\u0316cole', 'ecole'],
    ['ﬁne', 'fine'],
    ['ｶﾞ', 'ガ'],
    // Excess marks on a letter are dropped.
    [`a${'\u0591'.repeat(31)}b`, `a${'\u0591'.repeat(30)}b`],
  ];
  test.each(cases)('%s', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each([
    ['marks', `a${'\u0301\u0316'.repeat(250_000)}`],
    ['half-width marks', `a${'\u0301\uff9e'.repeat(250_000)}`],
    ['marks between letters', 'a\u0301\u0316'.repeat(150_000)],
  ])('of a megabyte of %s takes no time that grows with its square', async (_name, text) => {
    expect(await processorTime(() => fold(text))).toBeLessThan(5_000);
  });
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
