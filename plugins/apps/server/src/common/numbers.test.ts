import { expect, test } from 'vitest';
import { checkNumbers } from './numbers';

/** The position in the error of a check; undefined without an error. */
function complaint(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as { details: { position: number } }).details.position;
  }
}

test.each<[string, number | undefined]>([
  ['[0, -0, 1, 0.1, 1.5e-7, 1e21, 9007199254740991, -9007199254740991]', undefined],
  ['[9007199254740992, 18014398509481984, 100000000000000000000]', undefined],
  ['[9007199254740993]', 1],
  ['{"a": [1, -9007199254740993]}', 10],
  ['[12345678901234567890]', 1],
  ['[12345678901234567000, -12345678901234567000]', undefined],
  ['[1e308, 1.7976931348623157e308, 5e-324, 0e999, 0.0e-999, 0.0, 0e5, -0, -0.0e-400]', undefined],
  ['[1e-400]', 1],
  ['[0, -0.1e-400]', 4],
  [`[0.${'0'.repeat(330)}1]`, 1],
  [`[0.${'0'.repeat(300)}1e-99]`, 1],
  [`[0.${'0'.repeat(330)}]`, undefined],
  [`[0.${'0'.repeat(330)}1e+20]`, undefined],
  ['[1e309]', 1],
  ['[-1E+400]', 1],
  [`[${'9'.repeat(400)}]`, 1],
  [`[1${'0'.repeat(400)}e-400]`, undefined],
  [`[1${'0'.repeat(250)}e99]`, 1],
  ['[3.14159265358979323846264338327950288]', undefined],
  ['["9007199254740993", "1e400", "\\"1e400", "\\\\"]', undefined],
  ['["\\\\", 1e400]', 7],
  ['{"12345678901234567890": 1, "b\\"": 12345678901234567891}', 35],
])('numbers of %s', (text, position) => {
  JSON.parse(text);
  expect(complaint(() => checkNumbers(text))).toBe(position);
});
