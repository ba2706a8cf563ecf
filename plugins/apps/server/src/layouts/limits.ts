import { Drop, type Emitter } from 'liquidjs';
import { recordWork, SLICE, untilLoopIsFree } from '../common/time/pace';

/**
 * Milliseconds of processor time that this process has used so far, all threads together. A reading takes up to 50 µs in a
 * process with many threads, such as Strapi's.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds after which a reading is too old to be shared. */
const MAX_AGE = 20;

let reading = { at: Number.NEGATIVE_INFINITY, time: 0 };

/** The same, read up to `MAX_AGE` ms ago. */
function recentProcessorTime(): number {
  const at = performance.now();
  if (at - reading.at > MAX_AGE) reading = { at, time: processorTime() };
  return reading.time;
}

/** Limits that keep a broken layout from blocking the server. */
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
   * Milliseconds of CPU time for Liquid's own work in one rendering; waiting for elements, other requests and other
   * processes does not count. Default 500.
   */
  renderTime: number;
  /** Tags, outputs, texts, filters and elements that one rendering executes, loops counted. Default 200,000. */
  renderSteps: number;
  /** Entries of a list that is passed to a filter. Default 100,000. */
  listLength: number;
  /** Characters and entries of all arguments of one filter, or of one output of a list or object. Default 2,000,000. */
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

/**
 * Milliseconds of work of a rendering before its processor time is read at the beginning and the end of each piece: most
 * renderings are shorter, and have many pieces.
 */
const UNMEASURED = 50;

/** Liquid's render limiter, called before each step; stops while an element is computed. */
export class Clock {
  private end: number;
  private steps = 0;
  private waiting = 0;
  /** Start of the current piece of work, or of the current stop. */
  private begun = performance.now();
  /** Processor time at the last reading, and milliseconds of own work since then. */
  private cpu = recentProcessorTime();
  private unmeasured = 0;
  private isMeasured = false;
  private sliceEnd = this.begun + SLICE;
  /** At the last update: whether the rendering must yield to the server, and the error when its time is up. */
  isSliceOver = false;
  timeoutError: Error | undefined;

  constructor(private readonly limits: LayoutLimits) {
    this.end = performance.now() + limits.renderTime;
  }

  /** Called by Liquid with the time before every step. */
  check(now: number): void {
    this.steps += 1;
    if (this.steps > this.limits.renderSteps) {
      throw new Error(`The layout goes through more than ${this.limits.renderSteps} steps`);
    }
    this.update(now);
    if (this.timeoutError) throw this.timeoutError;
  }

  /** Compares the time with the ends of slice and rendering. */
  update(now: number): void {
    this.isSliceOver = now > this.sliceEnd;
    if (now > this.end) this.endPiece(now);
    if (now > this.end) this.timeoutError = new Error(`The layout takes longer than ${this.limits.renderTime} ms`);
  }

  /** Yields to other requests; their time does not count. */
  async yieldToServer(): Promise<void> {
    recordWork(performance.now() - this.sliceEnd + SLICE);
    await this.stoppedDuring(() => untilLoopIsFree());
    this.sliceEnd = this.begun + SLICE;
    this.isSliceOver = false;
  }

  /** Required by Liquid's interface of a limiter; this one counts steps in `check`. */
  use(): void {}

  /** Stops the clock during work that is not the layout's own. */
  async stoppedDuring<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting === 0) this.endPiece(performance.now());
    this.waiting += 1;
    try {
      return await work();
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.resume(performance.now());
    }
  }

  /**
   * Ends a piece of work and begins another one. Extends the deadline by the time in which the processor worked for other
   * processes, except at the end of a piece in the first `UNMEASURED` ms.
   */
  private endPiece(now: number): void {
    this.unmeasured += now - this.begun;
    this.begun = now;
    if (!this.isMeasured && now <= this.end && this.unmeasured < UNMEASURED) return;
    const cpu = processorTime();
    this.end += Math.max(0, this.unmeasured - (cpu - this.cpu));
    this.cpu = cpu;
    this.unmeasured = 0;
    this.isMeasured = true;
  }

  /** Begins another piece of work after a stop, which counts neither for the rendering nor for the slice. */
  private resume(now: number): void {
    const stopped = now - this.begun;
    this.end += stopped;
    this.sliceEnd += stopped;
    this.begun = now;
    if (this.isMeasured) this.cpu = processorTime();
  }
}

/** Liquid's memory limiter: counts the characters and entries that one rendering makes. */
export class MemoryLimiter {
  private used = 0;

  constructor(private readonly limits: LayoutLimits) {}

  /** Called by Liquid before it allocates `count` characters or entries in one step. */
  use(count: number): void {
    if (count > 2 * this.limits.filterSize) throw new Error('memory alloc limit exceeded in one step');
    this.write(count);
  }

  /** Counts text that is only written, without the limit of one step. */
  write(count: number): void {
    if (!(count > 0)) return;
    this.used += count;
    if (this.used > this.limits.memory) throw new Error('memory alloc limit exceeded');
  }

  /** Required by Liquid's interface of a limiter; this one counts in `use`. */
  check(): void {}
}

/** The output of a rendering; throws an Error above its limit. */
export class BoundedEmitter implements Emitter {
  buffer = '';

  constructor(private readonly limit: number) {}

  write(html: unknown): void {
    this.buffer += html === null || html === undefined ? '' : String(html);
    if (this.buffer.length > this.limit) throw new Error(`The page is longer than ${this.limit} characters`);
  }
}

/**
 * Characters and entries of a value as text, each nested value counted as often as it occurs, because Liquid's lists may
 * hold the same list many times. Counting stops above `maxSize`.
 */
export function sizeOf(value: unknown, maxSize: number): number {
  if (typeof value === 'string') return value.length;
  const waiting: unknown[] = [value];
  let size = 0;
  while (waiting.length > 0 && size <= maxSize) {
    const next = waiting.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (next instanceof Drop) size += String(next.valueOf()).length;
    else if (Array.isArray(next)) size = addAll(waiting, next, size, maxSize);
    else if (isPlain(next)) size = addAll(waiting, Object.values(next), size, maxSize);
  }
  return size;
}

function addAll(waiting: unknown[], values: readonly unknown[], size: number, maxSize: number): number {
  if (values.length > maxSize) return maxSize + values.length;
  for (const value of values) {
    if (typeof value === 'object' && value !== null) waiting.push(value);
    else size += typeof value === 'string' ? value.length + 1 : 1;
  }
  return size;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
