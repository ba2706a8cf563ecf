import { describe, expect, test } from 'vitest';
import type { Missed } from '../apps/types';
import { ticksOf } from '../common/time/cron';
import { beginAt, MAX_MISSED, nextLook, stepOf } from './schedules';
import type { ScheduleProgress } from './types';

const at = (text: string) => Date.parse(`2026-03-${text}:00Z`);
const hourly = { ticks: ticksOf('0 * * * *', 'UTC') };

/** Looks at the times in order; what became a job, as `<tick> +<missed>`. */
function run(missed: Missed, begin: string, times: readonly string[]): string[][] {
  let progress: ScheduleProgress = { position: beginAt(at(begin)), ran: [] };
  return times.map((time) => {
    const step = stepOf(progress, { ...hourly, missed }, at(time));
    progress = step?.progress ?? progress;
    return (step?.due ?? []).map(
      ({ at: tick, missed: more }) => new Date(tick).toISOString().slice(8, 16) + (more > 0 ? ` +${more}` : ''),
    );
  });
}

describe('the ticks that become jobs', () => {
  test.each<[string, Missed, string, string[], string[][]]>([
    ['a new schedule begins now', 'once', '01T09:30', ['01T09:30', '01T09:59', '01T10:00'], [[], [], ['01T10:00']]],
    ['a tick at the time of its beginning is one', 'once', '01T09:00', ['01T09:00', '01T09:01'], [['01T09:00'], []]],
    [
      'each tick once',
      'once',
      '01T09:30',
      ['01T10:00', '01T10:00', '01T10:30', '01T11:00'],
      [['01T10:00'], [], [], ['01T11:00']],
    ],
    ['a late look', 'once', '01T09:30', ['01T10:40', '01T10:41'], [['01T10:00'], []]],
    ['missed ones, once', 'once', '01T09:30', ['01T13:10', '01T14:00'], [['01T13:00 +3'], ['01T14:00']]],
    [
      'missed ones, all',
      'all',
      '01T09:30',
      ['01T12:10', '01T13:00'],
      [['01T10:00', '01T11:00', '01T12:00'], ['01T13:00']],
    ],
    ['missed ones, skipped', 'skip', '01T09:30', ['01T12:10', '01T13:00'], [[], ['01T13:00']]],
    [
      'skip runs the last one while it is at most a minute late',
      'skip',
      '01T09:30',
      ['01T12:01', '01T13:02'],
      [['01T12:00'], []],
    ],
    [
      'a clock set back by an hour and a half runs no tick twice',
      'once',
      '01T08:30',
      ['01T09:00', '01T10:00', '01T08:30', '01T09:00', '01T10:00', '01T11:00'],
      [['01T09:00'], ['01T10:00'], [], [], [], ['01T11:00']],
    ],
    [
      'a clock set back further runs what has not run',
      'once',
      '01T08:30',
      ['01T09:00', '01T10:00', '01T05:30', '01T06:00', '01T07:00', '01T09:00', '01T10:00', '01T11:00'],
      [['01T09:00'], ['01T10:00'], [], ['01T06:00'], ['01T07:00'], ['01T08:00'], [], ['01T11:00']],
    ],
    [
      'a clock that was a day ahead for a moment',
      'once',
      '01T08:30',
      ['01T09:00', '02T09:10', '01T09:01', '01T10:00', '01T11:00', '02T08:00', '02T09:00', '02T10:00'],
      [['01T09:00'], ['02T09:00 +23'], [], ['01T10:00'], ['01T11:00'], ['02T08:00 +20'], [], ['02T10:00']],
    ],
    [
      'a clock that was ahead while several ticks ran',
      'all',
      '01T08:30',
      ['01T09:00', '01T12:10', '01T09:10', '01T10:00', '01T11:00', '01T12:00', '01T13:00'],
      [['01T09:00'], ['01T10:00', '01T11:00', '01T12:00'], [], [], [], [], ['01T13:00']],
    ],
    [
      'less than a minute back: it waits',
      'once',
      '01T08:30',
      ['01T09:00', '01T08:59', '01T09:00', '01T10:00'],
      [['01T09:00'], [], [], ['01T10:00']],
    ],
  ])('%s', (_name, missed, begin, times, expected) => {
    expect(run(missed, begin, times)).toEqual(expected);
  });

  test('of very many missed ones, the latest thousand', () => {
    const now = at('01T00:00');
    const progress = { position: now - 5_000 * 3_600_000, ran: [] };
    const all = stepOf(progress, { ...hourly, missed: 'all' }, now);
    expect(all?.due).toHaveLength(MAX_MISSED);
    expect(all?.due.at(-1)).toEqual({ at: now, missed: 0 });
    expect(all?.progress.position).toBe(now);
    expect(stepOf(progress, { ...hourly, missed: 'once' }, now)?.due).toEqual([{ at: now, missed: MAX_MISSED - 1 }]);
  });

  test('a clock that is set several times runs no tick twice, and stops no schedule', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      let state = seed;
      const random = () => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const ran = new Set<number>();
      let progress: ScheduleProgress = { position: beginAt(at('10T00:00')), ran: [] };
      let now = at('10T00:00');
      const jump = Math.floor(random() * 20);
      for (let look = 0; look < 60; look += 1) {
        now += Math.floor(random() * 3_600_000 * 1.5);
        if (look === jump) now += Math.floor((random() - 0.5) * 20 * 3_600_000);
        if (look === jump + 5 || look === jump + 20) now -= Math.floor(random() * 10 * 3_600_000);
        const step = stepOf(progress, { ...hourly, missed: 'once' }, now);
        progress = step?.progress ?? progress;
        for (const { at: tick } of step?.due ?? []) {
          expect(ran.has(tick), `seed ${seed}: ${new Date(tick).toISOString()} twice`).toBe(false);
          ran.add(tick);
        }
      }
      expect(nextLook(progress, hourly, now) ?? 0).toBeLessThanOrEqual(now + 3_600_000);
      expect(ran.size).toBeGreaterThan(15);
    }
  });
});

test.each([
  ['the next tick', '01T09:30', '01T09:40', '01T10:00'],
  ['one that is due', '01T09:30', '01T12:40', '01T10:00'],
  ['at once, when the clock was set back', '01T09:30', '01T07:40', '01T07:40'],
])('the next look: %s', (_name, position, now, expected) => {
  expect(nextLook({ position: at(position), ran: [] }, hourly, at(now))).toBe(at(expected));
});
