import { describe, expect, test } from 'vitest';
import { hasOr, isQuery, lexemes, quoted, unquoted } from './tokens';

describe('the pieces of a query', () => {
  test.each<[string, string[]]>([
    ["a == 'b c'", ['word a', 'symbol ==', "string 'b c'"]],
    ['1<=n <x', ['word 1', 'symbol <=', 'word n', 'symbol <', 'word x']],
    ['n != -1.5e+3', ['word n', 'symbol !=', 'word -1.5e+3']],
    [
      "n in any(['a', b])",
      [
        'word n',
        'word in',
        'word any',
        'symbol (',
        'symbol [',
        "string 'a'",
        'symbol ,',
        'word b',
        'symbol ]',
        'symbol )',
      ],
    ],
    ['"it\\"s" in a', ['string "it\\"s"', 'word in', 'word a']],
    ["a == 'b", ['word a', 'symbol ==', "open 'b"]],
    ['a = 😀', ['word a', 'other =', 'other 😀']],
    ['  ', []],
  ])('%s', (query, pieces) => {
    expect([...lexemes(query)].map(({ kind, text }) => `${kind} ${text}`)).toEqual(pieces);
    for (const { text, from } of lexemes(query)) expect(query.slice(from, from + text.length)).toBe(text);
  });
});

test.each(["it's", 'a\\b', 'a\nb\r', '"', '', "\\'"])('%j in quotes is one string of the same value', (value) => {
  const text = quoted(value);
  expect([...lexemes(text)]).toEqual([{ kind: 'string', text, from: 0 }]);
  expect(unquoted(text)).toBe(value);
});

test.each<[string, boolean]>([
  ['Müller, Hans', false],
  ['android notes -1.5 [x]', false],
  ['in', true],
  ['bread AND butter', true],
  ['a&b', true],
  ['a | b', true],
  ['(a)', true],
  ["it's", true],
  ['a<b', true],
  ['a!', true],
])('%s is a query: %s', (text, expected) => {
  expect(isQuery(text)).toBe(expected);
});

test.each<[string, boolean]>([
  ['a == 1 or b == 2', true],
  ['a == 1|b == 2', true],
  ["a == 'this or that' and order == 1", false],
])('%s has an or between conditions: %s', (query, expected) => {
  expect(hasOr(query)).toBe(expected);
});
