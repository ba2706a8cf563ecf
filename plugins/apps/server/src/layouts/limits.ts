import type { Emitter } from 'liquidjs';
import { AppsError } from '../errors';

/** What keeps one broken layout from stopping the server. */
export interface LayoutLimits {
  /** Characters of a layout file. Default 262,144 (256 kB of ASCII). */
  sourceLength: number;
  /** Tags, outputs and single-brace elements of a layout file. Default 10,000. */
  marks: number;
  /** Characters of one tag, output or expression: bounds its operands and filters. Default 10,000. */
  markLength: number;
  /** Characters of all tags, outputs and elements of a file together. Default 100,000. */
  markup: number;
  /** Milliseconds of Liquid's own work for one rendering; waiting for elements does not count. Default 500. */
  renderTime: number;
  /** Tags, outputs, texts, filters and elements that one rendering may go through, loops counted. Default 200,000. */
  renderSteps: number;
  /** Entries of a list that a filter takes. Default 100,000. */
  listLength: number;
  /** Characters that Liquid may hold or write in one rendering. Default 20,000,000. */
  memory: number;
}

export const defaultLimits: LayoutLimits = {
  sourceLength: 256 * 1024,
  marks: 10_000,
  markLength: 10_000,
  markup: 100_000,
  renderTime: 500,
  renderSteps: 200_000,
  listLength: 100_000,
  memory: 20_000_000,
};

/** Liquid's render limiter, asked before each step; stands still while an element is being made. */
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
