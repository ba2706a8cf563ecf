import { expect, test } from 'vitest';
import { ProcessClock } from './process-clock';

/** What happens to a process, in milliseconds: by the clock, of the event loop, of the processors. */
type Event = [now: number, active: number, processor: number];

const work = (time: number): Event => [time, time, time];
const wait = (time: number): Event => [time, 0, 0];
/** While it works, or while it waits for events. */
const stopAtWork = (time: number): Event => [time, time, 0];
const stopInWait = wait;

/** The stops, and the time that is left of the clock and of work, after events; the timer of the clock runs where it could. */
function after(events: readonly Event[]): { now: number; worked: number; stops: number } {
  const at = { now: 0, active: 0, processor: 0 };
  const clock = new ProcessClock({ now: () => at.now, active: () => at.active, processor: () => at.processor });
  for (const [now, active, processor] of events) {
    at.now += now;
    at.active += active;
    at.processor += processor;
    clock.stops();
  }
  return { now: clock.now(), worked: clock.worked(), stops: clock.stops() };
}

test.each<[name: string, events: Event[], result: ReturnType<typeof after>]>([
  ['work', [work(100), work(3_000), work(10)], { now: 3_110, worked: 3_110, stops: 0 }],
  ['short waits', [wait(150), work(20), wait(200), wait(200)], { now: 570, worked: 20, stops: 0 }],
  ['a stop in a wait', [wait(200), stopInWait(6_200), work(10)], { now: 410, worked: 10, stops: 6_000 }],
  ['a stop at work', [work(200), stopAtWork(6_200), work(10)], { now: 410, worked: 210, stops: 6_000 }],
  ['a short stop', [work(200), stopAtWork(400), work(10)], { now: 610, worked: 610, stops: 0 }],
  [
    'processors of other processes',
    [work(200), [400, 400, 200], [400, 400, 200]],
    { now: 1_000, worked: 1_000, stops: 0 },
  ],
  ['work of other threads', [[3_000, 0, 6_000], work(10)], { now: 3_010, worked: 10, stops: 0 }],
  ['two stops', [stopAtWork(1_200), work(50), stopInWait(2_200)], { now: 450, worked: 50, stops: 3_000 }],
])('%s', (_, events, result) => {
  expect(after(events)).toEqual(result);
});
