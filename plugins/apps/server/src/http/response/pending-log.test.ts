import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../logic/types';
import { packed, unpacked } from './logic-response';

const entries = (count: number, message: (index: number) => string): LogEntry[] =>
  Array.from({ length: count }, (_, index) => ({ app: 'a', block: 'b', line: index, message: message(index) }));

const usual = entries(100, (index) => `the total of record ${index} is ${index * 7}`);
const long = entries(100, () => randomBytes(5_000).toString('hex'));

test.each<[string, LogEntry[], number]>([
  ['nothing', [], 0],
  ['a hundred usual lines', usual, 100],
  ['10 kB of the same letter', entries(100, () => 'x'.repeat(10_000)), 20],
])('entries that fit: %s', (_what, logs, atLeast) => {
  const text = packed(logs);
  expect(text.length).toBeLessThanOrEqual(2_800);
  expect(unpacked(text).length).toBeGreaterThanOrEqual(atLeast);
});

test('entries that do not fit are counted', () => {
  const crossed = unpacked(packed([...usual.slice(0, 3), ...long]));
  const whole = crossed.slice(0, -1);
  expect(whole.slice(0, 3)).toEqual(usual.slice(0, 3));
  expect(crossed.at(-1)?.message).toContain(`and ${103 - whole.length} more`);
});

test('a long message says how many characters are missing', () => {
  const [only] = unpacked(packed(entries(1, () => 'x'.repeat(10_000))));
  expect(only?.message).toMatch(/^x{2000}… \(8000 more characters/);
});

test.each(['', 'x', 'bm90IGRlZmxhdGVk', packed(usual).slice(0, 50)])('%j is no log', (value) => {
  expect(unpacked(value)).toEqual([]);
});

test('a cookie that unpacks to more than the limit is no log', () => {
  expect(unpacked(packed(usual)).length).toBe(100);
  const { deflateRawSync } = require('node:zlib') as typeof import('node:zlib');
  const bomb = deflateRawSync(JSON.stringify(entries(50, () => ' '.repeat(100_000)))).toString('base64url');
  expect(unpacked(bomb)).toEqual([]);
});
