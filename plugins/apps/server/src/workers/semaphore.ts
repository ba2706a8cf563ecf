import { unavailable } from '../common/errors';

/** A semaphore with a queue. */
export interface Semaphore {
  /** Whether no permit is held. */
  readonly idle: boolean;
  /** How many hold a permit, and how many wait for one. */
  readonly load: { held: number; waiting: number };
  /**
   * Resolves to a function that releases the permit. Rejects with the error of `busy` when the queue is full or the timeout
   * is over first, and with the signal's reason when that is aborted first.
   * @param user who is to have no more than a share of the permits  @param timeout milliseconds
   */
  acquire(user: string, timeout: number | undefined, signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` with a permit; rejects as `acquire` does. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Options {
  permits: number;
  /** How many may wait; default: any number. */
  queue?: number;
  /** Milliseconds that a work of `run` may wait; default: any time. */
  timeout?: number;
  /** How many of all permits, or of the queue, one user may have; default: all. */
  share?: (all: number) => number;
  busy?: () => Error;
  /** Called with the milliseconds that one has waited for its permit, or in vain. */
  waited?: (time: number) => void;
}

interface Waiter {
  user: string;
  grant(): void;
}

/** Waiters get a permit in order of arrival, those above their share later. */
export function createSemaphore({
  permits,
  queue = Number.POSITIVE_INFINITY,
  timeout: usual,
  share = (all) => all,
  busy = () => unavailable('The server is busy, try again soon', 1),
  waited = () => {},
}: Options): Semaphore {
  const waiting = new Set<Waiter>();
  const held = new Map<string, number>();
  let free = permits;
  const mayHave = (user: string) => free > 0 && (held.get(user) ?? 0) < share(permits);
  const isFull = (user: string) =>
    waiting.size >= queue || [...waiting].filter((waiter) => waiter.user === user).length >= share(queue);

  function grant(user: string): () => void {
    free -= 1;
    held.set(user, (held.get(user) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      free += 1;
      const others = (held.get(user) ?? 0) - 1;
      if (others > 0) held.set(user, others);
      else held.delete(user);
      for (const waiter of waiting) if (mayHave(waiter.user)) return waiter.grant();
    };
  }

  const acquire: Semaphore['acquire'] = async (user, timeout, signal) => {
    signal?.throwIfAborted();
    if (mayHave(user)) return grant(user);
    if (isFull(user)) throw busy();
    const begun = performance.now();
    return new Promise((resolve, reject) => {
      const leave = () => {
        waited(performance.now() - begun);
        waiting.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const refuse = (error: unknown) => {
        leave();
        reject(error);
      };
      const abort = () => refuse(signal?.reason);
      const waiter: Waiter = {
        user,
        grant() {
          leave();
          resolve(grant(user));
        },
      };
      const timer = timeout === undefined ? undefined : setTimeout(() => refuse(busy()), timeout);
      signal?.addEventListener('abort', abort, { once: true });
      waiting.add(waiter);
    });
  };

  return {
    get idle() {
      return free === permits;
    },
    get load() {
      return { held: permits - free, waiting: waiting.size };
    },
    acquire,
    async run(work, signal) {
      const release = await acquire('', usual, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
