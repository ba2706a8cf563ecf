import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { createLogicRuntime } from '../logic';
import { contextOf, fakeHost, inProcess, limits, programOf } from '../logic/testing/harness';
import { createWorkers } from '../workers';
import { killProcess, startConfined } from './confined-process';

const folder = mkdtempSync(join(tmpdir(), 'apps-none-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that no process can be started for: the system, or Node.js at once, refuses it. */
const refused: [string, { path: string; command: string[] }][] = [
  ['the system', { path: join(folder, 'none.js'), command: [join(folder, 'no-command')] }],
  ['Node.js at once', { path: join(folder, 'none.js'), command: ['with\0zero'] }],
];

test.each(refused)(
  'a start that %s refuses is an error event, and ending it ends nothing else',
  async (_, { path, command }) => {
    const child = startConfined({ path }, { command }, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    killProcess(child);
    const [error] = await once(child, 'error');
    expect([child.pid, error]).toEqual([undefined, expect.any(Error)]);
  },
);

test.each(refused)(
  'runners and workers that %s refuses are 503, and the server stays',
  async (_, { path, command }) => {
    const logger = { error: vi.fn() };
    const options = { limits, sandbox: { command }, logger, runnerPath: path, workers: inProcess };
    const runtime = createLogicRuntime(options);
    const opened = runtime.open(programOf('function f() {}'), contextOf(), fakeHost(), runtime.budget());
    await expect(opened).rejects.toMatchObject({ status: 503 });
    await runtime.destroy();
    const workers = createWorkers({ path, count: 2, memory: 64, sandbox: { command }, logger });
    const tasks = Array.from({ length: 5 }, () => workers.run('any', {}, { time: 1_000 }));
    const outcomes = await Promise.allSettled(tasks);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.status)).toEqual(
      Array(5).fill(503),
    );
    await workers.destroy();
  },
);
