/** Milliseconds of delay that are not given back: as much is measured where nothing else runs. */
const MIN_DELAY = 25;

/**
 * The time limit of one request to an isolate, by the clock. Time in which its thread got no processor (`processor-share.ts`) is
 * given back when the time is over, up to `most` milliseconds in all.
 */
export class RequestClock {
  private latest: number;
  private end: number;
  private delay = 0;
  /** `performance.now()` when it stopped; null: it runs. */
  private pausedAt: number | null = null;

  /** @param time milliseconds of the request  @param most the same, with the longest delay */
  constructor(time: number, most: number) {
    const now = performance.now();
    this.end = now + time;
    this.latest = now + most;
  }

  /** Adds milliseconds in which the request got no processor. */
  delayed(time: number): void {
    this.delay += time;
  }

  /** Stops the clock until `resume`. */
  pause(): void {
    this.pausedAt ??= performance.now();
  }

  resume(): void {
    if (this.pausedAt === null) return;
    const time = performance.now() - this.pausedAt;
    this.pausedAt = null;
    this.end += time;
    this.latest += time;
  }

  /** Milliseconds that are left, delays given back; 0: the time is over. */
  left(): number {
    const now = this.pausedAt ?? performance.now();
    if (now < this.end) return this.end - now;
    const more = Math.min(this.delay, this.latest - this.end);
    if (more < MIN_DELAY || this.end + more <= now) return 0;
    this.delay -= more;
    this.end += more;
    return this.end - now;
  }
}
