import { unavailable } from '../../common/errors';

/** A semaphore with a bounded queue. */
export interface Semaphore {
  /** Whether no work runs. */
  readonly idle: boolean;
  /**
   * Runs `work` when a slot is free. Rejects with ServiceUnavailableError when the queue is full or the timeout is over
   * first, and with the signal's reason when that is aborted first.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const busy = () => unavailable('The server is busy with other searches, try again soon', 2);

/** @param slots works that run at once  @param queue works that may wait  @param timeout milliseconds that a work may wait */
export function createSemaphore({
  slots,
  queue,
  timeout,
}: {
  slots: number;
  queue: number;
  timeout: number;
}): Semaphore {
  const waiting = new Set<() => void>();
  let running = 0;

  const free = () => {
    running -= 1;
    const [next] = waiting;
    next?.();
  };

  const enter = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (running < slots) {
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
      }, timeout);
      signal?.addEventListener('abort', abort, { once: true });
      waiting.add(begin);
    });

  return {
    get idle() {
      return running === 0;
    },
    async run(work, signal) {
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
