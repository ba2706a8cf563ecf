import { performance } from 'node:perf_hooks';

/** Milliseconds between two readings while the process runs, and by how much more than its work one must be late. */
const INTERVAL = 200;
const MIN_STOP = 500;

/** Milliseconds since the process has begun: by the clock, of the event loop's work, and of the processors, all threads together. */
export interface ProcessTimes {
  now(): number;
  active(): number;
  processor(): number;
}

const systemTimes: ProcessTimes = {
  now: () => performance.now(),
  active: () => performance.eventLoopUtilization().active,
  processor() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/**
 * Clocks that stand still while the system does not run this process: after SIGSTOP, and in a frozen container. Time limits are
 * of the work that was under way, not of such a stop. One is noticed when it is longer than about `MIN_STOP` ms.
 */
export class ProcessClock {
  private stopped = 0;
  private stoppedActive = 0;
  private last: Record<keyof ProcessTimes, number>;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly times: ProcessTimes = systemTimes) {
    this.last = this.reading();
  }

  /** As `performance.now()`, without the stops. */
  now(): number {
    return this.look() - this.stopped;
  }

  /** Milliseconds for which the event loop has worked, not those in which it has waited for events or was stopped. */
  worked(): number {
    this.look();
    return this.times.active() - this.stoppedActive;
  }

  /** Milliseconds of all stops so far. */
  stops(): number {
    this.look();
    return this.stopped;
  }

  private reading() {
    const { now, active, processor } = this.times;
    return { now: now(), active: active(), processor: processor() };
  }

  /** What comes first after a stop notices it: a caller, or the timer. */
  private look(): number {
    this.timer ??= setInterval(() => this.look(), INTERVAL).unref();
    const now = this.times.now();
    const elapsed = now - this.last.now;
    if (elapsed < INTERVAL) return now;
    const { last } = this;
    this.last = this.reading();
    const used = this.last.processor - last.processor;
    // Before a stop, the process may have waited for events since the last reading.
    const stop = elapsed - INTERVAL - used;
    if (stop > MIN_STOP) {
      this.stopped += stop;
      this.stoppedActive += Math.max(0, this.last.active - last.active - used);
    }
    return now;
  }
}

/** The clock of this process. */
export const processClock = new ProcessClock();
