import { EventEmitter } from 'node:events';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Runner } from './runner';

vi.doMock('./runner-process');
// Files of one worker share modules: another one may have loaded the pool with the runners that it really has.
vi.resetModules();
const { startRunner } = await import('./runner-process');
const { createRunnerPool } = await import('./runner-pool');
afterAll(() => {
  vi.doUnmock('./runner-process');
  vi.resetModules();
});

/** Runners that start at once, and end when they are killed. */
function fakeRunners(): { started: Runner[]; report: ReturnType<typeof vi.fn> } & ReturnType<typeof newPool> {
  const started: Runner[] = [];
  vi.mocked(startRunner).mockImplementation(() => {
    const events = new EventEmitter();
    const over = new Promise<void>((resolve) => events.once('over', resolve));
    const runner = {
      usable: true,
      started: true,
      alone: false,
      sessions: new Map(),
      spent: over,
      ended: over,
      ready: Promise.resolve(),
      kill() {
        runner.usable = false;
        events.emit('over');
      },
    };
    started.push(runner as unknown as Runner);
    return runner as unknown as Runner;
  });
  return { started, ...newPool() };
}

function newPool() {
  const report = vi.fn();
  const process = { path: '', runner: {} as never, config: { command: [] } };
  return { report, pool: createRunnerPool({ runners: 1, isolates: 4, process, report }) };
}

describe('runners', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('a lost one is replaced, and a spare one is ready for a minute', async () => {
    const { started, pool } = fakeRunners();
    const usable = () => started.filter((runner) => runner.usable).length;
    pool.runner('javascript').kill();
    await vi.advanceTimersByTimeAsync(30_000);
    expect([started.length, usable()]).toEqual([3, 2]);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect([started.length, usable()]).toEqual([3, 1]);
    await pool.destroy();
  });
});
