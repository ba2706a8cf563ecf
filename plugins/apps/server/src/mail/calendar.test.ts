import { describe, expect, test } from 'vitest';
import { calendarFile } from './receipts';

const event = {
  uid: 'a@example.org',
  title: 'Reading',
  url: null,
  start: Date.UTC(2026, 11, 1, 8, 30),
  isDay: false,
  made: Date.UTC(2026, 10, 27, 12, 0, 5, 7),
};

describe('an iCalendar file', () => {
  test('has one event, and lines that end as RFC 5545 says', () => {
    expect(calendarFile(event).split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//strapi-plugin-apps//receipt//EN',
      'METHOD:PUBLISH',
      'BEGIN:VEVENT',
      'UID:a@example.org',
      'DTSTAMP:20261127T120005Z',
      'DTSTART:20261201T083000Z',
      'SUMMARY:Reading',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  test('of a day ends with the next one, also over the end of a year', () => {
    const text = calendarFile({ ...event, isDay: true, start: Date.UTC(2026, 11, 31) });
    expect(text).toContain('\r\nDTSTART;VALUE=DATE:20261231\r\nDTEND;VALUE=DATE:20270101\r\n');
  });

  test.each([
    ['a, b; c\\d', 'a\\, b\\; c\\\\d'],
    ['one\r\nATTENDEE:mailto:x@example.org', 'one\\nATTENDEE:mailto:x@example.org'],
    ['one\u2028two\rthree', 'one\\ntwo\\nthree'],
    ['bell\u0007', 'bell'],
  ])('the title %j adds no line', (title, wanted) => {
    expect(calendarFile({ ...event, title })).toContain(`\r\nSUMMARY:${wanted}\r\nEND:VEVENT`);
  });

  test('long lines are folded between characters', () => {
    const title = `${'ä'.repeat(40)}${'😀'.repeat(40)}`;
    const text = calendarFile({ ...event, title });
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(text.replaceAll('\r\n ', '')).toContain(`SUMMARY:${title}\r\n`);
    expect(text).not.toContain('\ufffd');
  });
});
