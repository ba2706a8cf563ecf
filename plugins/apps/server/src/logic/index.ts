import type { WireProgram } from '../../../sandbox/src/protocol';
import type { Limits, SandboxConfig } from '../config.types';
import { isAppsError } from '../errors';
import type { Workers } from '../workers';
import { createCompiler, logicError } from './compile';
import { entryOf, messageSize, timeoutError } from './outcome';
import { createProblems, within } from './problems';
import { openSession } from './session';
import type { SessionOptions } from './session-link';
import { createFleet, type Fleet } from './supervisor/fleet';
import { createPauses } from './supervisor/pauses';
import { unavailable } from './supervisor/places';
import type { Runner } from './supervisor/runner-process';
import type { LogicBudget, LogicProgram, LogicRuntime, LogicSession } from './types';

export { hostFunctions } from './host-functions';
export { isLost } from './supervisor/fleet';
export { isPaused } from './supervisor/pauses';
export type * from './types';

export interface LogicRuntimeOptions {
  limits: Limits;
  sandbox: SandboxConfig;
  logger: { error(message: string): void };
  /** Absolute path of the built runner program (`dist/sandbox/runner.js`). */
  runnerPath: string;
  /** Where programs are compiled. */
  workers: Pick<Workers, 'run'>;
}

/** Milliseconds that a request waits for a program to be compiled, others before it included. */
const compilePatience = 10_000;

/** Sessions that one request may have open at once, one inside the other. */
const nesting = 16;

/** How often `open` is tried again when the runner was ended by somebody else's logic: nothing has happened yet. */
const openAttempts = 3;

/**
 * How often a request may be run again after its runner was lost (`isLost`). The last time it has a runner of its own:
 * if that is lost too, there is no doubt whose fault it is.
 */
export const mostLosses = 2;

/**
 * The supervisor of the runner processes (contract, section 8). Nothing is started before the first `open`.
 * A session of a request that has another one open is nested: it never waits for a place, since the outer one waits
 * for it.
 */
export function createLogicRuntime({
  limits,
  sandbox,
  logger,
  runnerPath,
  workers,
}: LogicRuntimeOptions): LogicRuntime {
  const compile = createCompiler(workers);
  const { runners, isolates } = limits;
  const runner = {
    isolates,
    alone: false,
    languages: [],
    memory: limits.logicMemory,
    messageSize: messageSize(limits),
  };
  const fleet = createFleet({
    runners,
    isolates,
    process: { path: runnerPath, runner, config: sandbox },
    report: (message) => logger.error(`apps: ${message}`),
  });
  const pauses = createPauses(runners * isolates);
  const open = new Map<LogicBudget, number>();

  /** A place for a session of this request; the returned function gives it back. */
  async function enter(budget: LogicBudget, program: WireProgram): Promise<() => void> {
    const depth = open.get(budget) ?? 0;
    if (depth >= nesting) throw logicError(`Blocks are nested deeper than ${nesting}`, { file: entryOf(program) });
    open.set(budget, depth + 1);
    try {
      const leave =
        depth === 0 ? await waited(budget, () => fleet.enter(program.key, limits.logicTime)) : () => undefined;
      return () => {
        count(open, budget, -1);
        leave();
      };
    } catch (error) {
      count(open, budget, -1);
      throw error;
    }
  }

  /** At once when it is compiled already. */
  function compiledInTime(budget: LogicBudget, program: LogicProgram): WireProgram | Promise<WireProgram> {
    const begin = performance.now();
    const work = compile(program);
    if (!(work instanceof Promise)) return work;
    // Starting a process is no logic's doing either.
    budget.deadline += performance.now() - begin;
    const busy = unavailable('The logic is still being compiled. Try again soon.');
    return waited(budget, () => within(compilePatience, work, busy));
  }

  const runtime: LogicRuntime = {
    budget: (losses = 0) => ({
      deadline: performance.now() + limits.logicTime,
      hostCalls: 0,
      argumentSize: 0,
      logEntries: 0,
      losses,
    }),
    renew(budget) {
      budget.deadline = performance.now() + limits.logicTime;
      budget.hostCalls = 0;
      budget.argumentSize = 0;
    },
    paused: pauses.list,
    problem: createProblems({ compile, open: (...args) => runtime.open(...args), budget: () => runtime.budget() }),
    async open(program, context, host, budget) {
      pauses.check(program);
      const ready = compiledInTime(budget, program);
      const compiled = ready instanceof Promise ? await ready : ready;
      if (performance.now() >= budget.deadline) throw timeoutError(limits);
      const onEnd = once(await enter(budget, compiled));
      const reportHostError = (name: string, error: unknown) => {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        logger.error(`apps: the host function ${name} failed: ${text}`);
      };
      try {
        const overLimit = (time: number) => pauses.burnt(program, time);
        const options = { program: compiled, context, host, budget, limits, reportHostError, overLimit, onEnd };
        return await openAnywhere(fleet, options);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    destroy: () => fleet.destroy(),
  };
  return runtime;
}

async function openAnywhere(fleet: Fleet, options: Omit<SessionOptions, 'runner'>): Promise<LogicSession> {
  for (let attempt = 1; ; attempt += 1) {
    let opened = false;
    const onEnd = () => {
      if (opened) options.onEnd();
    };
    try {
      const runner = await startedRunner(fleet, options);
      const session = await openSession({ ...options, runner, onEnd });
      opened = true;
      return session;
    } catch (error) {
      const again = isAppsError(error, 'ServiceUnavailableError') && attempt < openAttempts && !options.budget.losses;
      if (!again) throw error;
    }
  }
}

/** A runner that has started. */
async function startedRunner(
  fleet: Fleet,
  { budget, program }: Pick<SessionOptions, 'budget' | 'program'>,
): Promise<Runner> {
  const runner = budget.losses < mostLosses ? fleet.runner(program.language) : fleet.loneRunner();
  await waited(budget, () => runner.ready);
  if (!runner.usable) throw fleet.missing();
  return runner;
}

/** Waiting for others is no logic's doing: the time it takes is added to the budget. */
async function waited<T>(budget: LogicBudget, work: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  try {
    return await work();
  } finally {
    budget.deadline += performance.now() - begin;
  }
}

function count(counts: Map<LogicBudget, number>, budget: LogicBudget, by: number): void {
  const next = (counts.get(budget) ?? 0) + by;
  if (next > 0) counts.set(budget, next);
  else counts.delete(budget);
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
