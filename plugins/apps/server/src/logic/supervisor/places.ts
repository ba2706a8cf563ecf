import { AppsError } from '../../errors';

/** Requests that may wait for a place, for each place there is. */
const queueFactor = 32;

/** The part of the places, and of the queue, that no program gets of what there is: it is for the others. */
const keptPart = 1 / 4;

export interface Places {
  /**
   * A place for one session, at rest or at work; the returned function gives it back. Resolves when one is free: a program
   * whose sessions never end takes most places, but not those that are kept for others.
   * ServiceUnavailableError when too many wait, or after `patience` milliseconds.
   * @param program its key
   */
  enter(program: string, patience: number): Promise<() => void>;
}

interface Waiting {
  program: string;
  turn(): void;
}

/** @param reason shown to those who see details */
export function unavailable(message = 'The sandbox is busy. Try again soon.', reason?: string): AppsError {
  return new AppsError('ServiceUnavailableError', message, { headers: { 'Retry-After': '1' }, reason });
}

/** So many places, and the queue before them. */
export function createPlaces(most: number): Places {
  const queue = new Set<Waiting>();
  const taken = new Map<string, number>();
  let free = most;
  const share = (all: number) => Math.max(1, all - Math.floor(all * keptPart));
  const mayHave = (program: string) => free > 0 && (taken.get(program) ?? 0) < share(most);

  function take(program: string): () => void {
    free -= 1;
    taken.set(program, (taken.get(program) ?? 0) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      free += 1;
      const others = (taken.get(program) ?? 0) - 1;
      if (others > 0) taken.set(program, others);
      else taken.delete(program);
      for (const one of queue) if (mayHave(one.program)) return one.turn();
    };
  }

  function isFull(program: string): boolean {
    const length = most * queueFactor;
    if (queue.size >= length) return true;
    return [...queue].filter((one) => one.program === program).length >= share(length);
  }

  return {
    enter(program, patience) {
      if (mayHave(program)) return Promise.resolve(take(program));
      if (isFull(program)) return Promise.reject(unavailable());
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(waiting);
          reject(unavailable());
        }, patience);
        const waiting: Waiting = {
          program,
          turn() {
            clearTimeout(timer);
            queue.delete(waiting);
            resolve(take(program));
          },
        };
        queue.add(waiting);
      });
    },
  };
}
