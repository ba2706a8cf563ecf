/** Milliseconds that one waits longer than another, for each one that its request has used more. */
const HANDICAP = 50;

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

  /** Resolves when `resumeFirst` chooses it. @param time milliseconds that its request has used of the thread */
  wait(value: T, time: number): Promise<void> {
    return new Promise((resume) => {
      this.waiting.add({ value, due: performance.now() + HANDICAP * time, resume });
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
