import type { WireProgram } from '../../../shared/logic-protocol';
import { isAppsError, logicError, unavailable } from '../common/errors';
import { packageManagerOf } from '../common/package-manager';
import { OwnValue } from '../common/request-objects';
import { within } from '../common/time/pace';
import { processClock } from '../common/time/process-clock';
import type { Limits, SandboxConfig } from '../config.types';
import type { Messages } from '../processes/types';
import type { Workers } from '../workers';
import { checkProgram } from './check';
import { createCompiler } from './compile';
import { createProblems } from './problems';
import { HostPace, newUse } from './session/host-answers';
import { entryOf, messageSize, timeoutError } from './session/outcome';
import { openSession } from './session/session';
import { createOutsideShare, waited } from './session/session-limits';
import type { SessionOptions } from './session/session-link';
import { createCircuitBreakers } from './supervisor/circuit-breaker';
import type { Runner } from './supervisor/runner';
import { createRunnerPool, firstAttempt, MAX_LOSSES, type RunnerPool } from './supervisor/runner-pool';
import type { LogicBudget, LogicProgram, LogicRuntime, LogicSession, SharedBudget } from './types';

export { default as contextMembers } from '../../../shared/context-members.json';
export { hostFunctions, JsonText } from './host-functions/table';
export { emptyContext, noHost } from './problems';
export { isFaultOfLogic } from './session/outcome';
export { remainingTime } from './session/session-limits';
export { PausedError } from './supervisor/circuit-breaker';
export { firstAttempt, nextAttempt } from './supervisor/runner-pool';
export type * from './types';

export interface LogicRuntimeOptions {
  limits: Limits;
  sandbox: SandboxConfig;
  logger: { error(message: string): void };
  /** Absolute path of the built runner program (`dist/sandbox/runner.js`). */
  runnerPath: string;
  /** They compile programs. */
  workers: Pick<Workers, 'run'>;
  /** Sessions of a program after which further ones share a context, in an isolate; null, as without it: each has its own. */
  reuseAfter?: number | null;
  /** The time at which the clock of all logic stands still, in milliseconds since 1970; null: it runs. */
  now?: () => number | null;
  /** Between this process and the others, for pauses; null, as without it: there are no others. */
  messages?: Messages | null;
  /** Called with the milliseconds that a session, or a call out, has waited for its turn. */
  waited?: (what: 'sandbox' | 'calls_out', time: number) => void;
}

/** Milliseconds that a request waits for the compilation of its program, including others in the queue. */
const COMPILE_TIMEOUT = 10_000;

/** How much longer than its time a request may take by the clock, when others use the processors: as a multiple of it. */
const MAX_DELAY_FACTOR = 2;

/** Nested sessions that one request may have open. */
const MAX_NESTING = 16;

/** Attempts of `open` when another session's logic ends the runner: the session has had no effect yet. */
const MAX_OPEN_ATTEMPTS = 3;

/** Part of its time that a request has in any case when it runs again. */
const MIN_PART = 4;

/**
 * The supervisor of the runner processes (docs/reference/logic.md#limits-and-isolation). The first `open` starts the first
 * process. A session of a request that has another one open is nested: it never waits for a permit, since the outer one
 * waits for it.
 */
export function createLogicRuntime({
  limits,
  sandbox,
  logger,
  runnerPath,
  workers,
  reuseAfter = null,
  now,
  messages = null,
  waited: noteWait = () => {},
}: LogicRuntimeOptions): LogicRuntime {
  const compile = createCompiler(workers);
  const { runners, isolates } = limits;
  const runner = {
    isolates,
    alone: false,
    reuseAfter,
    languages: [],
    memory: limits.logicMemory,
    messageSize: messageSize(limits),
    packageManager: packageManagerOf(process.cwd()),
  };
  const pool = createRunnerPool({
    runners,
    isolates,
    process: { path: runnerPath, runner, config: sandbox },
    report: (message) => logger.error(`apps: ${message}`),
    waited: (time) => noteWait('sandbox', time),
  });
  const breakers = createCircuitBreakers({
    maxIsolates: runners * isolates,
    messages,
    report: (error) => logger.error(`apps: a pause was not sent to the other processes: ${(error as Error).message}`),
  });
  const pace = new HostPace();
  const outside = createOutsideShare(limits, (time) => noteWait('calls_out', time));
  const open = new OwnValue<LogicBudget, number>('open sessions');

  /** Acquires a permit for a session of this request; the returned function releases it. */
  async function acquire(budget: LogicBudget, program: WireProgram): Promise<() => void> {
    const depth = open.get(budget) ?? 0;
    if (depth >= MAX_NESTING)
      throw logicError(`Blocks are nested deeper than ${MAX_NESTING}`, { file: entryOf(program) });
    open.set(budget, depth + 1);
    try {
      const release =
        depth === 0 ? await waited(budget.shared, () => pool.acquire(program.key, limits.logicTime)) : () => undefined;
      return () => {
        open.set(budget, (open.get(budget) ?? 1) - 1);
        release();
      };
    } catch (error) {
      open.set(budget, (open.get(budget) ?? 1) - 1);
      throw error;
    }
  }

  /** Synchronous for a compiled program. */
  function compiledInTime(budget: LogicBudget, program: LogicProgram): WireProgram | Promise<WireProgram> {
    const begin = processClock.now();
    const work = compile(program);
    if (!(work instanceof Promise)) return work;
    // The start of a process does not count either.
    budget.shared.deadline += processClock.now() - begin;
    return waited(budget.shared, async () => {
      const done = await within(work, COMPILE_TIMEOUT);
      if (done === 'late') throw unavailable('The logic is still being compiled. Try again soon.', 1);
      return done.value;
    });
  }

  const runtime: LogicRuntime = {
    budget: ({ losses, spent } = firstAttempt) => ({ losses, shared: newBudget(limits, spent) }),
    beside: ({ shared }, { losses } = firstAttempt) => ({ losses, shared }),
    renew({ shared }) {
      shared.deadline = processClock.now() + limits.logicTime;
      shared.delays = limits.logicTime * MAX_DELAY_FACTOR;
      shared.earlierCalls += shared.hostCalls;
      shared.hostCalls = 0;
      shared.argumentSize = 0;
      shared.host.time = 0;
    },
    outside: ({ shared }, app, timeout, work) =>
      pace.away(shared, () =>
        waited(shared, async () => {
          const release = await outside.acquire(app, timeout);
          try {
            return await work();
          } finally {
            release();
          }
        }),
      ),
    setup: pool.setup,
    load: pool.load,
    paused: breakers.open,
    problem: createProblems({ compile, open: (...args) => runtime.open(...args), budget: () => runtime.budget() }),
    async open(program, context, host, budget) {
      breakers.check(program);
      const ready = compiledInTime(budget, program);
      const compiled = ready instanceof Promise ? await ready : ready;
      if (processClock.now() >= budget.shared.deadline) throw timeoutError(limits);
      const onEnd = once(await acquire(budget, compiled));
      const reportHostError = (name: string, error: unknown) => {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        logger.error(`apps: the host function ${name} failed: ${text}`);
      };
      try {
        const overLimit = (time: number) => breakers.recordFailure(program, time);
        const options = {
          program: compiled,
          context,
          host,
          pace,
          budget,
          limits,
          now,
          reportHostError,
          overLimit,
          onEnd,
        };
        return await openAnywhere(pool, options);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    uses: (program, functions) => checkProgram(workers, program, functions),
    destroy: () => pool.destroy(),
  };
  return runtime;
}

async function openAnywhere(pool: RunnerPool, options: Omit<SessionOptions, 'runner'>): Promise<LogicSession> {
  for (let attempt = 1; ; attempt += 1) {
    let opened = false;
    let ended = false;
    const onEnd = () => {
      ended = true;
      if (opened) options.onEnd();
    };
    try {
      const runner = await startedRunner(pool, options);
      const session = await openSession({ runner, ...options, onEnd });
      opened = true;
      // Its runner may have ended it in the same message as it opened it.
      if (ended) options.onEnd();
      return session;
    } catch (error) {
      const again =
        isAppsError(error, 'ServiceUnavailableError') && attempt < MAX_OPEN_ATTEMPTS && !options.budget.losses;
      if (!again) throw error;
    }
  }
}

/** A runner that has started. */
async function startedRunner(
  pool: RunnerPool,
  { budget, program }: Pick<SessionOptions, 'budget' | 'program'>,
): Promise<Runner> {
  const runner = budget.losses < MAX_LOSSES ? pool.runner(program.language) : pool.loneRunner();
  await waited(budget.shared, () => runner.ready);
  if (!runner.usable) throw pool.missing();
  return runner;
}

/** The budget of a request that begins now, or again after it has spent some of its time. */
const newBudget = ({ logicTime }: LogicRuntimeOptions['limits'], spent: number): SharedBudget => ({
  deadline: processClock.now() + Math.max(logicTime - spent, logicTime / MIN_PART),
  delays: logicTime * MAX_DELAY_FACTOR,
  hostCalls: 0,
  earlierCalls: 0,
  memory: 0,
  argumentSize: 0,
  logEntries: 0,
  host: newUse(),
  changesContent: false,
  waiting: { count: 0, since: 0 },
  inCall: new Set(),
  outside: { calls: 0, time: 0 },
});

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
