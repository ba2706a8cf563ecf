import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { buildRunner } from '../../../../sandbox/build.mjs';
import { buildWorker } from '../../../build.mjs';
import { errorText } from '../../common/errors';
import type { Limits } from '../../config.types';
import { createWorkers, type Workers } from '../../workers';
import { compileLogic } from '../compile/task';
import type { CompileInput } from '../compile/task-types';
import { createLogicRuntime, firstAttempt, nextAttempt } from '../index';
import type { ContextData, LogEntry, LogicHost, LogicOutcome, LogicProgram, LogicRuntime } from '../types';
import { contextOf } from './context';
import { fakeHost } from './fake-host';

export { contextOf } from './context';
export { fakeHost } from './fake-host';

export const limits: Limits = {
  logicTime: 2000,
  logicMemory: 64,
  hostCalls: 1000,
  hostTime: 1000,
  contentChanges: 50,
  resultSize: 1024 * 1024,
  logEntries: 100,
  logEntrySize: 10240,
  bodySize: 1024 * 1024,
  uploadSize: 1024 * 1024,
  keptSize: 4 * 1024 * 1024,
  imagePixels: 1_000_000,
  jobs: 10_000,
  drafts: 10_000,
  draftsOfSender: 100,
  draftSize: 2 ** 31,
  mails: 100,
  submittedRecords: 1000,
  formPosts: 200,
  formTime: 1000,
  searchTime: 2_000,
  searches: 4,
  attempts: 10,
  runners: 1,
  isolates: 4,
};

/** A new folder in which Node finds isolated-vm. */
const newFolder = () => join(__dirname, `../../../../node_modules/.cache/apps-runner-${randomUUID()}`);

/** The built programs, which all files of a worker of vitest share: a build takes half a second of processor time. */
let built: Promise<{ runner: Buffer; worker: Buffer }> | undefined;

async function build(): Promise<{ runner: Buffer; worker: Buffer }> {
  const folder = newFolder();
  const [runner, worker] = [join(folder, 'runner.js'), join(folder, 'worker.js')];
  try {
    await Promise.all([buildRunner(runner), buildWorker(worker)]);
    return { runner: await readFile(runner), worker: await readFile(worker) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the runner and the worker where Node finds isolated-vm; `remove` deletes both. */
export async function makePrograms(): Promise<{ runner: string; worker: string; remove(): Promise<void> }> {
  const folder = newFolder();
  const runner = join(folder, 'runner.js');
  const worker = join(folder, 'worker.js');
  built ??= build();
  const programs = await built;
  await mkdir(folder, { recursive: true });
  await Promise.all([writeFile(runner, programs.runner), writeFile(worker, programs.worker)]);
  // A Node.js other than the one that installed the dependencies has its isolated-vm elsewhere (scripts/test-node-releases.mjs).
  const elsewhere = process.env.APPS_ISOLATED_VM;
  if (elsewhere) await symlink(elsewhere, join(folder, 'node_modules'));
  return { runner, worker, remove: () => rm(folder, { recursive: true }) };
}

let reuseAfter: number | null = null;

/** Sets after how many sessions the runtimes that are started from now on reuse a context; null: never. */
export function setReuse(after: number | null): void {
  reuseAfter = after;
}

/**
 * A runtime with its own built programs, started with the command if given; `destroy` removes the programs too.
 * @param now the time at which the clock stands still; null: it runs
 */
export async function startRuntime(
  changed: Partial<Limits> = {},
  command: string[] = [],
  now: () => number | null = () => null,
): Promise<LogicRuntime> {
  const programs = await makePrograms();
  const logger = { error: vi.fn() };
  const sandbox = { command };
  const workers = createWorkers({ path: programs.worker, count: 1, memory: 256, sandbox, logger });
  const runtime = createLogicRuntime({
    limits: { ...limits, ...changed },
    sandbox,
    logger,
    reuseAfter,
    now,
    runnerPath: programs.runner,
    workers,
  });
  return {
    ...runtime,
    async destroy() {
      await Promise.all([runtime.destroy(), workers.destroy()]);
      await programs.remove();
    },
  };
}

/** A runtime that is started before the tests of the file that calls this, and destroyed after them. */
export function useRuntime(changed: Partial<Limits> = {}): LogicRuntime {
  const runtime = {} as LogicRuntime;
  beforeAll(async () => {
    Object.assign(runtime, await startRuntime(changed));
  });
  afterAll(() => runtime.destroy?.());
  return runtime;
}

/** Runs the compiler's task in this process, with copies of input and output. */
export const inProcess: Pick<Workers, 'run'> = {
  run: async (_task, input) => structuredClone(compileLogic(structuredClone(input as CompileInput))),
};

/** A program of the given files, or of `blocks/test.js` with the given text. */
export function programOf(source: string | Record<string, string>, path = 'blocks/test.js'): LogicProgram {
  const texts = typeof source === 'string' ? { [path]: source } : source;
  const files = new Map(Object.entries(texts).map(([file, text]) => [file, { path: file, text }]));
  const language = path.endsWith('.py') ? 'python' : path.endsWith('.ts') ? 'typescript' : 'javascript';
  return { revision: JSON.stringify(texts), scope: 'site/theme/app', path, language, files };
}

/** Runs the function `f` of a program; again, like apps/, when another session has ended the runner. */
export async function runOnce(
  runtime: LogicRuntime,
  source: string | LogicProgram,
  options: { host?: LogicHost & { logs?: LogEntry[] }; context?: ContextData; contained?: boolean } = {},
  attempt = firstAttempt,
): Promise<LogicOutcome> {
  const { host = fakeHost(), context = contextOf(), contained = true } = options;
  const program = typeof source === 'string' ? programOf(source) : source;
  try {
    const session = await runtime.open(program, context, host, runtime.budget(attempt));
    try {
      const [outcome] = await session.call([{ name: 'f', contained }]);
      if (!outcome) throw new Error('The session has given no outcome');
      return outcome;
    } finally {
      session.close();
    }
  } catch (error) {
    const next = nextAttempt(error, attempt);
    if (!next) throw error;
    // In the server each attempt has a log of its own.
    host.logs?.splice(0);
    return runOnce(runtime, source, options, next);
  }
}

/** A host whose only record has items that are named like methods, too. */
const hostOfOne = () => fakeHost({ r: { total: 1, tags: ['a'], items: 'own', get: 'mine' } });

/** The value of `f(context)` with the given body and the host's record `r` as the current one, or the name and text of its error. */
export async function runBody(runtime: LogicRuntime, body: string, host = hostOfOne()): Promise<unknown> {
  const record = { id: 'r', url: 'http://x/record/r', items: structuredClone(host.stored.r ?? {}) };
  const context = contextOf({ record });
  const outcome = await runOnce(runtime, `async function f(context) { ${body} }`, { host, context });
  return outcome.ok ? outcome.value : `${outcome.error.name}: ${errorText(outcome.error)}`;
}
