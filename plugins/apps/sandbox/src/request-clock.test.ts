import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProcessorShare, type Sharing } from './processor-share';
import { RequestClock } from './request-clock';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (time: number) => vi.advanceTimersByTime(time);

test('without a delay the time is over by the clock', () => {
  const clock = new RequestClock(1_000, 3_000);
  pass(600);
  expect(clock.left()).toBe(400);
  clock.delayed(20);
  pass(400);
  expect(clock.left()).toBe(0);
});

test('delays are given back when the time is over, up to the latest time', () => {
  const clock = new RequestClock(1_000, 3_000);
  clock.delayed(600);
  pass(999);
  expect(clock.left()).toBe(1);
  pass(1);
  expect(clock.left()).toBe(600);
  pass(600);
  expect(clock.left()).toBe(0);
  clock.delayed(5_000);
  expect(clock.left()).toBe(1_400);
  pass(1_400);
  clock.delayed(5_000);
  expect(clock.left()).toBe(0);
});

test('a request that may not be delayed is not', () => {
  const clock = new RequestClock(1_000, 1_000);
  clock.delayed(600);
  pass(1_000);
  expect(clock.left()).toBe(0);
});

/** Delays of sessions that run for 100 ms, of which the process had the processor for `used` ms. */
function delaysOf(used: number, running: readonly boolean[]): number[] {
  const delays = running.map(() => 0);
  const sessions = new Map<number, Sharing>(
    running.map((isRunning, at) => [
      at,
      {
        isRunning,
        delayed(time) {
          delays[at] = (delays[at] ?? 0) + time;
        },
      },
    ]),
  );
  let [now, processor] = [0, 0];
  const measure = createProcessorShare(
    sessions,
    () => processor,
    () => now,
  );
  now += 100;
  processor += used;
  measure();
  return delays.map(Math.round);
}

test.each<[used: number, running: boolean[], delays: number[]]>([
  [100, [true], [0]],
  [95, [true], [0]],
  [200, [true, true], [0, 0]],
  [200, [true, true, true], [33, 33, 33]],
  [150, [true, false, true, true], [50, 0, 50, 50]],
  [40, [true], [60]],
  [0, [false], [0]],
  [100, [], []],
])('%s ms of the processor in 100 ms, for sessions of which these run: %j', (used, running, delays) => {
  expect(delaysOf(used, running)).toEqual(delays);
});

test('a clock that is paused loses no time, and its latest end moves too', () => {
  const clock = new RequestClock(1_000, 1_500);
  pass(400);
  clock.pause();
  clock.pause();
  pass(5_000);
  expect(clock.left()).toBe(600);
  clock.resume();
  clock.resume();
  pass(599);
  expect(clock.left()).toBe(1);
  clock.delayed(700);
  pass(1);
  expect(clock.left()).toBe(500);
});
