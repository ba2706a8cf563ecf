import { describe, expect, test } from 'vitest';
import { isoMoment, momentInZone, onClock, readableMoment, readableNumber, readMoment, storedMoment } from './moments';

const iso = (text: string) => {
  const moment = readMoment(text);
  return moment && `${moment.kind} ${new Date(moment.time).toISOString().replace('.000', '')}`;
};

describe('reading', () => {
  test.each([
    ['2026-03-01', 'day 2026-03-01T00:00:00Z'],
    ['2026/3/1', 'day 2026-03-01T00:00:00Z'],
    ['2026-03-01T09:30', 'local 2026-03-01T09:30:00Z'],
    [' 2026-03-01 09:30:15.123456 ', 'local 2026-03-01T09:30:15.123Z'],
    ['2026-03-01T09:30:00Z', 'instant 2026-03-01T09:30:00Z'],
    ['2026-03-01 09:30:00+01', 'instant 2026-03-01T08:30:00Z'],
    ['2026-03-01T09:30-0330', 'instant 2026-03-01T13:00:00Z'],
    ['March 1, 2026', 'day 2026-03-01T00:00:00Z'],
    ['1 Mar 2026 9:30 pm', 'local 2026-03-01T21:30:00Z'],
    ['Mar. 1 2026, 12:05 AM', 'local 2026-03-01T00:05:00Z'],
    ['Sun, 01 Mar 2026 09:30:00 GMT', 'instant 2026-03-01T09:30:00Z'],
    ['Sun, 1 Mar 2026 09:30:00 +0100', 'instant 2026-03-01T08:30:00Z'],
    ['Sun Mar 01 2026 09:30:00 GMT+0100 (Central European Standard Time)', 'instant 2026-03-01T08:30:00Z'],
  ])('%s is %s', (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  test('what String(new Date()) and toUTCString() write is the same moment', () => {
    const now = new Date('2026-07-01T10:20:30Z');
    for (const text of [String(now), now.toUTCString(), now.toISOString()])
      expect(readMoment(text)).toEqual({ time: now.getTime(), kind: 'instant' });
  });

  test.each([
    ...[
      '',
      'x',
      '01.03.2026',
      '03/01/2026',
      'Room 5',
      '1.5',
      '-1',
      '2026',
      '2026-03',
      '2026-02-29',
      '2026-3/1',
      'March 2026',
    ],
    ...['0000-01-01', '2026-03-01T24:00', '2026-03-01T09:60', '2026-03-01T09:30+15:00', 'Feb 30, 2026', '1 Foo 2026'],
    ...[`2026-03-01${' '.repeat(200)}`, `Mon ${'1 '.repeat(45)}`],
  ])('%s is no date', (text) => {
    expect(readMoment(text)).toBeNull();
  });

  test('a stored date is ISO 8601 exactly', () => {
    expect(isoMoment('2026-03-01 09:30')).toBeNull();
    expect(isoMoment('2026-3-1')).toBeNull();
  });
});

describe('writing', () => {
  const german = { tag: 'de', timeZone: 'Europe/Berlin' };
  test.each([
    ['de', '2026-03-01', '1. März 2026'],
    ['de', '2026-03-01T09:30', '1. März 2026, 09:30'],
    ['de', '2026-03-29T02:30', '29. März 2026, 02:30'],
    ['de', '2026-03-01T09:30:15', '1. März 2026, 09:30:15'],
    ['de', '2026-03-01T09:30:00Z', '1. März 2026, 10:30'],
    ['de', '09:30', '09:30'],
    ['en', '2026-03-01T09:30', 'March 1, 2026, 9:30 AM'],
    ['en', '21:30:15', '9:30:15 PM'],
    ['fr', '2026-03-01', '1 mars 2026'],
    ['de', '01.03.2026', '01.03.2026'],
    ['de', '25:00', '25:00'],
    ['de', '', ''],
  ])('in %s %s is %s', (tag, text, expected) => {
    expect(readableMoment(text, { ...german, tag })).toBe(expected);
  });

  test.each([
    ['de', 1234.5, '1.234,5'],
    ['en', 1234.5, '1,234.5'],
    ['de', 0.1234567, '0,1234567'],
    ['de', -5, '-5'],
  ])('in %s %s is %s', (tag, number, expected) => {
    expect(readableNumber(number, { ...german, tag })).toBe(expected);
  });
});

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

test.each([
  ['2026-12-01T08:30:00.250Z', 'Europe/Berlin', '2026-12-01T09:30:00.250Z'],
  ['2026-12-01T09:30', 'Europe/Berlin', '2026-12-01T09:30:00.000Z'],
  ['2026-12-01T04:30-05:00', 'America/New_York', '2026-12-01T04:30:00.000Z'],
  ['1969-12-31T23:59:59.999Z', 'Asia/Kathmandu', '1970-01-01T05:29:59.999Z'],
  ['0050-06-01T12:00Z', 'UTC', '0050-06-01T12:00:00.000Z'],
  ['09:30', 'Europe/Berlin', '1970-01-01T09:30:00.000Z'],
  ['2026-12-01', 'Europe/Berlin', '2026-12-01T00:00:00.000Z'],
])('the clock shows %s in %s as %s', (text, zone, shown) => {
  const moment = storedMoment(text);
  expect(moment && new Date(onClock(moment, zone)).toISOString()).toBe(shown);
});

test('of an hour that comes twice, the first and the last', () => {
  const clock = Date.parse('2026-10-25T02:30Z');
  expect(new Date(momentInZone(clock, 'Europe/Berlin', 'first')).toISOString()).toBe('2026-10-25T00:30:00.000Z');
  expect(new Date(momentInZone(clock, 'Europe/Berlin', 'last')).toISOString()).toBe('2026-10-25T01:30:00.000Z');
});
