import { describe, expect, test } from 'vitest';
import { processorTime } from '../common/testing/processor-time';
import { compilePattern, patternWork } from './patterns';

describe('compilePattern', () => {
  const patterns = [
    'a*',
    '(a|b)+c?',
    '[A-Z]{2,3}\\d{1,}',
    '^a$',
    'a|ab',
    '(?:x(?<n>y))*',
    '.',
    '\\p{L}+',
    '[^a-c\\]]',
    'a{2}',
    '',
    '\\/\\-?',
    'a+?b',
    '\\u{1F600}',
    '(a?){3}',
  ];
  const inputs = [
    '',
    'a',
    'aa',
    'aaa',
    'ab',
    'abc',
    'bac',
    'AB1',
    'ABC99',
    'xy',
    'xyxy',
    'é',
    '😀',
    ']',
    '/',
    '/-',
    'b',
    '\n',
  ];

  test.each(patterns)('%s agrees with JavaScript', (pattern) => {
    let source = pattern;
    try {
      new RegExp(source, 'u');
    } catch {
      source = '';
    }
    const whole = new RegExp(`^(?:${source})$`, 'u');
    for (const input of inputs) expect([input, compilePattern(source)(input)]).toEqual([input, whole.test(input)]);
  });

  test('takes linear time where backtracking takes exponential time', async () => {
    const match = () => expect(compilePattern('(a+)+$|(a|aa)*c')(`${'a'.repeat(3000)}b`)).toBe(false);
    expect(await processorTime(match)).toBeLessThan(1000);
  });

  test('takes few steps for patterns of usual forms', () => {
    for (const pattern of ['[A-Za-z0-9 ]{1,900}', '[^<>]*', '.{0,990}', '(\\w+, )*\\w+']) {
      const work = patternWork();
      compilePattern(pattern)('a'.repeat(3_000), work);
      expect([pattern, 2_000_000 - work.left < 50_000]).toEqual([pattern, true]);
    }
  });

  test('matches with a budget of its own', () => {
    expect(compilePattern('a*')('aaa', patternWork())).toBe(true);
  });

  test.each([
    ['(', /Unterminated|Invalid/i],
    ['(?=a)', /look-ahead/],
    ['(?<!a)', /look-/],
    ['\\bx', /\\b/],
    ['(a)\\1', /\\1/],
    ['(a{1,100}){1,100}', /too large/],
    ['(?:){1000000000}', /too large/],
    ['a'.repeat(1001), /longer/],
  ] as const)('%s is refused', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason);
  });
});
