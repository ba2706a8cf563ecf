import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Claimed, JobQueue } from './queue';
import type { JobOutcome } from './types';

/** Ends that one statement stores. */
const MAX_ENDS = 50;

/** Milliseconds between tries to store ends, and how many there are. */
const PAUSE = 200;
const TRIES = 3;

interface End {
  claim: Claimed;
  stored(): void;
  failed(error: unknown): void;
}

const nothing: JobOutcome = { status: null, answer: null };

/**
 * Stores the ends of jobs: those that come while a statement runs share the next one, so that quick jobs do not wait for a commit
 * each (docs/decisions/jobs.md).
 */
export class JobEnds {
  private readonly waiting: End[] = [];
  private isStoring = false;
  /** A handler's transaction must not reach the statement of others. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly queue: JobQueue) {}

  /**
   * Marks a job as done, unless the transaction of its work has: then the token is not the row's any more. A failure is no failure of
   * the job, which would be done again. Rejects when the database refuses it several times.
   */
  async store(claim: Claimed, outcome: JobOutcome): Promise<void> {
    // The row of a job with a key may be locked by a transaction that wants it to run: others need not wait for that.
    const isAlone = claim.job.jobKey !== null || outcome.status !== null || outcome.answer !== null;
    if (isAlone) return this.tried(() => this.queue.finish([claim], outcome));
    return new Promise((stored, failed) => {
      this.waiting.push({ claim, stored, failed });
      if (!this.isStoring) void this.outside(() => this.storeAll());
    });
  }

  /** Never rejects: it settles the ends. */
  private async storeAll(): Promise<void> {
    this.isStoring = true;
    // Jobs that end in the same turn of the event loop share a statement too.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const ends = this.waiting.splice(0, MAX_ENDS);
      const claims = ends.map(({ claim }) => claim);
      await this.tried(() => this.queue.alone(() => this.queue.finish(claims, nothing))).then(
        () => {
          for (const { stored } of ends) stored();
        },
        (error) => {
          for (const { failed } of ends) failed(error);
        },
      );
    }
    this.isStoring = false;
  }

  private async tried(work: () => Promise<unknown>): Promise<void> {
    for (let time = 1; ; time += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (time === TRIES) throw error;
        await pause(PAUSE);
      }
    }
  }
}
