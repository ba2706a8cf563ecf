import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processClock } from '../../common/time/process-clock';
import { fakeHost, runOnce, useRuntime } from '../testing/harness';

const LIMIT = 1_000;
const runtime = useRuntime({ isolates: 1, logicTime: LIMIT, hostTime: LIMIT });

/** Stops this process for longer than any limit, soon after; its runners go on. */
function stopSoon(): void {
  const seconds = (2 * LIMIT) / 1_000;
  spawn('sh', ['-c', `kill -STOP ${process.pid}; sleep ${seconds}; kill -CONT ${process.pid}`], { stdio: 'ignore' });
}

const calls: Record<string, (stops: number) => Promise<void>> = {
  async 'works in a host call'(stops) {
    while (processClock.stops() === stops);
  },
  async 'waits in a host call'(stops) {
    while (processClock.stops() === stops) await pause(5);
  },
};

test.each(Object.keys(calls))('a process that is stopped while it %s takes that time from no limit', async (name) => {
  const host = fakeHost();
  const { count } = host;
  let made = 0;
  host.count = async (...args) => {
    made += 1;
    if (made === 1) {
      const stops = processClock.stops();
      stopSoon();
      await calls[name]?.(stops);
    }
    return count(...args);
  };
  expect(await runOnce(runtime, 'function f(c) { return typeof c.app.count() }', { host })).toMatchObject({ ok: true });
  // The time of the session was over in its runner: the logic has run again.
  expect(made).toBe(2);
});
