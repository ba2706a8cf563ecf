import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../common/log';
import type { AppKey } from '../records/types';
import { JobFailure } from './failure';
import type { Claimed, Failed, JobQueue } from './queue';
import type { LogTry } from './try-log';
import type { JobHandler, JobKind } from './types';

/** Milliseconds for which one try may run. */
const MAX_TIME = 5 * 60_000;

/** Jobs that a process claims before it has room for them, while jobs take less than `QUICK` milliseconds on average. */
const MAX_HELD = 8;
const QUICK = 25;

/** Slow jobs that a process does at once. */
const MAX_SLOW = 10;

/** Milliseconds that a process which ends gives its jobs. */
const DRAIN_TIME = 10_000;

interface WorkerTools {
  queue: JobQueue;
  logger: Logger;
  /** Jobs that this process does at once. */
  workers: number;
  handlers: ReadonlyMap<JobKind, Handled>;
  logTry: LogTry;
}

/** How jobs of a kind are done. */
export interface Handled {
  handler: JobHandler;
  /** Such jobs take no worker from others. */
  isSlow: boolean;
}

interface Running extends Claimed {
  abort: AbortController;
  done: Promise<void>;
}

/** Does jobs: claims them, app by app, and reports what has become of them. */
export class JobWorkers {
  /** Apps that may have jobs to be done, in the order in which they come next: each has one, then all have another. */
  private readonly next = new Map<string, AppKey>();
  private readonly running = new Set<Running>();
  /** Claimed, to be begun next: quick jobs would take less time than their claims. */
  private held: Claimed[] = [];
  /** Milliseconds that the latest jobs took on average. */
  private average = QUICK;
  private claiming: Promise<void> | undefined;
  private isActive = false;
  /** Requests and transactions in which something was stored must not reach the jobs. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly tools: WorkerTools) {}

  start(): void {
    this.isActive = true;
    this.fill();
  }

  /** Whether it can begin a job now. */
  get isFree(): boolean {
    return this.isActive && this.running.size - this.slow < this.tools.workers;
  }

  /** Notes that apps may have jobs, and begins with them. */
  add(keys: readonly AppKey[]): void {
    for (const key of keys) this.next.set(nameOf(key), key);
    this.fill();
  }

  /** How many of the running jobs are slow ones. */
  private get slow(): number {
    return [...this.running].filter(({ job }) => this.isSlow(job.kind)).length;
  }

  private isSlow(kind: JobKind): boolean {
    return this.tools.handlers.get(kind)?.isSlow === true;
  }

  /** The claims whose leases are to be renewed. */
  get claims(): readonly Claimed[] {
    return [...this.running, ...this.held];
  }

  /** Ends the tries whose lease has been lost: what they report is ignored. */
  lose(claims: readonly Claimed[]): void {
    this.held = this.held.filter((one) => !claims.includes(one));
    for (const one of this.running)
      if (claims.some(({ job }) => job.id === one.job.id)) one.abort.abort(new Error('the lease has been lost'));
  }

  /** Does what is due, one job after the other, up to `limit` tries. @returns the tries that were made */
  async runAll(keys: readonly AppKey[], limit: number): Promise<number> {
    let tries = 0;
    for (const key of keys) {
      while (tries < limit) {
        const [claim] = await this.tools.queue.claim(key, 1);
        if (!claim) break;
        await this.run(claim).done;
        tries += 1;
      }
    }
    return tries;
  }

  /** Begins no more; waits for what runs, then gives it back. */
  async destroy(): Promise<void> {
    this.isActive = false;
    await this.claiming;
    const late = new Promise((resolve) => setTimeout(resolve, DRAIN_TIME).unref());
    await Promise.race([Promise.all([...this.running].map(({ done }) => done)), late]);
    const left = [...this.running];
    const held = this.held.splice(0);
    for (const { abort } of left) abort.abort(new Error('the process ends'));
    await this.tools.queue.release([...left, ...held]).catch(this.report);
  }

  private readonly report = (error: unknown): void =>
    this.tools.logger.error(`[apps] jobs: ${(error as Error).message}`);

  /** Begins with what is claimed, and claims as many jobs as there is room for. One claim at a time: each would find the same. */
  private fill(): void {
    while (this.isFree && this.held.length > 0) this.run(this.held.shift() as Claimed);
    if (this.claiming || this.room <= 0 || this.next.size === 0) return;
    this.claiming = this.outside(() => this.claimAll())
      .catch(this.report)
      .finally(() => {
        this.claiming = undefined;
      });
  }

  private get room(): number {
    if (!this.isActive) return 0;
    const ahead = this.average < QUICK ? MAX_HELD : 0;
    return this.tools.workers + ahead - (this.running.size - this.slow) - this.held.length;
  }

  private async claimAll(): Promise<void> {
    while (this.room > 0) {
      const [first] = this.next;
      if (!first) return;
      const [name, key] = first;
      this.next.delete(name);
      const share = Math.max(1, Math.floor(this.room / (this.next.size + 1)));
      const without = this.slow < MAX_SLOW ? [] : [...this.tools.handlers.keys()].filter((kind) => this.isSlow(kind));
      const claims = await this.tools.queue.claim(key, share, without);
      this.held.push(...claims);
      // It may have more, after the others have had theirs.
      if (claims.length === share && !this.next.has(name)) this.next.set(name, key);
      while (this.isFree && this.held.length > 0) this.run(this.held.shift() as Claimed);
    }
  }

  private run(claim: Claimed): Running {
    const began = performance.now();
    const abort = new AbortController();
    const running: Running = { ...claim, abort, done: Promise.resolve() };
    running.done = this.outside(() => this.attempt(running))
      .catch(this.report)
      .finally(() => {
        this.running.delete(running);
        if (!this.isSlow(claim.job.kind)) this.average += (performance.now() - began - this.average) / 10;
        // Jobs of its sequence have waited for it.
        if (this.isActive) this.add(claim.job.sequence === null ? [] : [claim.job.key]);
      });
    this.running.add(running);
    return running;
  }

  private async attempt(running: Running): Promise<void> {
    const { queue, handlers, logTry } = this.tools;
    const { job, abort } = running;
    const begun = performance.now();
    const note = (failed: Failed | null) => logTry(job, Math.round(performance.now() - begun), failed);
    let isSettled = false;
    let isPutOff = false;
    try {
      const handled = handlers.get(job.kind);
      if (!handled) throw new JobFailure(`This process does no jobs of the kind "${job.kind}"`, { next: 'missing' });
      const settle = async (sql: Parameters<typeof queue.done>[0]) => {
        if (!(await queue.done(sql, running, { status: null, answer: null })))
          throw new Error(`the lease of the job ${job.id} has been lost`);
        isSettled = true;
      };
      const end = async (dueAt: number | null) => {
        isSettled = true;
        isPutOff = dueAt !== null;
        if (dueAt !== null) return queue.putOff(running, dueAt);
        await queue.writing((sql) => queue.done(sql, running, { status: null, answer: null }));
      };
      const outcome = await within(handled.handler({ job, signal: abort.signal, settle, end }), abort);
      if (!isSettled) await queue.writing((sql) => queue.done(sql, running, outcome));
      if (!isPutOff) note(null);
    } catch (error) {
      note(await queue.failed(running, error));
    }
  }
}

const nameOf = ({ site, app }: AppKey): string => JSON.stringify([site, app]);

/** The result of a try, unless it takes too long or its lease is lost. */
async function within<T>(work: Promise<T>, abort: AbortController): Promise<T> {
  const timer = setTimeout(() => abort.abort(new Error('it took too long')), MAX_TIME).unref();
  const aborted = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason), { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    clearTimeout(timer);
  }
}
