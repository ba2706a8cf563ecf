import { expect, test } from 'vitest';
import { momentInZone } from './zoned';

test.each([
  ['2026-12-01T09:30', 'UTC', '2026-12-01T09:30:00Z'],
  ['2026-12-01T09:30', 'Europe/Berlin', '2026-12-01T08:30:00Z'],
  ['2026-07-01T00:00', 'America/New_York', '2026-07-01T04:00:00Z'],
  ['2026-07-01T00:00', 'Pacific/Kiritimati', '2026-06-30T10:00:00Z'],
  ['2026-01-01T12:00', 'Pacific/Pago_Pago', '2026-01-01T23:00:00Z'],
  ['2026-01-01T12:00', 'Asia/Kathmandu', '2026-01-01T06:15:00Z'],
  // The clock goes from 2:00 to 3:00.
  ['2026-03-29T01:59', 'Europe/Berlin', '2026-03-29T00:59:00Z'],
  ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
  ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
  // A day that begins at one o'clock.
  ['2024-04-26T00:00', 'Africa/Cairo', '2024-04-25T22:00:00Z'],
  // A day that the zone has left out.
  ['2011-12-30T12:00', 'Pacific/Apia', '2011-12-30T22:00:00Z'],
])('%s in %s', (local, zone, moment) => {
  const clock = Date.parse(`${local}Z`);
  for (const twice of ['first', 'last'] as const)
    expect(new Date(momentInZone(clock, zone, twice))).toEqual(new Date(moment));
});

test('of an hour that comes twice, the first and the last', () => {
  const clock = Date.parse('2026-10-25T02:30Z');
  expect(new Date(momentInZone(clock, 'Europe/Berlin', 'first')).toISOString()).toBe('2026-10-25T00:30:00.000Z');
  expect(new Date(momentInZone(clock, 'Europe/Berlin', 'last')).toISOString()).toBe('2026-10-25T01:30:00.000Z');
});
