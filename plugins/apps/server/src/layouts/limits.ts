import type { Emitter } from 'liquidjs';
import { AppsError } from '../errors';

/** What keeps one broken layout from stopping the server. */
export interface LayoutLimits {
  /** Characters of a layout file. Default 1,000,000. */
  sourceLength: number;
  /** Milliseconds of Liquid's own work for one rendering; waiting for elements does not count. Default 1000. */
  renderTime: number;
  /** Tags, outputs and texts that one rendering may go through, loops counted. Default 200,000. */
  renderSteps: number;
  /** Characters that Liquid may hold or write in one rendering. Default 20,000,000. */
  memory: number;
}

export const defaultLimits: LayoutLimits = {
  sourceLength: 1_000_000,
  renderTime: 1000,
  renderSteps: 200_000,
  memory: 20_000_000,
};

/** Liquid's render limiter, which it asks before each step; stands still while an element is being made. */
export class Clock {
  private end: number;
  private steps = 0;
  private waiting = 0;
  private pausedAt = 0;

  constructor(
    private readonly limits: LayoutLimits,
    private readonly deadline: number | undefined,
  ) {
    this.end = performance.now() + limits.renderTime;
  }

  /** Called by Liquid with the time before every step. */
  check(now: number): void {
    this.steps += 1;
    if (this.deadline !== undefined && now > this.deadline) {
      throw new AppsError('LogicTimeoutError', 'The page took longer than it may');
    }
    if (this.steps > this.limits.renderSteps) {
      throw new Error(`The layout goes through more than ${this.limits.renderSteps} steps`);
    }
    if (now > this.end) throw new Error(`The layout takes longer than ${this.limits.renderTime} ms`);
  }

  /** Liquid's other way of asking; this limiter counts nothing. */
  use(): void {}

  /** Runs work that is not the layout's own. */
  async pausedFor<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting === 0) this.pausedAt = performance.now();
    this.waiting += 1;
    try {
      return await work();
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.end += performance.now() - this.pausedAt;
    }
  }
}

/** What a rendering has written; an Error when it is too much. */
export class BoundedEmitter implements Emitter {
  buffer = '';

  constructor(private readonly limit: number) {}

  write(html: unknown): void {
    this.buffer += html === null || html === undefined ? '' : String(html);
    if (this.buffer.length > this.limit) throw new Error(`The page is longer than ${this.limit} characters`);
  }
}
