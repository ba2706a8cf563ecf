import { expect, test } from 'vitest';
import { printable, printableLog } from './log';

test.each([
  ['plain text, 10 % of it: é 🍎', 'plain text, 10 % of it: é 🍎'],
  ['two\nlines', 'two\\nlines'],
  ['a\r\nb\tc', 'a\\u000d\\nb\\u0009c'],
  ['\u001b[2Jred\u0007', '\\u001b[2Jred\\u0007'],
  ['\u0085\u009b31m', '\\u0085\\u009b31m'],
  ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['user\u202egnp', 'user\\u202egnp'],
  ['x'.repeat(30_000), `${'x'.repeat(20_000)}…`],
])('%j is written %j', (text, written) => {
  expect(printable(text)).toBe(written);
});

test('every level is printable', () => {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const log = printableLog({ info: note, warn: note, error: note });
  for (const level of ['info', 'warn', 'error'] as const) log[level](`${level}\u001b\nforged`);
  expect(lines).toEqual(['info\\u001b\\nforged', 'warn\\u001b\\nforged', 'error\\u001b\\nforged']);
});
