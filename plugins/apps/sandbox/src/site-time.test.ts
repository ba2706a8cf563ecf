import { describe, expect, test } from 'vitest';
import { dayBegin, zonedTime } from './site-time';

describe('the time of a zone', () => {
  test.each<[zone: string, time: string, shown: string]>([
    ['Europe/Berlin', '2026-03-01T08:30:15.400Z', '2026-03-01T09:30:15+01:00'],
    ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59+01:00'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00+02:00'],
    ['America/New_York', '2026-03-01T02:00:00Z', '2026-02-28T21:00:00-05:00'],
    ['Asia/Kolkata', '2026-03-01T20:00:00Z', '2026-03-02T01:30:00+05:30'],
    ['America/St_Johns', '2026-07-01T00:00:00Z', '2026-06-30T21:30:00-02:30'],
    ['Pacific/Kiritimati', '2026-03-01T12:00:00Z', '2026-03-02T02:00:00+14:00'],
    ['UTC', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59+00:00'],
  ])('%s at %s', (zone, time, shown) => {
    expect(zonedTime(Date.parse(time), zone)).toBe(shown);
    expect(Math.floor(Date.parse(time) / 1000)).toBe(Date.parse(shown) / 1000);
  });
});

describe('the begin of a day', () => {
  const now = Date.parse('2026-03-01T23:30:00Z');
  test.each<[zone: string, day: string, days: number, begin: string]>([
    ['Europe/Berlin', '', 0, '2026-03-01T23:00:00.000Z'],
    ['America/New_York', '', 0, '2026-03-01T05:00:00.000Z'],
    ['UTC', '', 1, '2026-03-02T00:00:00.000Z'],
    ['Europe/Berlin', '2026-07-01', 0, '2026-06-30T22:00:00.000Z'],
    // The day on which clocks change has 23 hours, and begins before the change.
    ['Europe/Berlin', '2026-03-29', 0, '2026-03-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29', 1, '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29', -30, '2026-02-26T23:00:00.000Z'],
    // Clocks that are put forward at midnight, and back to it.
    ['America/Sao_Paulo', '2018-11-04', 0, '2018-11-04T03:00:00.000Z'],
    ['America/Havana', '2024-11-03', 0, '2024-11-03T04:00:00.000Z'],
    // A day that an island left out.
    ['Pacific/Apia', '2011-12-30', 0, '2011-12-30T10:00:00.000Z'],
    // A time without a zone is on its day; one with a zone is on that of the site.
    ['Europe/Berlin', '2026-03-01T23:30', 0, '2026-02-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-01T23:30:00Z', 0, '2026-03-01T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-01T23:30:00+01:00', 0, '2026-02-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-01 23:30:00+00:00', 0, '2026-03-01T23:00:00.000Z'],
  ])('%s, %j, %i', (zone, day, days, begin) => {
    expect(dayBegin(zone, now, day, days)).toBe(begin);
  });

  test.each(['01.03.2026', '2026-02-30', 'today', '2026-03-01x', '2026-03-01T99:00Z', '0'])('not of %j', (day) => {
    expect(() => dayBegin('UTC', now, day, 0)).toThrow(RangeError);
  });
});
