import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../common/log';
import { spanned } from '../common/spans';
import type { Sql } from '../database';
import type { AppKey } from '../records/types';
import { HELD_TIME, HeldJobs, JobEnds, MAX_HELD, nameOf, QUICK } from './ends';
import type { Claimed, FailedTry, JobQueue } from './queue';
import { JobFailure } from './rows';
import type { Job, JobHandler, JobKind, JobOutcome } from './types';

/** Milliseconds for which one try may run. */
const MAX_TIME = 5 * 60_000;

/**
 * Ends that are not stored yet, with which no further job begins: a process that is killed leaves at most so many jobs to be done
 * again that have stored nothing.
 */
const MAX_ENDING = 16;

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
  /** Called with the time at which a job is to be tried again, in milliseconds since the epoch; null: soon. */
  later(dueAt: number | null): void;
  /** Called when there is more to be done than this process has room for. */
  full(): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** How jobs of a kind are done. */
export interface Handled {
  handler: JobHandler;
  /** Such jobs take no worker from others. */
  isSlow: boolean;
}

interface Running extends Claimed {
  abort: AbortController;
  /** `performance.now()` when it began. */
  begun: number;
  done: Promise<void>;
  /** Its end is stored: what its handler still does needs no lease. */
  hasEnded: boolean;
}

/** Does jobs: claims them, app by app, and reports what has become of them. */
export class JobWorkers {
  /** Apps that may have jobs to be done, in the order in which they come next: each has one, then all have another. */
  private readonly next = new Map<string, AppKey>();
  /** Apps whose slow jobs were left for later, because enough run: they come next when one of these ends. */
  private readonly leftOut = new Map<string, AppKey>();
  private readonly running = new Set<Running>();
  /** What has run, and whose end is being stored. */
  private readonly ending = new Set<Running>();
  /** Claimed, to be begun next: quick jobs would take less time than their claims. */
  private readonly held;
  private readonly ends;
  private claiming: Promise<void> | undefined;
  private isActive = false;
  private isEnding = false;
  private beganAt = 0;
  private watch: NodeJS.Timeout | undefined;
  /** Requests and transactions in which something was stored must not reach the jobs. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly tools: WorkerTools) {
    this.held = new HeldJobs(tools.workers);
    this.ends = new JobEnds(tools.queue, () => this.held.all.length > 0);
  }

  start(): void {
    this.isActive = true;
    this.fill();
  }

  /** Whether it can begin a job now. */
  get isFree(): boolean {
    return this.isActive && this.free > 0 && this.ending.size < MAX_ENDING;
  }

  /** Notes that apps may have jobs, and begins with them. */
  add(keys: readonly AppKey[]): void {
    for (const key of keys) this.next.set(nameOf(key), key);
    this.fill();
  }

  /** Workers without a job. */
  private get free(): number {
    return this.tools.workers - (this.running.size - this.slow);
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
    return [...[...this.running].filter(({ hasEnded }) => !hasEnded), ...this.ending, ...this.held.all];
  }

  /** Ends the tries whose lease has been lost: what they report is ignored. */
  lose(claims: readonly Claimed[]): void {
    this.held.remove(claims);
    for (const one of this.running)
      if (claims.some(({ job }) => job.id === one.job.id)) one.abort.abort(new Error('the lease has been lost'));
  }

  /** Does what is due, one job after the other, up to `limit` tries. @returns the kind of each try that was made */
  async runAll(keys: readonly AppKey[], limit: number): Promise<JobKind[]> {
    const tries: JobKind[] = [];
    for (const key of keys) {
      while (tries.length < limit) {
        const [claim] = await this.tools.queue.claim(key, 1);
        if (!claim) break;
        await this.run(claim).done;
        tries.push(claim.job.kind);
      }
    }
    return tries;
  }

  /** Begins no more; waits for what runs, then gives it back. @returns whether other processes have something to do now */
  async destroy(): Promise<boolean> {
    this.isActive = false;
    this.isEnding = true;
    clearTimeout(this.watch);
    await this.claiming;
    const held = this.held.giveBack();
    await this.tools.queue.release(held).catch(this.report);
    const late = new Promise((resolve) => setTimeout(resolve, DRAIN_TIME).unref());
    await Promise.race([Promise.all([...this.running, ...this.ending].map(({ done }) => done)), late]);
    const left = [...this.running];
    for (const { abort } of left) abort.abort(new Error('the process ends'));
    // Each gives its job back.
    await Promise.all(left.map(({ done }) => done));
    return held.length + left.length > 0;
  }

  private readonly report = (error: unknown): void =>
    this.tools.logger.error(`[apps] jobs: ${(error as Error).message}`);

  /** Begins with what is claimed, and claims as many jobs as there is room for. One claim at a time: each would find the same. */
  private fill(): void {
    this.begin();
    if (this.claiming || !this.nextClaim()) return;
    this.claiming = this.outside(() => this.claimAll())
      .catch((error) => {
        this.report(error);
        this.tools.later(null);
      })
      .finally(() => {
        this.claiming = undefined;
        // What came after the last claim. A claim that has failed has taken its app off the list.
        this.fill();
      });
  }

  private begin(): void {
    while (this.isFree) {
      const claim = this.held.take();
      if (!claim) return;
      this.run(claim);
    }
  }

  /** The app whose jobs are claimed next, and how many: for workers that have nothing to do, else ahead. */
  private nextClaim(): { name: string; key: AppKey; limit: number; isAhead: boolean } | null {
    if (!this.isActive || this.ending.size >= MAX_ENDING) return null;
    // Where slow ones run, more of them are likely. Others are put back.
    const most = this.slow > 0 ? MAX_SLOW - this.slow : MAX_HELD;
    const free = this.free - this.held.all.length;
    for (const [name, key] of this.next) {
      const limit = free > 0 ? Math.max(1, Math.floor(free / this.next.size)) : this.held.room(name, this.next.size);
      if (limit > 0) return { name, key, limit: Math.max(1, Math.min(limit, most)), isAhead: free <= 0 };
    }
    return null;
  }

  private async claimAll(): Promise<void> {
    for (let next = this.nextClaim(); next; next = this.nextClaim()) {
      const { name, key, limit, isAhead } = next;
      this.next.delete(name);
      const without = this.slow < MAX_SLOW ? [] : [...this.tools.handlers.keys()].filter((kind) => this.isSlow(kind));
      const claims = await this.tools.queue.claim(key, limit, { without, isAhead });
      const tooMany: Claimed[] = [];
      for (const claim of claims)
        if (!this.isSlow(claim.job.kind)) this.held.add(claim);
        else if (this.slow < MAX_SLOW) this.run(claim);
        else tooMany.push(claim);
      if (without.length > 0 || tooMany.length > 0) this.leftOut.set(name, key);
      // It may have more, after the others have had theirs.
      if (claims.length === limit && !this.next.has(name)) this.next.set(name, key);
      this.begin();
      await this.tools.queue.release(tooMany);
    }
    if (this.held.all.length > 0) this.watchHeld();
    if (this.next.size > 0) this.tools.full();
  }

  /** Gives back what stands behind jobs that take longer than those before: other processes, and other apps, need not wait for them. */
  private watchHeld(): void {
    if (this.watch || this.isEnding) return;
    this.watch = setTimeout(() => {
      this.watch = undefined;
      if (this.held.all.length === 0 || this.isEnding) return;
      if (performance.now() - this.beganAt < HELD_TIME) return this.watchHeld();
      const back = this.held.giveBack();
      const released = this.tools.queue.release(back).then(() => this.tools.full());
      released.catch(this.report);
      for (const { job } of back) this.next.set(nameOf(job.key), job.key);
    }, HELD_TIME).unref();
  }

  private run(claim: Claimed): Running {
    const begun = performance.now();
    const abort = new AbortController();
    const isAhead = claim.beganAt === null;
    const beganAt = claim.beganAt ?? this.tools.now();
    const running: Running = { ...claim, beganAt, begun, abort, done: Promise.resolve(), hasEnded: false };
    this.beganAt = begun;
    const noted = isAhead ? setTimeout(() => void this.noteBegun(running), QUICK).unref() : undefined;
    const about = () => ({ ...claim.job.key, kind: claim.job.kind, job: claim.job.id });
    running.done = this.outside(() => spanned('job', about, () => this.attempt(running)))
      .catch(this.report)
      .finally(() => {
        clearTimeout(noted);
        this.leave(running);
        this.ending.delete(running);
        // Jobs of its sequence have waited for it.
        if (this.isActive) this.add(claim.job.sequence === null ? [] : [claim.job.key]);
      });
    this.running.add(running);
    return running;
  }

  /** Stores that a job which was claimed ahead has begun: one that ends its process is not to do so without end. */
  private async noteBegun(running: Running): Promise<void> {
    if (this.running.has(running)) await this.tools.queue.begun(running).catch(this.report);
  }

  /** Its worker may have another job. */
  private leave(running: Running): void {
    if (!this.running.delete(running)) return;
    if (!this.isSlow(running.job.kind)) return this.held.measured(performance.now() - running.begun);
    for (const [name, key] of this.leftOut) this.next.set(name, key);
    this.leftOut.clear();
  }

  private async attempt(running: Running): Promise<void> {
    const { queue, logTry, later } = this.tools;
    const { job, begun } = running;
    const note = (failed: FailedTry | null) => logTry(job, Math.round(performance.now() - begun), failed);
    let outcome: JobOutcome;
    try {
      outcome = await this.handle(running);
    } catch (error) {
      // A job that ends with its process has not failed.
      if (this.isEnding && running.abort.signal.aborted) return queue.release([running]);
      if (running.hasEnded) return this.report(error);
      const failed = await this.ends.tried(() => queue.failed(running, error));
      later(failed.dueAt);
      return note(failed);
    }
    if (running.hasEnded) return;
    this.ending.add(running);
    this.leave(running);
    const stored = this.ends.store(running, outcome);
    this.fill();
    await stored;
    note(null);
  }

  private async handle(running: Running): Promise<JobOutcome> {
    const { queue, handlers, later } = this.tools;
    const { job, claim, abort } = running;
    const handled = handlers.get(job.kind);
    if (!handled) throw new JobFailure(`This process does no jobs of the kind "${job.kind}"`, { next: 'unknown' });
    const settle = async (sql: Sql) => {
      if ((await queue.done(sql, [running], { status: null, answer: null })) === 0)
        throw new Error(`the lease of the job ${job.id} has been lost`);
    };
    const end = async (dueAt: number | null, data = job.data) => {
      running.hasEnded = true;
      if (dueAt === null) return this.ends.store(running, { status: null, answer: null });
      await queue.putOff(running, dueAt, data);
      later(dueAt);
    };
    return within(handled.handler({ job, claim, signal: abort.signal, settle, end }), abort);
  }
}

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

/** Notes a try that has ended. @param time milliseconds @param failed null: the job is done */
export type LogTry = (job: Job, time: number, failed: FailedTry | null) => void;

/**
 * Writes what has become of tries to the server's log: the first failure of a job and its end, because the tries between them
 * say the same again; with `isFull` each try, as developers want to see them.
 */
export function createTryLog(logger: Logger, isFull: boolean): LogTry {
  return ({ id, key, kind, name, attempts, wasMissing }, time, failed) => {
    const job = `[apps] job ${id} of ${key.site}/${key.app} (${kind} ${name})`;
    if (!failed) {
      if (isFull) logger.info(`${job} done in ${time} ms`);
      return;
    }
    const { isDead, reason } = failed;
    const next = isDead ? 'it is given up' : 'it will be tried again';
    const line = `${job} failed${isFull ? ` in ${time} ms, try ${attempts}` : ''}, ${next}: ${reason}`;
    if (isDead) logger.error(line);
    else if (isFull || (attempts === 1 && !wasMissing)) logger.warn(line);
  };
}
