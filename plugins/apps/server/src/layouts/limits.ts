import type { Emitter } from 'liquidjs';
import { AppsError } from '../errors';
import { keptLoop, nextPiece, SLICE } from './pace';

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
  /**
   * Milliseconds of the processor for Liquid's own work in one rendering; waiting for elements, for others and for other
   * processes does not count. Default 500.
   */
  renderTime: number;
  /** Tags, outputs, texts, filters and elements that one rendering may go through, loops counted. Default 200,000. */
  renderSteps: number;
  /** Entries of a list that a filter takes. Default 100,000. */
  listLength: number;
  /** Characters and entries of all that one filter, or one output of a list or object, takes. Default 2,000,000. */
  filterSize: number;
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
  filterSize: 2_000_000,
  memory: 20_000_000,
};

/** Liquid's render limiter, asked before each step; stands still while an element is being made. */
export class Clock {
  private end: number;
  private steps = 0;
  private waiting = 0;
  /** Of the piece of work that is going on, or of the pause. */
  private begun = performance.now();
  private cpu = process.cpuUsage();
  private sliceEnd = this.begun + SLICE;
  /** As of the last look: whether the server is to do other things now, and what is wrong when the time was up. */
  isSliceOver = false;
  late: Error | undefined;

  constructor(
    private readonly limits: LayoutLimits,
    private readonly deadline: number | undefined,
  ) {
    this.end = performance.now() + limits.renderTime;
  }

  /** Called by Liquid with the time before every step. */
  check(now: number): void {
    this.steps += 1;
    if (this.steps > this.limits.renderSteps) {
      throw new Error(`The layout goes through more than ${this.limits.renderSteps} steps`);
    }
    this.look(now);
    if (this.late) throw this.late;
  }

  /** Notices what the time is. */
  look(now: number): void {
    this.isSliceOver = now > this.sliceEnd;
    if (now > this.end) this.giveBack(now);
    if (this.deadline !== undefined && now > this.deadline) {
      this.late = new AppsError('LogicTimeoutError', 'The page took longer than it may');
    } else if (now > this.end) {
      this.late = new Error(`The layout takes longer than ${this.limits.renderTime} ms`);
    }
  }

  /** Lets the server answer others; their time does not count. */
  async letOthersWork(): Promise<void> {
    keptLoop(performance.now() - this.sliceEnd + SLICE);
    await this.pausedFor(nextPiece);
    this.sliceEnd = this.begun + SLICE;
    this.isSliceOver = false;
  }

  /** Liquid's other way of asking; this limiter counts nothing. */
  use(): void {}

  /** Runs work that is not the layout's own. */
  async pausedFor<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting === 0) this.giveBack(performance.now());
    this.waiting += 1;
    try {
      return await work();
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.goOn(performance.now());
    }
  }

  /** Gives back the time of this piece of work in which the processor worked for other processes; begins another piece. */
  private giveBack(now: number): void {
    const { user, system } = process.cpuUsage(this.cpu);
    this.end += Math.max(0, now - this.begun - (user + system) / 1000);
    this.begun = now;
    this.cpu = process.cpuUsage();
  }

  /** Begins another piece of work after a pause, which counts neither for the rendering nor for the slice. */
  private goOn(now: number): void {
    const paused = now - this.begun;
    this.end += paused;
    this.sliceEnd += paused;
    this.begun = now;
    this.cpu = process.cpuUsage();
  }
}

/** Liquid's memory limiter: counts the characters and entries that one rendering makes. */
export class Memory {
  private used = 0;

  constructor(private readonly limits: LayoutLimits) {}

  /** Called by Liquid before it makes something of so many characters or entries in one step. */
  use(count: number): void {
    if (count > 2 * this.limits.filterSize) throw new Error('memory alloc limit exceeded in one step');
    this.write(count);
  }

  /** The same for text that is only written, in whatever amount. */
  write(count: number): void {
    if (!(count > 0)) return;
    this.used += count;
    if (this.used > this.limits.memory) throw new Error('memory alloc limit exceeded');
  }

  /** Liquid's other way of asking; this limiter counts. */
  check(): void {}
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
