import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Clock, defaultLimits } from './limits';

/** Milliseconds of the wall clock and of the processor, which the tests move. */
let now = performance.now();
let used: number;
let readings = 0;

beforeEach(() => {
  // A reading of another test is too old to be shared.
  now += 1_000_000;
  used = 0;
  readings = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => {
    readings += 1;
    return { user: used * 1000, system: 0 };
  });
});
afterEach(() => vi.restoreAllMocks());

const begin = () => new Clock({ ...defaultLimits, renderTime: 500 });

/** A piece of work: `busy` ms of this process, then `idle` ms of others. */
function work(busy: number, idle = 0): void {
  now += busy + idle;
  used += busy;
}

/** Other requests of this process. */
const others = (time: number) => async () => work(time);

function outcome(clock: Clock): string {
  clock.update(now);
  return clock.timeoutError?.message ?? 'goes on';
}

describe('the time of a rendering', () => {
  test.each<[string, number, number, number, number, string]>([
    // pieces, ms each, ms of other processes each, ms of other requests after each
    ['many short pieces', 100, 0.4, 0, 3, 'goes on'],
    ['less than the limit', 49, 10, 0, 0, 'goes on'],
    ['more than the limit', 51, 10, 0, 0, 'The layout takes longer than 500 ms'],
    ['less than the limit, beside other processes', 40, 10, 10, 0, 'goes on'],
    ['more than the limit, beside other processes', 52, 10, 10, 0, 'The layout takes longer than 500 ms'],
    ['less than the limit, beside other processes and requests', 40, 10, 10, 50, 'goes on'],
    ['one long piece, in which the machine stood still', 1, 10, 60_000, 0, 'goes on'],
  ])('%s', async (_, pieces, busy, idle, other, expected) => {
    const clock = begin();
    for (let piece = 0; piece < pieces; piece += 1) {
      work(busy, idle);
      if (other) await clock.stoppedDuring(others(other));
      else clock.update(now);
    }
    expect(outcome(clock)).toBe(expected);
  });

  test('needs one reading of the processor time for all short renderings of 5 ms', async () => {
    for (let rendering = 0; rendering < 10; rendering += 1) {
      const clock = begin();
      for (let element = 0; element < 50; element += 1) {
        work(0.001);
        await clock.stoppedDuring(others(0.001));
      }
    }
    expect(readings).toBe(1);
  });
});
