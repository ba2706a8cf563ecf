import { expect, test } from 'vitest';
import type { TimeSpan } from '../types';
import { timeBefore } from './records';

test.each<[TimeSpan, string, string]>([
  [{ count: 180, unit: 'day' }, '2026-11-27T12:00:00Z', '2026-05-31T12:00:00Z'],
  [{ count: 4, unit: 'week' }, '2026-11-27T12:00:00Z', '2026-10-30T12:00:00Z'],
  [{ count: 1, unit: 'month' }, '2026-03-31T23:59:59Z', '2026-02-28T23:59:59Z'],
  [{ count: 1, unit: 'month' }, '2024-03-30T00:00:00Z', '2024-02-29T00:00:00Z'],
  [{ count: 14, unit: 'month' }, '2026-01-15T00:00:00Z', '2024-11-15T00:00:00Z'],
  [{ count: 1, unit: 'year' }, '2024-02-29T06:00:00Z', '2023-02-28T06:00:00Z'],
  [{ count: 90, unit: 'minute' }, '2026-01-01T01:00:00Z', '2025-12-31T23:30:00Z'],
])('%j before %s', (span, moment, expected) => {
  expect(new Date(timeBefore(span, Date.parse(moment))).toISOString()).toBe(expected.replace('Z', '.000Z'));
});
