import { AppsError } from '../errors';

/** Lets few works run at once; the others wait. */
export interface Gate {
  /** Whether nothing runs. */
  readonly idle: boolean;
  /**
   * Runs `work` when a place is free. Rejects with ServiceUnavailableError when too many wait already, or `patience` is over
   * first; with the signal's reason when that is aborted first.
   */
  pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

function busy(): AppsError {
  return new AppsError('ServiceUnavailableError', 'The server is busy with other searches, try again soon', {
    headers: { 'Retry-After': '2' },
  });
}

/** @param places works at once  @param queue works that may wait  @param patience milliseconds that each waits at most */
export function createGate({ places, queue, patience }: { places: number; queue: number; patience: number }): Gate {
  const waiting = new Set<() => void>();
  let running = 0;

  const free = () => {
    running -= 1;
    const [next] = waiting;
    next?.();
  };

  const enter = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (running < places) {
        running += 1;
        return resolve();
      }
      if (waiting.size >= queue) return reject(busy());
      const leave = () => {
        waiting.delete(begin);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const begin = () => {
        leave();
        running += 1;
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        leave();
        reject(busy());
      }, patience);
      signal?.addEventListener('abort', abort, { once: true });
      waiting.add(begin);
    });

  return {
    get idle() {
      return running === 0;
    },
    async pass(work, signal) {
      signal?.throwIfAborted();
      await enter(signal);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
}
