import type { FailureReason } from '../../../../shared/logic-protocol';
import { AppsError, logicError } from '../../common/errors';
import { processClock } from '../../common/time/process-clock';
import type { Limits } from '../../config.types';
import { createSemaphore, type Semaphore } from '../../workers';
import type { Fault } from '../supervisor/runner';
import { againError, lostError } from '../supervisor/runner-pool';
import type { SharedBudget } from '../types';
import type { HostAnswersOptions } from './host-answers';
import {
  brokenError,
  entryOf,
  memoryError,
  rejectedError,
  sizeError,
  type TimeoutState,
  timeoutError,
} from './outcome';

/**
 * Milliseconds after the deadline: for the stack of late logic to arrive, after which the request is answered without it and a
 * forgotten session is closed; and after which a runner that has still not ended the session is stuck, and is killed.
 */
const STACK_GRACE = 120;
const KILL_GRACE = 180;

interface SessionDeadlineEvents {
  /** Milliseconds until the deadline, which may have moved since the last call. */
  remaining(): number;
  /** The runner has not reported the end of the session's time. Returns whether the runner still has to end the session. */
  overdue(): boolean;
  /** The runner has not ended the overdue session either. */
  stuck(): void;
}

/** Watches the deadline of a session from its beginning, until it is stopped. */
export class SessionDeadline {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly events: SessionDeadlineEvents) {
    this.wait();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      // The deadline may have moved.
      if (this.events.remaining() > 0) this.wait();
      else this.afterMessages(() => this.overdue());
    }, Math.max(0, this.events.remaining()) + STACK_GRACE);
  }

  private overdue(): void {
    if (!this.events.overdue()) return;
    this.timer = setTimeout(() => this.afterMessages(() => this.events.stuck()), KILL_GRACE - STACK_GRACE);
  }

  /** If this process was busy, an unread answer may be waiting: it is read first. */
  private afterMessages(work: () => void): void {
    setImmediate(() => {
      if (!this.isStopped) work();
    });
  }
}

/** The errors that end a session, by the message or the end of its runner. */

type Session = Pick<HostAnswersOptions, 'program' | 'limits' | 'context'>;

/** The session's time is over. */
export function lateError(
  { limits, program, context }: Session,
  position: Pick<TimeoutState, 'functions' | 'stack' | 'hostCall'>,
): AppsError {
  return timeoutError(limits, { program, block: context.block?.id ?? null, ...position });
}

/** The runner reports a failure other than time; the session has run for `time` ms. */
export function failureError(
  { program, limits }: Session,
  reason: Exclude<FailureReason, 'time'>,
  message: string,
  time: number,
): AppsError {
  if (reason === 'crowded') return lostError(time);
  if (reason === 'again') return againError();
  if (reason === 'memory') return memoryError(program, limits);
  if (reason === 'size') return sizeError(program, limits);
  return reason === 'program' ? logicError(message, { file: entryOf(program) }) : rejectedError(message, program);
}

/** The runner has ended. */
export function faultError({ program, limits }: Session, fault: Fault): AppsError {
  if (fault === 'breach') return brokenError(program);
  return fault ? memoryError(program, limits) : lostError();
}

/** Milliseconds that are left for the logic of a request; they stay the same while it waits. */
export function remainingTime({ deadline, waiting }: SharedBudget): number {
  return deadline - (waiting.count > 0 ? waiting.since : processClock.now());
}

/**
 * Runs work for which a request waits: its time does not count for its logic. The runner stops the time of the request's sessions
 * that are in a host call, that of outer blocks included, until the call is answered or the request no longer waits; a session that
 * runs beside them has no more time than before.
 */
export async function waited<T>(shared: SharedBudget, work: () => Promise<T>): Promise<T> {
  const { waiting, inCall } = shared;
  if (waiting.count === 0) waiting.since = processClock.now();
  waiting.count += 1;
  for (const session of inCall) session.pause();
  try {
    return await work();
  } finally {
    waiting.count -= 1;
    // Others of the request may go on waiting: they add the rest.
    const now = processClock.now();
    shared.deadline += now - waiting.since;
    waiting.since = now;
    if (waiting.count === 0) for (const session of inCall) session.resume();
  }
}

/**
 * Who may call out of the server at once. Logic that waits for an answer keeps its isolate, so that slow hosts could take all of them:
 * calls have half of the isolates, those that wait for their turn a quarter, and one app has two thirds of each
 * (docs/limits.md#calls-out).
 */
export function createOutsideShare(
  { runners, isolates }: Pick<Limits, 'runners' | 'isolates'>,
  waited: (time: number) => void,
): Semaphore {
  const all = runners * isolates;
  return createSemaphore({
    permits: Math.max(1, Math.floor(all / 2)),
    queue: Math.max(1, Math.floor(all / 4)),
    share: (part) => Math.ceil((part * 2) / 3),
    waited,
    busy: () =>
      new AppsError('RateLimitError', 'Too many calls out are running at once. Try again soon', {
        headers: { 'Retry-After': '1' },
      }),
  });
}
