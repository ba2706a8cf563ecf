/**
 * Milliseconds that a transaction stays open while logic runs or reads, in sum: enough for logic that continues at once,
 * and short enough for a request that waits for slow logic. `locking`: for a unit that keeps records locked.
 */
export const idleTimes = { usual: 50, locking: 200 };

/**
 * How long a transaction may stay open without a write. Time passes between `resume` and `pause`, and during `spending`;
 * when none is left, `expired` is called once.
 */
export class IdleTime {
  private left = 0;
  private since = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly expired: () => void) {}

  /** Sets the remaining time, in milliseconds, and stops the clock. */
  reset(milliseconds: number): void {
    this.stop();
    this.left = milliseconds;
  }

  /** Stops the clock: the transaction is in use. */
  pause(): void {
    if (this.timer === undefined) return;
    this.left -= performance.now() - this.since;
    this.stop();
  }

  /** Starts the clock: the transaction is idle. False when no time is left, so that it must end at once. */
  resume(): boolean {
    if (this.left <= 0) return false;
    this.since = performance.now();
    this.timer = setTimeout(this.expired, this.left);
    return true;
  }

  /** Runs work whose duration counts as idle, while the clock is stopped. */
  async spending<T>(work: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    try {
      return await work();
    } finally {
      this.left -= performance.now() - begin;
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
