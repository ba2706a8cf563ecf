import { AppsError } from '../../common/errors';
import type { LogicProgram, PausedLogic } from '../types';

/** Milliseconds over which a program's failures are summed, and for which the breaker stays open. */
const WINDOW = 10_000;
const OPEN_TIME = 30_000;

/** The part of the sandbox's time that one program may waste by exceeding its limits. */
const MAX_WASTED_PART = 1 / 4;

/** A circuit breaker for each program: open (the program is paused) after too many failures, closed again after a time. */
export interface CircuitBreakers {
  /** PausedError while the program's breaker is open. */
  check(program: LogicProgram): void;
  /** Counts `time` milliseconds of the sandbox that the program wasted by exceeding its limits. */
  recordFailure(program: LogicProgram, time: number): void;
  /** The programs whose breaker is open. */
  open(): PausedLogic[];
}

interface Breaker {
  program: LogicProgram;
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
 * @param maxIsolates isolates that may work at the same time
 */
export function createCircuitBreakers(
  maxIsolates: number,
  now: () => number = () => performance.now(),
): CircuitBreakers {
  const breakers = new Map<string, Breaker>();
  const maxWasted = WINDOW * maxIsolates * MAX_WASTED_PART;
  const keyOf = ({ scope, revision, path }: LogicProgram) => `${scope}@${revision}:${path}`;

  function forget(): void {
    for (const [key, { failures, openUntil }] of breakers) {
      const last = failures.at(-1)?.at ?? 0;
      if (openUntil <= now() && last + WINDOW <= now()) breakers.delete(key);
    }
  }

  return {
    check(program) {
      const left = (breakers.get(keyOf(program))?.openUntil ?? 0) - now();
      if (left > 0) throw new PausedError(program.path, Math.ceil(left / 1000));
    },
    recordFailure(program, time) {
      forget();
      const key = keyOf(program);
      const breaker = breakers.get(key) ?? { program, failures: [], openUntil: 0 };
      breakers.set(key, breaker);
      breaker.failures = breaker.failures.filter(({ at }) => at > now() - WINDOW);
      breaker.failures.push({ at: now(), time });
      const wasted = breaker.failures.reduce((sum, failure) => sum + failure.time, 0);
      if (wasted < maxWasted) return;
      breaker.openUntil = now() + OPEN_TIME;
      breaker.failures = [];
    },
    open() {
      const open = [...breakers.values()].filter(({ openUntil }) => openUntil > now());
      return open.map(({ program: { scope, path }, openUntil }) => {
        return { scope, path, seconds: Math.ceil((openUntil - now()) / 1000) };
      });
    },
  };
}
