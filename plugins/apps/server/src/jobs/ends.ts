import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { throughOutage } from '../database';
import type { AppKey } from '../records/types';
import type { Claimed, JobQueue } from './queue';
import type { JobOutcome } from './types';

/** Ends that one statement stores. */
const MAX_ENDS = 50;

/** Quick jobs whose ends are stored together, if so many end within so many milliseconds. */
const FEW = 8;
const LINGER = 10;

/** Milliseconds between tries to store ends that the database refuses, and how many there are. */
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
  /** Ends the wait for further ends. */
  private gather: (() => void) | undefined;
  /** A handler's transaction must not reach the statement of others. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly queue: JobQueue,
    /** Whether other jobs end soon, whose ends one statement may store too. */
    private readonly isMore: () => boolean,
  ) {}

  /**
   * Marks a job as done, unless the transaction of its work has: then the token is not the row's any more. A failure is no failure of
   * the job, which would be done again: it is stored as soon as the database can be reached. Rejects when that refuses it several times.
   */
  async store(claim: Claimed, outcome: JobOutcome): Promise<void> {
    // The row of a job with a key may be locked by a transaction that wants it to run: others need not wait for that.
    const isAlone = claim.job.jobKey !== null || outcome.status !== null || outcome.answer !== null;
    if (isAlone) return void (await this.tried(() => this.queue.finish([claim], outcome)));
    return new Promise((stored, failed) => {
      this.waiting.push({ claim, stored, failed });
      if (this.waiting.length >= FEW) this.gather?.();
      if (!this.isStoring) void this.outside(() => this.storeAll());
    });
  }

  /** Never rejects: it settles the ends. */
  private async storeAll(): Promise<void> {
    this.isStoring = true;
    while (this.waiting.length > 0) {
      await this.gathered();
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

  /** Waits for the ends that may share the statement: those of this turn of the event loop, and of quick jobs that follow. */
  private async gathered(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.waiting.length >= FEW || !this.isMore()) return;
    await new Promise<void>((resolve) => {
      this.gather = resolve;
      setTimeout(resolve, LINGER);
    });
    this.gather = undefined;
  }

  /** Runs a statement until the database takes it: while it cannot be reached for as long as the lease would hold. */
  async tried<T>(work: () => Promise<T>): Promise<T> {
    for (let time = 1; ; time += 1) {
      try {
        return await throughOutage(work, this.queue.leaseTime);
      } catch (error) {
        if (time === TRIES) throw error;
        await pause(PAUSE);
      }
    }
  }
}

/** Jobs that a process claims ahead at most, while jobs take less than `QUICK` milliseconds on average. */
export const MAX_HELD = 40;
export const QUICK = 25;

/** Milliseconds for which claimed jobs may stand behind others before they are given back. */
export const HELD_TIME = 100;

/** The name of an app of a site. */
export const nameOf = ({ site, app }: AppKey): string => JSON.stringify([site, app]);

/** Jobs that are claimed and have not begun. Apps take turns. */
export class HeldJobs {
  private readonly claims: Claimed[] = [];
  /** How many there are of each app. */
  private readonly counts = new Map<string, number>();
  /** Milliseconds that the latest jobs took on average. */
  private average = QUICK;
  private latest = '';

  constructor(private readonly workers: number) {}

  get all(): readonly Claimed[] {
    return this.claims;
  }

  add(claim: Claimed): void {
    const name = nameOf(claim.job.key);
    this.claims.push(claim);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** The next one: of another app than the last, where there is one. */
  take(): Claimed | undefined {
    const other = this.counts.size > 1 ? this.claims.findIndex(({ job }) => nameOf(job.key) !== this.latest) : 0;
    const claim = this.claims[Math.max(other, 0)];
    if (!claim) return undefined;
    this.remove([claim]);
    this.latest = nameOf(claim.job.key);
    return claim;
  }

  /** Takes all, because others take longer than was expected. */
  giveBack(): Claimed[] {
    this.average = QUICK;
    const all = [...this.claims];
    this.remove(all);
    return all;
  }

  remove(lost: readonly Claimed[]): void {
    for (const claim of lost) {
      const at = this.claims.indexOf(claim);
      if (at < 0) continue;
      this.claims.splice(at, 1);
      const name = nameOf(claim.job.key);
      const count = (this.counts.get(name) ?? 0) - 1;
      if (count > 0) this.counts.set(name, count);
      else this.counts.delete(name);
    }
  }

  /** Notes how many milliseconds a job took. */
  measured(time: number): void {
    this.average += (time - this.average) / 10;
  }

  /** Jobs that are begun within the time for which they may be held. */
  private get most(): number {
    if (this.average >= QUICK) return 0;
    return Math.min(MAX_HELD, Math.floor((this.workers * HELD_TIME) / Math.max(this.average, 1)));
  }

  /**
   * How many jobs of an app to claim ahead: none while it has half of its share, so that a claim is for several.
   * @param name of the app @param apps how many may have jobs
   */
  room(name: string, apps: number): number {
    const { most } = this;
    if (most === 0) return 0;
    const own = this.counts.get(name) ?? 0;
    const share = Math.max(1, Math.floor(most / apps));
    if (own * 2 > share) return 0;
    // An app that has none need not wait until those of another have begun.
    const least = own === 0 && this.claims.length < 2 * most ? 1 : 0;
    return Math.max(least, Math.min(share - own, most - this.claims.length));
  }
}
