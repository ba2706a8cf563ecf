import { AppsError, isAppsError } from '../../errors';
import { logicError } from '../compile';
import type { LogicProgram, PausedLogic } from '../types';

/** Milliseconds over which a program's failures are added up, and for which it is paused. */
const spans = { watched: 10_000, paused: 30_000 };

/** The part of the sandbox's time that one program may burn by going over its limits, before it is paused. */
const mostPart = 1 / 4;

export interface Pauses {
  /** Throws while the program is paused. */
  check(program: LogicProgram): void;
  /** Counts `time` milliseconds of the sandbox that the program wasted by going over its limits. */
  burnt(program: LogicProgram, time: number): void;
  list(): PausedLogic[];
}

interface Failures {
  program: LogicProgram;
  times: { at: number; time: number }[];
  until: number;
}

/**
 * Keeps one bad block from taking the whole sandbox: a program whose failing runs took a quarter of what all isolates
 * could do lately, is not run for a while. `places`: isolates that may be at work at once.
 */
export function createPauses(places: number, now: () => number = () => performance.now()): Pauses {
  const failing = new Map<string, Failures>();
  const most = spans.watched * places * mostPart;
  const keyOf = ({ scope, revision, path }: LogicProgram) => `${scope}@${revision}:${path}`;

  function forget(): void {
    for (const [key, { times, until }] of failing) {
      const last = times.at(-1)?.at ?? 0;
      if (until <= now() && last + spans.watched <= now()) failing.delete(key);
    }
  }

  return {
    check(program) {
      const left = (failing.get(keyOf(program))?.until ?? 0) - now();
      if (left <= 0) return;
      const seconds = Math.ceil(left / 1000);
      const { message, position } = logicError(
        `Paused for ${seconds} s, because it went over its limits again and again`,
        { file: program.path },
      );
      throw new AppsError('LogicError', message, { position, headers: { 'Retry-After': String(seconds) } });
    },
    burnt(program, time) {
      forget();
      const key = keyOf(program);
      const failures = failing.get(key) ?? { program, times: [], until: 0 };
      failing.set(key, failures);
      failures.times = failures.times.filter(({ at }) => at > now() - spans.watched);
      failures.times.push({ at: now(), time });
      const total = failures.times.reduce((sum, one) => sum + one.time, 0);
      if (total < most) return;
      failures.until = now() + spans.paused;
      failures.times = [];
    },
    list() {
      const paused = [...failing.values()].filter(({ until }) => until > now());
      return paused.map(({ program: { scope, path }, until }) => {
        return { scope, path, seconds: Math.ceil((until - now()) / 1000) };
      });
    },
  };
}

/** Whether the error says that a program is paused. */
export function isPaused(error: unknown): error is AppsError {
  return isAppsError(error, 'LogicError') && 'Retry-After' in error.headers;
}
