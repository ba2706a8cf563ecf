import { AsyncLocalStorage } from 'node:async_hooks';
import { isAppsError } from '../errors';
import { CollisionError } from './collision';
import type { Turns } from './queue';
import type { UnitOfWork } from './types';
import type { Effect, RecordUnit } from './unit';

/** A group is committed when it has so many works, or when its first one has waited so long (ms). */
const mostWorks = 100;
const longestWait = 20;
/** So often a work runs in a group; then it has lost against other processes so often that it must lock the record. */
const mostTries = 3;
/** After so long (ms) a database that does not answer is not asked again for each of those who wait. */
const hopeless = 1_000;

type Work<T> = (unit: UnitOfWork) => Promise<T>;

interface Job {
  work: Work<unknown>;
  tries: number;
  /** Runs in the asynchronous context of whoever has asked for the work. */
  inside<T>(run: () => T): T;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/** A job that has run in a unit that is not committed yet. */
interface Done {
  job: Job;
  outcome: PromiseSettledResult<unknown>;
  effects: Effect[];
}

/** Works that are after the same record. */
export interface Groups {
  /**
   * Runs a work when it is the record's turn, and commits it together with the others that have come meanwhile. Each sees
   * what those before it did; of one that fails nothing is left. Rejects with a CollisionError when it must run again, by
   * itself.
   * @param key the record's hash
   */
  join<T>(key: string, work: Work<T>): Promise<T>;
}

/**
 * Commits in groups: many who write one record at the same time cost one transaction, where each would have cost one.
 * See docs/decisions/storage-collisions.md.
 */
export function createGroups(turns: Turns, newUnit: (own: ReadonlySet<string>) => RecordUnit): Groups {
  const outside = AsyncLocalStorage.snapshot();
  const waiting = new Map<string, Job[]>();

  const serve = async (key: string, jobs: Job[]): Promise<void> => {
    while (jobs.length > 0) {
      const free = await turns.take([key]);
      try {
        await runGroup(newUnit(new Set([key])), key, jobs);
      } finally {
        free();
      }
    }
    waiting.delete(key);
  };

  return {
    join: <T>(key: string, work: Work<T>) =>
      new Promise<T>((resolve, reject) => {
        const inside = AsyncLocalStorage.snapshot();
        const job: Job = { work, tries: 0, inside, resolve: resolve as Job['resolve'], reject };
        const jobs = waiting.get(key);
        if (jobs) return jobs.push(job);
        const first = [job];
        waiting.set(key, first);
        return outside(() => serve(key, first));
      }),
  };
}

/** Takes jobs off the queue, runs them in the unit and commits it. Never rejects: it is the jobs that are told. */
async function runGroup(unit: RecordUnit, key: string, jobs: Job[]): Promise<void> {
  const taken: Job[] = [];
  const done: Done[] = [];
  const began = performance.now();
  const isFull = () => done.length >= mostWorks || (done.length > 0 && performance.now() - began > longestWait);
  try {
    // A transaction that a job has opened ends as soon as that job does.
    while (jobs.length > 0 && !unit.hasOpened && !isFull()) {
      const job = jobs.shift() as Job;
      job.tries += 1;
      taken.push(job);
      const { outcome, effects } = await runJob(unit, job);
      if (outcome.status === 'rejected' && isHopeless(outcome.reason, began)) throw outcome.reason;
      done.push({ job, outcome, effects });
    }
    await unit.commit();
  } catch (error) {
    const uncertain = unit.hasEnded && !unit.failure;
    const reason = unit.failure ?? error;
    await unit.rollback();
    const waiting = isHopeless(reason, began) ? jobs.splice(0) : [];
    for (const job of waiting) job.reject(reason);
    refuse(taken, jobs, key, reason, uncertain || waiting.length > 0);
    return;
  }
  for (const { job, outcome, effects } of done) answer(unit, job, outcome, effects);
}

function isHopeless(reason: unknown, began: number): boolean {
  return isAppsError(reason, 'ServiceUnavailableError') && performance.now() - began > hopeless;
}

/**
 * Deals with a group that was not committed. A job by itself is told why. Of several the others are not to blame: they run
 * again, unless that is in vain, or COMMIT itself has failed, for then nobody knows whether it was carried out.
 */
function refuse(taken: readonly Job[], jobs: Job[], key: string, reason: unknown, final: boolean): void {
  const collided = reason instanceof CollisionError;
  const again = (job: Job) => collided && !final && taken.length > 1 && job.tries < mostTries;
  const told = final || collided || taken.length === 1 ? reason : new CollisionError([key], reason);
  for (const job of taken) if (!again(job)) job.reject(told);
  jobs.unshift(...taken.filter(again));
}

/** Runs a job in the unit; of one that fails nothing is left there. Rejects when that cannot be. */
async function runJob(unit: RecordUnit, job: Job): Promise<Omit<Done, 'job'>> {
  const undo = unit.mark();
  const guest = guestOf(unit);
  try {
    const value = await job.inside(() => job.work(guest.unit));
    if (unit.failure) throw unit.failure;
    return { outcome: { status: 'fulfilled', value }, effects: unit.takeEffects() };
  } catch (reason) {
    if (unit.failure || !undo()) throw reason;
    return { outcome: { status: 'rejected', reason }, effects: [] };
  } finally {
    guest.leave();
  }
}

/** The unit as a job sees it: what its logic still asks for after its end must not count as another's. */
function guestOf(unit: RecordUnit): { unit: UnitOfWork; leave(): void } {
  let gone = false;
  const proxy = new Proxy(unit, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        if (gone) throw new Error('the unit of work has ended');
        return method.apply(target, args);
      };
    },
  });
  return {
    unit: proxy,
    leave: () => {
      gone = true;
    },
  };
}

/** Tells a job what came of it, once its effects are carried out. */
function answer(unit: RecordUnit, job: Job, outcome: PromiseSettledResult<unknown>, effects: Effect[]): void {
  if (outcome.status === 'rejected') return job.reject(outcome.reason);
  if (effects.length === 0) return job.resolve(outcome.value);
  job.inside(() => unit.carryOut(effects)).then(() => job.resolve(outcome.value), job.reject);
}
