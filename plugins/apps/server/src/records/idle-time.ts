/**
 * How long a transaction may be open without being changed. The time is spent between `resume` and `pause`, and by
 * `spending`; when none is left, `expired` is called once.
 */
export class IdleTime {
  private left = 0;
  private since = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly expired: () => void) {}

  /** Sets the time that is left, in milliseconds, paused. */
  reset(milliseconds: number): void {
    this.stop();
    this.left = milliseconds;
  }

  /** The transaction is used from now on. */
  pause(): void {
    if (this.timer === undefined) return;
    this.left -= performance.now() - this.since;
    this.stop();
  }

  /** The transaction is no longer used. False when no time is left, so that it must end at once. */
  resume(): boolean {
    if (this.left <= 0) return false;
    this.since = performance.now();
    this.timer = setTimeout(this.expired, this.left);
    return true;
  }

  /** Runs work that spends the time, while paused. */
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
