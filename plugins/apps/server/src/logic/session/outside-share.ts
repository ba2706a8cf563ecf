import { AppsError } from '../../common/errors';
import type { Limits } from '../../config.types';
import { createSemaphore, type Semaphore } from '../../workers';

/**
 * Who may call out of the server at once. Logic that waits for an answer keeps its isolate, so that slow hosts could take all of them:
 * calls have half of the isolates, those that wait for their turn a quarter, and one app has two thirds of each
 * (docs/limits.md#calls-out).
 */
export function createOutsideShare({ runners, isolates }: Pick<Limits, 'runners' | 'isolates'>): Semaphore {
  const all = runners * isolates;
  return createSemaphore({
    permits: Math.max(1, Math.floor(all / 2)),
    queue: Math.max(1, Math.floor(all / 4)),
    share: (part) => Math.ceil((part * 2) / 3),
    busy: () =>
      new AppsError('RateLimitError', 'Too many calls out are running at once. Try again soon', {
        headers: { 'Retry-After': '1' },
      }),
  });
}
