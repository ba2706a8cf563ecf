/** Milliseconds that one waits longer than another, for each one that its request has used more. */
const HANDICAP = 50;

/** How long one waits. */
interface WaitLimit {
  /** Milliseconds after which it is no longer chosen. */
  time: number;
  /** The error with which it is then rejected. */
  error(): Error;
}

interface Waiter<T> {
  value: T;
  /** The time by which it is ordered. */
  due: number;
  resume(): void;
}

/** Those that wait for something of which one can have it at a time; the request that has used least of the thread is first. */
export class FairQueue<T = undefined> {
  private readonly waiting = new Set<Waiter<T>>();

  get size(): number {
    return this.waiting.size;
  }

  /**
   * Resolves when `resumeFirst` chooses it.
   * @param time milliseconds that its request has used of the thread
   * @param limit by default it waits for any time
   */
  wait(value: T, time: number, limit?: WaitLimit): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = { value, due: performance.now() + HANDICAP * time, resume: resolve };
      this.waiting.add(waiter);
      if (!limit) return;
      const timer = setTimeout(() => {
        this.waiting.delete(waiter);
        reject(limit.error());
      }, limit.time);
      waiter.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Resumes the first one, if one waits. @param chosen is called with its value before it runs */
  resumeFirst(chosen: (value: T) => void = () => {}): void {
    let first: Waiter<T> | undefined;
    for (const waiter of this.waiting) if (!first || waiter.due < first.due) first = waiter;
    if (!first) return;
    this.waiting.delete(first);
    chosen(first.value);
    first.resume();
  }
}

/** Lets one work run at a time; of those that wait, the one whose request has used least of the thread is next. */
export class FairMutex {
  private readonly waiting = new FairQueue();
  private isTaken = false;

  /**
   * Resolves when the caller may run, to the function that lets the next one run.
   * @param time see `FairQueue.wait`
   * @param limit see `FairQueue.wait`
   */
  async lock(time: number, limit?: WaitLimit): Promise<() => void> {
    if (this.isTaken) await this.waiting.wait(undefined, time, limit);
    this.isTaken = true;
    return () => {
      this.isTaken = false;
      this.waiting.resumeFirst(() => {
        this.isTaken = true;
      });
    };
  }
}

/** A mutex for each key: requests that have collided on a record write it one at a time in this process. */
export interface KeyedMutex {
  /** Waits until all keys are free and locks them; the returned function unlocks them. */
  lock(keys: Iterable<string>): Promise<() => void>;
  /** The first key that is locked and not in `own`. */
  lockedByOther(keys: Iterable<string>, own: ReadonlySet<string>): string | undefined;
}

/** One FIFO queue for each key. Keys are locked in sorted order, which excludes deadlocks. */
export function createKeyedMutex(): KeyedMutex {
  const queues = new Map<string, Promise<void>>();

  const lockOne = async (key: string): Promise<() => void> => {
    const before = queues.get(key);
    let unlock = () => {};
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    const tail = (before ?? Promise.resolve()).then(() => unlocked);
    queues.set(key, tail);
    await before;
    return () => {
      if (queues.get(key) === tail) queues.delete(key);
      unlock();
    };
  };

  return {
    async lock(keys) {
      const unlocks: (() => void)[] = [];
      for (const key of [...keys].sort()) unlocks.push(await lockOne(key));
      return () => {
        for (const unlock of unlocks) unlock();
      };
    },
    lockedByOther(keys, own) {
      for (const key of keys) if (queues.has(key) && !own.has(key)) return key;
      return undefined;
    },
  };
}
