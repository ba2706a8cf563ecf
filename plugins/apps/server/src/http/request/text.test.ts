import { describe, expect, test } from 'vitest';
import { checkEncoded, checkNumbers, checkUtf8 } from './text';

/** The position in the error of a check; undefined without an error. */
function complaint(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as { details: { position: number } }).details.position;
  }
}

describe('numbers of JSON', () => {
  test.each<[string, number | undefined]>([
    ['[0, -0, 1, 0.1, 1.5e-7, 1e21, 9007199254740991, -9007199254740991]', undefined],
    ['[9007199254740992, 18014398509481984, 100000000000000000000]', undefined],
    ['[9007199254740993]', 1],
    ['{"a": [1, -9007199254740993]}', 10],
    ['[12345678901234567890]', 1],
    ['[1e308, 1.7976931348623157e308, 1e-400, 0e999]', undefined],
    ['[1e309]', 1],
    ['[-1E+400]', 1],
    [`[${'9'.repeat(400)}]`, 1],
    [`[1${'0'.repeat(400)}e-400]`, undefined],
    [`[1${'0'.repeat(250)}e99]`, 1],
    ['[3.14159265358979323846264338327950288]', undefined],
    ['["9007199254740993", "1e400", "\\"1e400", "\\\\"]', undefined],
    ['["\\\\", 1e400]', 7],
    ['{"12345678901234567890": 1, "b\\"": 12345678901234567891}', 35],
  ])('%s', (text, position) => {
    JSON.parse(text);
    expect(complaint(() => checkNumbers(text))).toBe(position);
  });
});

describe('UTF-8', () => {
  test.each<[string, number | undefined]>([
    ['', undefined],
    ['c3a9f09f8d8eefbfbd', undefined],
    ['61ff', 1],
    ['efbfbdff', 3],
    ['61c3', 1],
    ['c3a9c328', 2],
    ['eda080', 0],
    ['c080', 0],
    ['61f4908080', 1],
    ['61efbf', 1],
  ])('%s', (hex, position) => {
    expect(complaint(() => checkUtf8(Buffer.from(hex, 'hex'), 'It'))).toBe(position);
  });

  test.each<[string, number | undefined]>([
    ['a=1&b=%C3%A9+%F0%9F%8D%8E', undefined],
    ['100%', undefined],
    ['%ZZ%4', undefined],
    ['a=%FF', 2],
    ['a=%c3%a9%c3', 2],
    ['a=%C3&b=%A9', 2],
    ['%C3%28', 0],
  ])('%s', (text, position) => {
    expect(complaint(() => checkEncoded(text, 'It'))).toBe(position);
  });
});
