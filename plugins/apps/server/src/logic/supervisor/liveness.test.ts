import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLiveness, MAX_SILENCE, PING_TIMEOUT } from './runner-process';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** What happens to a runner, by its time in milliseconds; the events that follow, with their times to 10 ms. */
function events(steps: [at: number, step: 'sent' | 'heard' | 'stop'][], until = 10_000): string[] {
  const found: string[] = [];
  const note = (event: string) => () =>
    void found.push(`${event} ${Math.floor((performance.now() - begin) / 10) * 10}`);
  const begin = performance.now();
  const liveness = createLiveness({ ping: note('ping'), dead: note('dead') });
  for (const [at, step] of steps) {
    vi.advanceTimersByTime(begin + at - performance.now());
    liveness[step]();
  }
  vi.advanceTimersByTime(begin + until - performance.now());
  return found;
}

const dead = MAX_SILENCE + PING_TIMEOUT;

test.each<[title: string, steps: Parameters<typeof events>[0], expected: string[]]>([
  ['that is idle is not asked', [], []],
  [
    'that answers is not asked',
    [
      [0, 'sent'],
      [MAX_SILENCE - 1, 'heard'],
    ],
    [],
  ],
  ['that says nothing is asked, and then dead', [[0, 'sent']], [`ping ${MAX_SILENCE}`, `dead ${dead}`]],
  [
    'whose logic runs answers the question',
    [
      [0, 'sent'],
      [MAX_SILENCE + 20, 'heard'],
    ],
    [`ping ${MAX_SILENCE}`],
  ],
  [
    'that becomes silent later is asked again',
    [
      [0, 'sent'],
      [MAX_SILENCE + 20, 'heard'],
      [MAX_SILENCE + 30, 'sent'],
    ],
    [`ping ${MAX_SILENCE}`, `ping ${2 * MAX_SILENCE + 30}`, `dead ${dead + MAX_SILENCE + 30}`],
  ],
  [
    'that has ended is not asked',
    [
      [0, 'sent'],
      [10, 'stop'],
    ],
    [],
  ],
])('a runner %s', (_title, steps, expected) => {
  expect(events(steps)).toEqual(expected);
});

test('an answer that is read just before the check counts, and what follows is checked once', () => {
  const found: string[] = [];
  const liveness = createLiveness({ ping: () => found.push('ping'), dead: () => found.push('dead') });
  liveness.sent();
  vi.advanceTimersByTime(MAX_SILENCE + 1);
  // The time of the answer is over, but this process was busy: the answer is read before the check.
  vi.advanceTimersToNextTimer();
  expect(found).toEqual(['ping']);
  liveness.heard();
  liveness.sent();
  vi.advanceTimersByTime(MAX_SILENCE + 1);
  expect(found).toEqual(['ping', 'ping']);
  liveness.heard();
  liveness.stop();
});
