import { AppsError } from '../../common/errors';
import type { Limits } from '../../config.types';
import { createSemaphore, type Semaphore } from '../../workers';
import type { SharedBudget } from '../types';

/** Milliseconds that are left for the logic of a request; they stay the same while it waits. */
export function remainingTime({ deadline, waiting }: SharedBudget): number {
  return deadline - (waiting.count > 0 ? waiting.since : performance.now());
}

/**
 * Runs work for which a request waits: its time does not count for its logic. The runner stops the time of the request's sessions
 * that are in a host call, that of outer blocks included; a session that runs beside them has no more time than before.
 */
export async function waited<T>(shared: SharedBudget, work: () => Promise<T>): Promise<T> {
  const { waiting, inCall } = shared;
  if (waiting.count === 0) waiting.since = performance.now();
  waiting.count += 1;
  for (const session of inCall) session.pause();
  try {
    return await work();
  } finally {
    waiting.count -= 1;
    // Others of the request may go on waiting: they add the rest.
    const now = performance.now();
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
