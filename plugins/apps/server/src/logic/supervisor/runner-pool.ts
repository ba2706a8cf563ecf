import type { SetupProblem } from '../../../../shared/admin-api';
import { AppsError, unavailable } from '../../common/errors';
import { createSemaphore, type Semaphore } from '../../workers';
import type { Language, Runner, RunnerProcessOptions } from './runner';
import { startRunner } from './runner-process';

/** Milliseconds after the loss of a runner during which a spare one is ready. */
const spareTime = 60_000;

/** Milliseconds before another runner is started after one that could not work. */
const restartPause = 1000;

/** Sessions that may wait for a permit, for each permit. */
const MAX_QUEUE_FACTOR = 32;

/** What one program may have of the permits, or of the queue, even if its sessions never end: a quarter is for others. */
const share = (all: number) => Math.max(1, all - Math.floor(all / 4));

export interface RunnerPool {
  /** A permit for one session of a program, running or idle. ServiceUnavailableError when too many wait, or for too long. */
  acquire: Semaphore['acquire'];
  /** Sessions that have a permit, and those that wait for one. */
  load(): Semaphore['load'];
  /** The runner with the fewest sessions, started if necessary. ServiceUnavailableError when runners cannot work. */
  runner(language: Language): Runner;
  /** A runner for a single session, killed after it. */
  loneRunner(): Runner;
  /** Why runners cannot work on this machine, with the cure; null when they can. Starts one if none has started. */
  setup(): Promise<SetupProblem | null>;
  /** The error where runners cannot work. */
  missing(): AppsError;
  destroy(): Promise<void>;
}

export interface RunnerPoolOptions {
  runners: number;
  isolates: number;
  process: Omit<RunnerProcessOptions, 'unavailable' | 'misbehaved'>;
  /** Called when a runner cannot work on this machine, or has sent an invalid message. */
  report(message: string): void;
  /** Called with the milliseconds that a session has waited for its permit. */
  waited?: ((time: number) => void) | undefined;
}

/** Cause of the errors of sessions whose runner has ended, or was too full, when it is not proved that they caused it. */
class Lost {
  constructor(
    /** Milliseconds for which the session that is suspected has run; null for any other. */
    readonly suspected: number | null,
    /** Whether a runner was lost; else the request runs again for another reason, without a fault. */
    readonly isLoss = true,
  ) {}
}

/**
 * The 503 of a session whose runner has ended without a proof that it is the cause.
 * @param suspected milliseconds for which it has run, if it is the one that has probably filled the runner's memory
 */
export function lostError(suspected: number | null = null): AppsError {
  return unavailable('The sandbox has failed. Try again.', 1, { cause: new Lost(suspected) });
}

/**
 * How often a request may run again after its runner was lost. The last time it is alone in a runner: if that is lost too, the
 * request is the cause.
 */
export const MAX_LOSSES = 2;

/** One run of a request's logic. */
export interface RunnerAttempt {
  /** Runners lost before; with `MAX_LOSSES` it is alone in a runner. */
  losses: number;
  /** Milliseconds of its time that an earlier attempt has used. */
  spent: number;
  /** Times that it has run again without a loss. */
  again?: number;
}

export const firstAttempt: RunnerAttempt = { losses: 0, spent: 0 };

/**
 * The error of a session that runs again without a loss: with a context of its own, and its runner gives its program no other for a
 * while; or because this process was stopped, while the runner's clock ran.
 */
export function againError(): AppsError {
  return unavailable('The sandbox has failed. Try again.', 1, { cause: new Lost(null, false) });
}

/** Times that a request runs again without a loss: for each of its programs, which needs it once, and for stops of the process. */
const MAX_AGAIN = 16;

/**
 * The attempt in which a request runs again from its start after an error; null when it may not. One that has probably
 * filled its runner is alone the next time, and has only the rest of its time: it would take it from others again.
 */
export function nextAttempt(error: unknown, { losses, again = 0 }: RunnerAttempt): RunnerAttempt | null {
  const cause = error instanceof AppsError ? error.cause : undefined;
  if (!(cause instanceof Lost)) return null;
  if (!cause.isLoss) return again < MAX_AGAIN ? { losses, spent: 0, again: again + 1 } : null;
  if (losses >= MAX_LOSSES) return null;
  return cause.suspected === null ? { losses: losses + 1, spent: 0 } : { losses: MAX_LOSSES, spent: cause.suspected };
}

/** More sessions wait than may: no fault of the program whose session is refused. */
export class SandboxBusy extends AppsError {
  constructor() {
    super('ServiceUnavailableError', 'The sandbox is busy. Try again soon.', { headers: { 'Retry-After': '1' } });
  }
}

/** The runner processes, started when needed, and the queue for them. */
export function createRunnerPool({
  runners: maxRunners,
  isolates,
  process: options,
  report,
  waited = () => {},
}: RunnerPoolOptions): RunnerPool {
  const runners = new Set<Runner>();
  /** Spare runners that are ended because none has been lost for a while. */
  const surplus = new WeakSet<Runner>();
  const permits = maxRunners * isolates;
  const busy = () => new SandboxBusy();
  const semaphore = createSemaphore({ permits, queue: permits * MAX_QUEUE_FACTOR, share, busy, waited });
  let startAgain = 0;
  let lastLoss = Number.NEGATIVE_INFINITY;
  const languages = new Set<Language>(['javascript']);
  let destroyed = false;
  /** How to repair a sandbox that does not start. */
  let remedy: string | undefined;
  /** The last reported reason for which runners cannot work: it is reported once, not at each request. */
  let lastReason = '';

  function reportUnavailable(message: string): void {
    if (message !== lastReason) report(`the sandbox is not available: ${message}`);
    lastReason = message;
    // Text in brackets may contain paths of the machine.
    remedy = message.startsWith('isolated-vm') ? message.replace(/ \(.*/s, '') : undefined;
  }

  const missing = () =>
    unavailable('The sandbox is not available', 1, { reason: remedy ?? "The server's log says why" });

  function start(alone = false): Runner {
    if (destroyed || performance.now() < startAgain) throw missing();
    const runner = startRunner({
      ...options,
      runner: { ...options.runner, ...(alone ? { isolates: 1 } : {}), alone, languages: [...languages] },
      unavailable(message) {
        startAgain = performance.now() + restartPause;
        reportUnavailable(message);
      },
      misbehaved: (why) => report(`a runner of the sandbox was ended ${why}`),
    });
    runners.add(runner);
    void runner.spent.then(() => alone || surplus.has(runner) || refill());
    void runner.ended.then(() => runners.delete(runner));
    void runner.ready.then(() => {
      if (runner.started) lastReason = '';
    });
    return runner;
  }

  const usable = () => [...runners].filter((runner) => runner.usable && !runner.alone);

  /** Replaces a lost runner at once, and starts a spare one: the logic that ended it will probably run again. */
  function refill(): void {
    lastLoss = performance.now();
    while (!destroyed && performance.now() >= startAgain && usable().length <= maxRunners) start();
    setTimeout(endSpare, spareTime).unref();
  }

  /** Ends the spare runner when none has been lost for a while. */
  function endSpare(): void {
    if (performance.now() - lastLoss < spareTime - 1000) return;
    for (const runner of usable()
      .filter(({ sessions }) => sessions.size === 0)
      .slice(maxRunners)) {
      surplus.add(runner);
      runner.kill();
    }
  }

  return {
    acquire: semaphore.acquire,
    load: () => semaphore.load,
    missing,
    loneRunner: () => start(true),
    async setup() {
      if (destroyed) return null;
      const known = usable()[0];
      if (!known && performance.now() < startAgain) return setupProblem(remedy);
      const runner = known ?? start();
      await runner.ready;
      return runner.started || destroyed ? null : setupProblem(remedy);
    },
    runner(language) {
      languages.add(language);
      const ranked = usable().sort(
        (a, b) => Number(b.started) - Number(a.started) || a.sessions.size - b.sessions.size,
      );
      const [idlest] = ranked;
      return idlest && (idlest.sessions.size === 0 || ranked.length >= maxRunners) ? idlest : start();
    },
    async destroy() {
      destroyed = true;
      for (const runner of runners) runner.kill();
      await Promise.all([...runners].map((runner) => runner.ended));
    },
  };
}

/** @param remedy the error of isolated-vm, which names the command in quotes; undefined for any other */
function setupProblem(remedy: string | undefined): SetupProblem {
  return {
    message: `Logic cannot run: ${remedy ?? "the sandbox does not start, and the server's log says why"}`,
    cure: /run "([^"]+)"/.exec(remedy ?? '')?.[1] ?? null,
  };
}
