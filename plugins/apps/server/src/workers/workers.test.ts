import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildWorker } from '../../build.mjs';
import { hasPermissionModel } from '../common/confined-process';
import { isAppsError } from '../common/errors';
import { sheetPackages } from '../interchange/xlsx';
import { createWorkers, packages, WorkerFailure, type Workers, type WorkersOptions } from '.';

const folder = mkdtempSync(join(tmpdir(), 'apps-workers-'));
const path = join(folder, 'worker.js');
const logger = { error: vi.fn() };
const opened: Workers[] = [];

function workersOf(changed: Partial<WorkersOptions> = {}): Workers {
  const workers = createWorkers({ path, count: 1, memory: 64, logger, ...changed });
  opened.push(workers);
  return workers;
}

const soon = { time: 10_000 };

beforeAll(() => buildWorker(path, 'src/workers/testing/tasks.ts'));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((workers) => workers.destroy()));
  logger.error.mockClear();
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a task has an outcome', () => {
  const values: [string, unknown][] = [
    ['text', 'é\ud800'],
    ['bytes', new Uint8Array([1, 2])],
    ['a map', new Map([['a', { b: [1, null] }]])],
    ['nothing', undefined],
    ['a long text', 'x'.repeat(5_000_000)],
  ];
  test.each(values)('%s', async (_name, value) => {
    expect(await workersOf().run('echo', value, soon)).toEqual(value);
  });

  test('an AppsError with its position', async () => {
    const error: unknown = await workersOf()
      .run('appsError', null, soon)
      .catch((thrown) => thrown);
    expect(isAppsError(error, 'LogicError')).toBe(true);
    expect(error).toMatchObject({ message: 'wrong', status: 500, position: { file: 'a.js', line: 2, column: 3 } });
  });

  const failures: [string, string | RegExp][] = [
    ['plainError', /a mistake/],
    ['function', /could not be cloned/],
    ['nothing', /no task "nothing"/],
    ['junk', /a message that is none/],
  ];
  test.each(failures)('%s is an error of the program', async (task, message) => {
    const workers = workersOf();
    await expect(workers.run(task, null, soon)).rejects.toThrow(message);
    expect(await workers.run('echo', 1, soon)).toBe(1);
  });

  test('an input that cannot be copied is refused', async () => {
    const workers = workersOf();
    await expect(workers.run('echo', () => 1, soon)).rejects.toThrow('could not be cloned');
    expect(await workers.run('echo', 1, soon)).toBe(1);
  });
});

describe('a task is ended', () => {
  const cases: [string, WorkerFailure['reason']][] = [
    ['spin', 'time'],
    ['fill', 'ended'],
    ['abort', 'ended'],
    ['exit', 'ended'],
  ];
  test.each(cases)('%s: %s', async (task, reason) => {
    const workers = workersOf();
    const time = reason === 'time' ? 100 : 20_000;
    const error: unknown = await workers.run(task, null, { time }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(WorkerFailure);
    expect(error).toMatchObject({ reason });
    expect(await workers.run('echo', 1, soon)).toBe(1);
    expect(logger.error).not.toHaveBeenCalled();
  });

  test('by a signal: while it runs, while it waits, or before', async () => {
    const workers = workersOf();
    const [first, second] = [new AbortController(), new AbortController()];
    const atWork = workers.run('spin', null, { time: 60_000, signal: first.signal });
    const waits = workers.run('echo', 1, { ...soon, signal: second.signal });
    const after = workers.run('echo', 2, soon);
    second.abort(new Error('second'));
    await expect(waits).rejects.toThrow('second');
    first.abort(new Error('first'));
    await expect(atWork).rejects.toThrow('first');
    expect(await after).toBe(2);
    await expect(workers.run('echo', 1, { ...soon, signal: first.signal })).rejects.toThrow('first');
  });

  test('its time begins when a worker starts on it', async () => {
    const workers = workersOf();
    const first = workers.run('later', { time: 400, value: 1 }, soon);
    const second = workers.run('later', { time: 1, value: 2 }, { time: 300 });
    expect(await Promise.all([first, second])).toEqual([1, 2]);
  });
});

describe('processes', () => {
  test.skipIf(!hasPermissionModel)('read their own code, and nothing else', async () => {
    const denied = 'ERR_ACCESS_DENIED';
    const rest = { reading: denied, listing: denied, writing: denied, process: denied, thread: denied };
    expect(await workersOf().run('reach', null, soon)).toEqual({ ...rest, 'own code': true });
  });

  test('may do only what their access allows, also behind a command', async () => {
    const sandbox = { command: ['/bin/sh', '-c', 'exec "$@"', 'sh'] };
    const workers = workersOf({ access: { unrestricted: true }, sandbox });
    expect(await workers.run('reach', null, soon)).toMatchObject({ reading: true, listing: true, thread: true });
  });

  test('one runs task after task, and is replaced after it was ended', async () => {
    const workers = workersOf();
    const pids = [await workers.run('pid', null, soon), await workers.run('pid', null, soon)];
    expect(pids[0]).toBe(pids[1]);
    await workers.run('abort', null, soon).catch(() => undefined);
    expect(await workers.run('pid', null, soon)).not.toBe(pids[0]);
  });

  test('the maximal number works at once', async () => {
    const workers = workersOf({ count: 2 });
    const pids = await Promise.all([1, 2, 3].map(() => workers.run('pid', null, soon)));
    expect(new Set(pids).size).toBeLessThanOrEqual(2);
    const spinning = workers.run('spin', null, { time: 2000 });
    expect(await workers.run('echo', 1, soon)).toBe(1);
    await expect(spinning).rejects.toBeInstanceOf(WorkerFailure);
  });

  test('tasks of one group run one after the other and fill half of the queue', async () => {
    const workers = workersOf({ count: 2, queue: 2 });
    const first = workers.run('later', { time: 300, value: 1 }, { ...soon, group: 'a' });
    const second = workers.run('echo', 2, { ...soon, group: 'a' });
    await expect(workers.run('echo', 3, { ...soon, group: 'a' })).rejects.toMatchObject({
      name: 'ServiceUnavailableError',
    });
    expect(await Promise.race([first, second, workers.run('echo', 4, { ...soon, group: 'b' })])).toBe(4);
    expect(await Promise.race([first, second])).toBe(1);
    expect(await second).toBe(2);
  });

  test('one that has grown is replaced after its task', async () => {
    const workers = workersOf();
    const pid = await workers.run('grow', null, soon);
    expect(await workers.run('pid', null, soon)).not.toBe(pid);
  });

  test('have no environment and no arguments', async () => {
    const { env, args } = (await workersOf().run('environment', null, soon)) as { env: string[]; args: string[] };
    expect({ env: env.filter((name) => !/^NODE_CHANNEL/.test(name)), args }).toEqual({ env: [], args: [] });
  });

  test('a queue that is full, a missing program and a stopping server are 503', async () => {
    const full = workersOf({ queue: 1 });
    const spinning = full.run('spin', null, { time: 60_000 }).catch((error) => error);
    const waiting = full.run('spin', null, { time: 60_000 }).catch((error) => error);
    const unavailable = { name: 'ServiceUnavailableError' };
    await expect(full.run('echo', 1, soon)).rejects.toMatchObject(unavailable);
    await full.destroy();
    expect(await Promise.all([spinning, waiting])).toMatchObject([unavailable, unavailable]);
    await expect(full.run('echo', 1, soon)).rejects.toMatchObject(unavailable);

    const missing = workersOf({ path: join(folder, `${randomUUID()}.js`) });
    await expect(missing.run('echo', 1, soon)).rejects.toMatchObject(unavailable);
    await expect(missing.run('echo', 1, soon)).rejects.toMatchObject(unavailable);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});

test('the processes may read the packages that their program loads, and no others', async () => {
  const program = join(folder, 'worker.js');
  await buildWorker(program);
  const loads = /\b(?:require|createRequire\)\(__filename\))\("(?!node:)([^"]+)"\)/g;
  const loaded = [...readFileSync(program, 'utf8').matchAll(loads)].map(([, name]) => name);
  expect([...new Set(loaded)].sort()).toEqual([...packages, ...sheetPackages].sort());
});
