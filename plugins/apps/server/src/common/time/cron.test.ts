import { describe, expect, test } from 'vitest';
import { cronProblem, cronWords, isTimeZone, serverTimeZone, ticksOf } from './cron';

const FIVE = /^it needs five fields/;

describe('cronProblem', () => {
  test.each([
    '* * * * *',
    '0 6 * * 1-5',
    '*/15 * * * *',
    '*/30 * * * * *',
    '  0   6 * *  MON-FRI ',
    '0 6 * jan,Jul 0,7',
    '0 0 29 2 *',
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 LW * *',
    '0 0 * * 1#2',
    '0 0 * * 5L',
    '0-30/10 9-17 * * *',
  ])('takes %j', (text) => {
    expect(cronProblem(text)).toBeNull();
  });

  test.each<[string, RegExp]>([
    ['', FIVE],
    ['0 6 * *', FIVE],
    ['* * * * * * *', FIVE],
    ['@daily', FIVE],
    ['0 6 * * ?', FIVE],
    ['0 6 * * +1', FIVE],
    ['2026-01-01T06:00:00', FIVE],
    ['0 6 * * 1; rm', FIVE],
    [`0 6 * * ${'1,'.repeat(300)}1`, FIVE],
    ['60 * * * *', /^Invalid value for minute: 60$/],
    ['* 24 * * *', /^Invalid value for hour: 24$/],
    ['* * 0 * *', /^Invalid value for day/],
    ['* * 32 * *', /^Invalid value for day/],
    ['* * * 13 *', /^Invalid value for month/],
    ['* * * * 8', /^Invalid value for dayOfWeek: 8$/],
    ['61 * * * * *', /^Invalid value for second: 61$/],
    ['* * * * FRY', /^day of the week \(FRY\) contains illegal characters$/],
    ['*/0 * * * *', /illegal stepping: 0/],
    ['5/15 * * * *', /stepping with numeric prefix/],
    ['0 22-2 * * *', /From value is larger than to value/],
    ['0 0 * * 1,', /is empty/],
    ['0 0 * * 1#6', /nth weekday out of range/],
    ['0 0 30 2 *', /^no day has such a date$/],
    ['0 0 31 4,6 *', /^no day has such a date$/],
  ])('refuses %j', (text, problem) => {
    expect(cronProblem(text)).toMatch(problem);
  });
});

/** Days on which clocks are set: `from` and `until` in UTC, and the ticks between them as `<day>T<time>`. */
const changes: [name: string, text: string, zone: string, from: string, until: string, ticks: string[]][] = [
  [
    'a time that the day does not have runs right after the gap',
    '30 2 * * *',
    'Europe/Paris',
    '2026-03-28T00:00',
    '2026-03-30T12:00',
    ['28T01:30', '29T01:00', '30T00:30'],
  ],
  [
    'a time that the day has twice runs the first time',
    '30 2 * * *',
    'Europe/Paris',
    '2026-10-24T00:00',
    '2026-10-26T12:00',
    ['24T00:30', '25T00:30', '26T01:30'],
  ],
  [
    'several named times, one of them in the gap',
    '30 2,14 * * *',
    'Europe/Paris',
    '2026-03-28T12:00',
    '2026-03-29T20:00',
    ['28T13:30', '29T01:00', '29T12:30'],
  ],
  [
    'several named times, one of them twice',
    '30 2,14 * * *',
    'Europe/Paris',
    '2026-10-24T20:00',
    '2026-10-25T20:00',
    ['25T00:30', '25T13:30'],
  ],
  [
    'every half hour skips the hour that is not there',
    '*/30 * * * *',
    'Europe/Paris',
    '2026-03-29T00:00',
    '2026-03-29T02:00',
    ['29T00:30', '29T01:00', '29T01:30', '29T02:00'],
  ],
  [
    'every half hour runs in both hours that bear the same name',
    '*/30 * * * *',
    'Europe/Paris',
    '2026-10-24T23:30',
    '2026-10-25T02:00',
    ['25T00:00', '25T00:30', '25T01:00', '25T01:30', '25T02:00'],
  ],
  [
    'New York, a time in the gap',
    '30 2 * * *',
    'America/New_York',
    '2026-03-07T00:00',
    '2026-03-09T12:00',
    ['07T07:30', '08T07:00', '09T06:30'],
  ],
  [
    'New York, a time that comes twice',
    '30 1 * * *',
    'America/New_York',
    '2026-10-31T00:00',
    '2026-11-02T12:00',
    ['31T05:30', '01T05:30', '02T06:30'],
  ],
  [
    'New York, every hour',
    '0 * * * *',
    'America/New_York',
    '2026-11-01T04:00',
    '2026-11-01T08:00',
    ['01T05:00', '01T06:00', '01T07:00', '01T08:00'],
  ],
  [
    'a zone half an hour beside the others',
    '0 6 * * *',
    'Asia/Kolkata',
    '2026-03-28T00:00',
    '2026-03-30T12:00',
    ['28T00:30', '29T00:30', '30T00:30'],
  ],
  [
    'a zone that sets its clocks by half an hour, forward',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T00:00',
    '2026-10-05T00:00',
    ['02T15:45', '03T15:30', '04T15:15'],
  ],
  [
    'a zone that sets its clocks by half an hour, back',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-03T00:00',
    '2026-04-06T00:00',
    ['03T14:45', '04T14:45', '05T15:15'],
  ],
];

describe('ticksOf', () => {
  const at = (text: string) => Date.parse(`${text}:00Z`);
  const shown = (ticks: readonly number[]) => ticks.map((tick) => new Date(tick).toISOString().slice(8, 16));

  test.each(changes)('%s', (_name, text, zone, from, until, expected) => {
    const ticks = ticksOf(text, zone);
    const forward: number[] = [];
    for (let tick = ticks.next(at(from)); tick !== null && tick <= at(until); tick = ticks.next(tick))
      forward.push(tick);
    expect(shown(forward)).toEqual(expected);
    expect(shown(ticks.between(at(from), at(until), 100))).toEqual(expected);
    expect(shown(ticks.between(at(from), at(until), 2))).toEqual(expected.slice(-2));
  });

  test('the ends: after one time, and not after the other', () => {
    const ticks = ticksOf('* * * * * *', 'UTC');
    const [zero, two] = [at('2026-01-01T00:00'), at('2026-01-01T00:00') + 2_000];
    expect(ticks.between(zero, two, 10)).toEqual([zero + 1_000, two]);
    expect(ticks.between(zero, two - 1, 10)).toEqual([zero + 1_000]);
    expect(ticks.between(zero - 1, two + 999, 10)).toEqual([zero, zero + 1_000, two]);
    expect(ticks.between(two, zero, 10)).toEqual([]);
    expect(ticks.next(zero)).toBe(zero + 1_000);
    expect(ticks.next(zero - 1)).toBe(zero);
    expect(ticks.next(zero + 1)).toBe(zero + 1_000);
  });

  test('forward and back give the same ticks in order, around days on which clocks are set', () => {
    const texts = ['*/7 * * * *', '30 2 * * *', '0,20,40 1-3 * * *', '15 */2 * * *', '5 1,2,3 * * *'];
    for (const zone of ['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo'])
      for (const text of texts)
        for (const day of [
          '2026-03-08',
          '2026-03-29',
          '2026-04-05',
          '2026-04-24',
          '2026-10-04',
          '2026-10-25',
          '2026-11-01',
        ]) {
          const ticks = ticksOf(text, zone);
          const [from, until] = [at(`${day}T00:00`) - 86_400_000, at(`${day}T00:00`) + 2 * 86_400_000];
          const all = ticks.between(from, until, 1_000);
          expect(all, `${zone} ${text} ${day}`).toEqual([...new Set(all)].sort((a, b) => a - b));
          for (const [index, tick] of all.entries()) {
            if (index % 5 > 0) continue;
            expect(ticks.next(tick), `${zone} ${text} ${day}`).toBe(all[index + 1] ?? ticks.next(until));
          }
        }
  });

  test('without a zone it is that of the server', () => {
    expect(ticksOf('0 6 * * *', null).next(0)).toBe(ticksOf('0 6 * * *', serverTimeZone()).next(0));
  });
});

test.each([
  ['0 6 * * 1-5', 'At 06:00, Monday through Friday'],
  ['30 2,14 * * *', 'At 02:30 and 14:30'],
  ['*/30 * * * * *', 'Every 30 seconds'],
  ['0 0 L * *', 'At 00:00, on the last day of the month'],
  ['0 0 * * 1#2', 'At 00:00, on the second Monday of the month'],
  ['0 6 * JAN,JUL *', 'At 06:00, only in January and July'],
  ['0 6 * * 7', 'At 06:00, only on Sunday'],
])('%j means: %s', (text, words) => {
  expect(cronWords(text, 'Europe/Paris')).toBe(`${words}, Europe/Paris`);
});

test.each([
  ['Europe/Paris', true],
  ['UTC', true],
  ['Europe/Pariss', false],
  ['', false],
  ['nonsense', false],
])('%j is a time zone: %s', (zone, expected) => {
  expect(isTimeZone(zone)).toBe(expected);
});
