import { expect, test } from 'vitest';
import { placeIndex, placeValues } from './rows';

const clock = (zone: string, value: string | null) =>
  placeValues(placeIndex('slot', 'clock', 'at', zone), { items: { block: 'slot', at: value }, creator: null });

test.each([
  ['Europe/Berlin', ['2026-12-01T09:30', '2026-12-01T09:30:00.0', '2026-12-01T08:30Z', '2026-12-01T03:30:00-05:00']],
  ['America/Argentina/Buenos_Aires', ['2026-12-01T09:30', '2026-12-01T12:30:00Z']],
  ['UTC', ['09:30', '09:30:00', '09:30:00.000']],
])('spellings of one time by the clock of %s take one place', (zone, spellings) => {
  expect(new Set(spellings.flatMap((text) => clock(zone, text))).size).toBe(1);
});

test.each(['2026-12-01T09:30:01', '2026-12-01T09:30Z', '01.12.2026 09:30'])('%s takes another one', (text) => {
  expect(clock('Europe/Berlin', text)).toHaveLength(1);
  expect(clock('Europe/Berlin', text)).not.toEqual(clock('Europe/Berlin', '2026-12-01T09:30'));
});

test('an empty time takes none', () => {
  expect([...clock('UTC', null), ...clock('UTC', '')]).toEqual([]);
});
