import { AppsError } from '../../errors';
import { createPlaces, type Places, unavailable } from './places';
import { type Language, type Runner, type RunnerProcessOptions, startRunner } from './runner-process';

/** Milliseconds after the loss of a runner during which one more than usual stands ready. */
const spareTime = 60_000;

/** Milliseconds before another runner is started after one that could not work at all. */
const restartPause = 1000;

export interface Fleet {
  /** A place for one session (`Places`). */
  enter: Places['enter'];
  /** The started runner with the fewest sessions; started if there is none. ServiceUnavailableError when runners cannot work. */
  runner(language: Language): Runner;
  /** A runner for one session alone, killed when that is over. */
  loneRunner(): Runner;
  /** The error where runners cannot work. */
  missing(): AppsError;
  destroy(): Promise<void>;
}

export interface FleetOptions {
  runners: number;
  isolates: number;
  process: Omit<RunnerProcessOptions, 'unavailable' | 'breach'>;
  /** Told when a runner cannot work on this machine, or has sent what no runner sends. */
  report(message: string): void;
}

/** Marks the errors of sessions whose runner has ended through no fault that can be proved to be theirs. */
const lost = Symbol('lost');

export function lostError(): AppsError {
  return new AppsError('ServiceUnavailableError', 'The sandbox has failed. Try again.', {
    headers: { 'Retry-After': '1' },
    cause: lost,
  });
}

/** Whether the request may be run again from its start: the sandbox was ended by somebody else's logic. */
export function isLost(error: unknown): boolean {
  return error instanceof AppsError && error.cause === lost;
}

/** The runner processes, started when needed, and the queue before them. */
export function createFleet({ runners: most, isolates, process: options, report }: FleetOptions): Fleet {
  const runners = new Set<Runner>();
  const places = createPlaces(most * isolates);
  let startAgain = 0;
  let lastLoss = Number.NEGATIVE_INFINITY;
  const languages = new Set<Language>(['javascript']);
  let destroyed = false;
  /** What to do about a sandbox that does not start. */
  let cure: string | undefined;

  const missing = () => unavailable('The sandbox is not available', cure ?? "The server's log says why");

  function start(alone = false): Runner {
    if (destroyed || performance.now() < startAgain) throw missing();
    const runner = startRunner({
      ...options,
      runner: { ...options.runner, ...(alone ? { isolates: 1 } : {}), alone, languages: [...languages] },
      unavailable(message) {
        startAgain = performance.now() + restartPause;
        report(`the sandbox is not available: ${message}`);
        // Text in brackets may name files of the machine.
        cure = message.startsWith('isolated-vm') ? message.replace(/ \(.*/s, '') : undefined;
      },
      breach: (message) => report(`a runner of the sandbox was ended for what it sent: ${message}`),
    });
    runners.add(runner);
    void runner.spent.then(() => alone || refill());
    void runner.ended.then(() => runners.delete(runner));
    return runner;
  }

  const usable = () => [...runners].filter((runner) => runner.usable && !runner.alone);

  /** Makes up for a lost runner at once, and for the next one too: whoever ended it may well come again. */
  function refill(): void {
    lastLoss = performance.now();
    while (!destroyed && performance.now() >= startAgain && usable().length <= most) start();
    setTimeout(thin, spareTime).unref();
  }

  /** Ends the spare runner when none has been lost for a while. */
  function thin(): void {
    if (performance.now() - lastLoss < spareTime - 1000) return;
    for (const runner of usable()
      .filter(({ sessions }) => sessions.size === 0)
      .slice(most))
      runner.kill();
  }

  return {
    enter: places.enter,
    missing,
    loneRunner: () => start(true),
    runner(language) {
      languages.add(language);
      const ranked = usable().sort(
        (a, b) => Number(b.started) - Number(a.started) || a.sessions.size - b.sessions.size,
      );
      const [idlest] = ranked;
      return idlest && (idlest.sessions.size === 0 || ranked.length >= most) ? idlest : start();
    },
    async destroy() {
      destroyed = true;
      for (const runner of runners) runner.kill();
      await Promise.all([...runners].map((runner) => runner.ended));
    },
  };
}
