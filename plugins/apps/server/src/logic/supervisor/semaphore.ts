import { unavailable } from '../../common/errors';

/** Sessions that may wait for a permit, for each permit. */
const MAX_QUEUE_FACTOR = 32;

/** The part of the permits, and of the queue, that is reserved for other programs. */
const RESERVED_PART = 1 / 4;

/** A fair semaphore: each session, running or idle, holds one permit. */
export interface Semaphore {
  /**
   * Resolves to a function that releases the permit. A program whose sessions never end gets most permits, but not the
   * reserved ones. ServiceUnavailableError when the queue is full, or after `timeout` milliseconds.
   * @param program its key
   */
  acquire(program: string, timeout: number): Promise<() => void>;
}

interface Waiter {
  program: string;
  grant(): void;
}

const busy = () => unavailable('The sandbox is busy. Try again soon.', 1);

/** A semaphore with `maxPermits` permits; waiting sessions get one in order, as far as their program's share allows. */
export function createSemaphore(maxPermits: number): Semaphore {
  const queue = new Set<Waiter>();
  const held = new Map<string, number>();
  let free = maxPermits;
  const share = (all: number) => Math.max(1, all - Math.floor(all * RESERVED_PART));
  const mayHave = (program: string) => free > 0 && (held.get(program) ?? 0) < share(maxPermits);

  function grant(program: string): () => void {
    free -= 1;
    held.set(program, (held.get(program) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      free += 1;
      const others = (held.get(program) ?? 0) - 1;
      if (others > 0) held.set(program, others);
      else held.delete(program);
      for (const waiter of queue) if (mayHave(waiter.program)) return waiter.grant();
    };
  }

  function isFull(program: string): boolean {
    const maxWaiters = maxPermits * MAX_QUEUE_FACTOR;
    if (queue.size >= maxWaiters) return true;
    return [...queue].filter((waiter) => waiter.program === program).length >= share(maxWaiters);
  }

  return {
    acquire(program, timeout) {
      if (mayHave(program)) return Promise.resolve(grant(program));
      if (isFull(program)) return Promise.reject(busy());
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(waiter);
          reject(busy());
        }, timeout);
        const waiter: Waiter = {
          program,
          grant() {
            clearTimeout(timer);
            queue.delete(waiter);
            resolve(grant(program));
          },
        };
        queue.add(waiter);
      });
    },
  };
}
