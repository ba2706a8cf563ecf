import { AppsError } from '../../common/errors';
import { settledOrTimeout } from '../../common/time/coalesce';
import type { Messages } from '../../processes/types';
import type { LogicProgram, PausedLogic } from '../types';

/** Milliseconds over which a program's failures are summed, and for which the breaker stays open. */
const WINDOW = 10_000;
const OPEN_TIME = 30_000;

/** The part of the sandbox's time that one program may waste by exceeding its limits. */
const MAX_WASTED_PART = 1 / 4;

/** Names a program in all processes: the revision follows from the app's files. */
type ProgramName = Pick<LogicProgram, 'scope' | 'revision' | 'path'>;

/** A pause: what other processes receive. */
interface SentPause extends ProgramName {
  /** When it ends, in milliseconds since the epoch. */
  until: number;
}

/**
 * A circuit breaker for each program: open (the program is paused) after too many failures, closed again after a time. Failures are
 * counted by each process, because each has its own isolates; a pause holds in all.
 */
export interface CircuitBreakers {
  /** PausedError while the program's breaker is open. */
  check(program: LogicProgram): void;
  /** Counts `time` milliseconds of the sandbox that the program wasted by exceeding its limits. */
  recordFailure(program: LogicProgram, time: number): void;
  /** The programs whose breaker is open, in whichever process it was opened. */
  open(): Promise<PausedLogic[]>;
}

export interface CircuitBreakerOptions {
  /** Isolates that may work at the same time. */
  maxIsolates: number;
  /** To and from other processes; null: there are none. */
  messages: Pick<Messages, 'write' | 'subscribe' | 'listen'> | null;
  /** Called when a pause cannot be sent to the other processes. */
  report(error: unknown): void;
  now?: () => number;
}

interface Breaker {
  program: ProgramName;
  failures: { at: number; time: number }[];
  openUntil: number;
}

/** A paused program. It is a LogicError to logic and in a page; the answer to a whole request is 503. */
export class PausedError extends AppsError {
  constructor(path: string, seconds: number) {
    super('LogicError', `Paused for ${seconds} s, because it went over its limits again and again`, {
      position: { file: path },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

/**
 * Keeps one bad block from occupying the whole sandbox: pauses a program whose failing runs took a quarter of the time of
 * all isolates within the window.
 */
export function createCircuitBreakers({
  maxIsolates,
  messages,
  report,
  now = () => performance.now(),
}: CircuitBreakerOptions): CircuitBreakers {
  const breakers = new Map<string, Breaker>();
  const maxWasted = WINDOW * maxIsolates * MAX_WASTED_PART;
  const keyOf = ({ scope, revision, path }: ProgramName) => `${scope}@${revision}:${path}`;

  function forget(): void {
    for (const [key, { failures, openUntil }] of breakers) {
      const last = failures.at(-1)?.at ?? 0;
      if (openUntil <= now() && last + WINDOW <= now()) breakers.delete(key);
    }
  }

  function breakerOf(program: ProgramName): Breaker {
    forget();
    const key = keyOf(program);
    const breaker = breakers.get(key) ?? { program, failures: [], openUntil: 0 };
    breakers.set(key, breaker);
    return breaker;
  }

  function pause(program: ProgramName, time: number): void {
    const breaker = breakerOf(program);
    breaker.openUntil = Math.max(breaker.openUntil, now() + time);
    breaker.failures = [];
  }

  function tell({ scope, revision, path }: ProgramName): void {
    const pauses: SentPause[] = [{ scope, revision, path, until: Date.now() + OPEN_TIME }];
    // An earlier version of the plugin takes each message for one about records.
    messages?.write({ at: Date.now(), tokens: [], said: { apps: {}, pauses } }).catch(report);
  }

  messages?.subscribe({
    receive({ said }) {
      for (const { until, ...program } of (said?.pauses ?? []) as SentPause[]) {
        // The clocks of two processes differ by up to a second.
        const left = Math.min(OPEN_TIME, until - Date.now());
        if (left > 0) pause(program, left);
      }
    },
  });

  /** Hears of the pauses of others from now on, as long as logic runs in this process. */
  function listen(): Promise<void> {
    if (!messages) return Promise.resolve();
    const { ready, stop } = messages.listen();
    stop();
    return ready;
  }

  return {
    check(program) {
      void listen();
      const left = (breakers.get(keyOf(program))?.openUntil ?? 0) - now();
      if (left > 0) throw new PausedError(program.path, Math.ceil(left / 1000));
    },
    recordFailure(program, time) {
      const breaker = breakerOf(program);
      breaker.failures = breaker.failures.filter(({ at }) => at > now() - WINDOW);
      breaker.failures.push({ at: now(), time });
      const wasted = breaker.failures.reduce((sum, failure) => sum + failure.time, 0);
      if (wasted < maxWasted) return;
      pause(program, OPEN_TIME);
      tell(program);
    },
    async open() {
      await settledOrTimeout(listen());
      const opened = [...breakers.values()].filter(({ openUntil }) => openUntil > now());
      return opened.map(({ program: { scope, path }, openUntil }) => {
        return { scope, path, seconds: Math.ceil((openUntil - now()) / 1000) };
      });
    },
  };
}
