import { AsyncLocalStorage } from 'node:async_hooks';
import { AppsError, isAppsError } from '../../common/errors';
import type { KeyedMutex } from '../../common/time/mutex';
import { type Dialect, type HostDatabase, isUnavailable } from '../../database';
import { type Indexes, IndexMissing } from '../../indexes';
import type { Commits } from '../commits/commits';
import { CollisionError } from '../commits/log';
import { hashOf } from '../table/ids';
import type { RecordStore, StoredRecord, UnitOfWork } from '../types';
import type { Part } from './commit';
import { notBuilt } from './entries';
import { isRecordKey } from './reads';
import { type Effect, SharedUnit } from './shared-unit';
import { UnitView } from './unit-view';

/** What all units of work of a store have in common. */
export interface UnitTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
  mutex: KeyedMutex;
  commits: Commits;
  /** Commits a unit that changes records alone. */
  commit(part: Part): Promise<void>;
  /** Reads a record by its hash outside any transaction, batched with concurrent reads. */
  loadRecord(hash: string): Promise<StoredRecord | undefined>;
  /** Receives the error of an effect that failed after the commit. */
  onError(error: unknown): void;
}

/**
 * Attempts of a unit without locks in the database. Later collisions are with other processes, because units of this one
 * wait for the mutex. The unit then locks the records in the database too, so that even the slowest is committed.
 */
const UNLOCKED_ATTEMPTS = 3;

/** Makes `RecordStore.transact`, which runs a work up to `maxAttempts` times. */
export function createTransact(tools: UnitTools, maxAttempts: number): RecordStore['transact'] {
  const groups = createGroups(tools.mutex, (own) => new SharedUnit(tools, own));

  /** Runs a work in a separate unit, with the records locked in this process. Rejects with the reason when it is not committed. */
  const alone = async <T>(
    work: (unit: UnitOfWork) => Promise<T>,
    keys: ReadonlySet<string>,
    locked: boolean,
  ): Promise<T> => {
    const free = keys.size > 0 ? await tools.mutex.lock(keys) : nothing;
    const unit = new SharedUnit(tools, keys);
    let effects: Effect[];
    let result: Awaited<ReturnType<typeof work>>;
    try {
      if (locked) await unit.hold(keys);
      result = await work(new UnitView(unit));
      effects = unit.takeEffects();
      await unit.commit();
    } catch (error) {
      const failure = unit.failure ?? error;
      await unit.rollback();
      throw failure;
    } finally {
      free();
    }
    // After unlocking, because an effect may lock the records.
    if (effects.length > 0) await unit.carryOut(effects);
    return result;
  };

  return async (work, about) => {
    // A work in the caller's transaction cannot run again: only the caller may roll it back.
    const nested = tools.database.current() !== undefined;
    const keys = new Set<string>(about && !nested ? [hashOf(about.key, about.id)] : []);
    let joined = nested;
    for (let attempt = 1; attempt <= (nested ? 1 : maxAttempts); attempt++) {
      const [key] = keys;
      const join = !joined && keys.size === 1 && [...keys].every(isRecordKey);
      joined ||= join;
      try {
        if (join && key !== undefined) return await groups.join(key, work);
        return await alone(work, keys, attempt > UNLOCKED_ATTEMPTS && keys.size > 0);
      } catch (failure) {
        if (nested && failure instanceof IndexMissing) throw notBuilt(failure);
        await beforeNext(failure, keys, attempt);
      }
    }
    throw new AppsError('ConflictError', 'Others are changing the same records, try again', {
      headers: { 'Retry-After': '1' },
    });
  };
}

const nothing = (): void => {};

/** Prepares the next attempt after a failure that may not recur; rethrows any other. */
async function beforeNext(failure: unknown, keys: Set<string>, attempt: number): Promise<void> {
  if (failure instanceof IndexMissing) return failure.build();
  if (!(failure instanceof CollisionError)) throw failure;
  for (const key of failure.keys) keys.add(key);
  // After the first collision, waiting for the mutex is enough; later ones are with another process.
  if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
}

/** Works of a group, and milliseconds that its first one waits, before the group is committed. */
const MAX_WORKS = 100;
const MAX_WAIT = 20;
/** Runs of a work in groups; after that many collisions with other processes it must lock the record. */
const MAX_TRIES = 3;
/** Milliseconds after which an unavailable database is not asked again for each waiting work. */
const GIVE_UP_AFTER = 1_000;

type Work<T> = (unit: UnitOfWork) => Promise<T>;

interface Job {
  work: Work<unknown>;
  tries: number;
  /** Runs a function in the asynchronous context of the work's caller. */
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

/** Groups of works on the same record. */
export interface Groups {
  /**
   * Runs a work when the record is unlocked, and commits it together with those that have arrived meanwhile. Each sees
   * the writes of those before it; a work that fails is undone. Rejects with a CollisionError when it must run again,
   * alone.
   * @param key the record's hash
   */
  join<T>(key: string, work: Work<T>): Promise<T>;
}

/**
 * Group commit: concurrent works on one record need one transaction together. See docs/decisions/storage-collisions.md.
 */
export function createGroups(mutex: KeyedMutex, newUnit: (own: ReadonlySet<string>) => SharedUnit): Groups {
  const outside = AsyncLocalStorage.snapshot();
  const waiting = new Map<string, Job[]>();

  const serve = async (key: string, jobs: Job[]): Promise<void> => {
    while (jobs.length > 0) {
      const free = await mutex.lock([key]);
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

/** Takes jobs off the queue, runs them in the unit and commits it. Never rejects: it settles the jobs. */
async function runGroup(unit: SharedUnit, key: string, jobs: Job[]): Promise<void> {
  const taken: Job[] = [];
  const done: Done[] = [];
  const began = performance.now();
  const isFull = () => done.length >= MAX_WORKS || (done.length > 0 && performance.now() - began > MAX_WAIT);
  try {
    // A transaction that a job has opened ends with that job.
    while (!unit.hasOpened && !isFull()) {
      const job = jobs.shift();
      if (!job) break;
      job.tries += 1;
      taken.push(job);
      const { outcome, effects } = await runJob(unit, job);
      if (outcome.status === 'rejected' && isFinal(outcome.reason, began)) throw outcome.reason;
      done.push({ job, outcome, effects });
    }
    await unit.commit();
  } catch (error) {
    const uncertain = unit.hasEnded && !unit.failure;
    const reason = unit.failure ?? error;
    await unit.rollback();
    const waiting = isFinal(reason, began) ? jobs.splice(0) : [];
    for (const job of waiting) job.reject(reason);
    refuse(taken, jobs, key, reason, uncertain || waiting.length > 0);
    return;
  }
  for (const { job, outcome, effects } of done) answer(unit, job, outcome, effects);
}

/** Whether the database is lost. Any other 503 is that of one work. */
function isFinal(reason: unknown, began: number): boolean {
  const isLost = isAppsError(reason, 'ServiceUnavailableError') && isUnavailable(reason);
  return isLost && performance.now() - began > GIVE_UP_AFTER;
}

/**
 * Settles a group that was not committed. A single job is rejected with the reason. Several jobs run again, because only
 * one may have caused it, unless the reason is final, or COMMIT itself has failed.
 */
function refuse(taken: readonly Job[], jobs: Job[], key: string, reason: unknown, final: boolean): void {
  const collided = reason instanceof CollisionError;
  const again = (job: Job) => collided && !final && taken.length > 1 && job.tries < MAX_TRIES;
  const rejection = final || collided || taken.length === 1 ? reason : new CollisionError([key], reason);
  for (const job of taken) if (!again(job)) job.reject(rejection);
  jobs.unshift(...taken.filter(again));
}

/** Runs a job in the unit, and undoes it when it fails. Rejects when it cannot be undone. */
async function runJob(unit: SharedUnit, job: Job): Promise<Omit<Done, 'job'>> {
  const undo = unit.mark();
  const own = new UnitView(unit);
  try {
    const value = await job.inside(() => job.work(own));
    await own.end();
    if (unit.failure) throw unit.failure;
    return { outcome: { status: 'fulfilled', value }, effects: unit.takeEffects() };
  } catch (reason) {
    // A call that is still running would otherwise be carried out after it was undone.
    await own.end();
    if (unit.failure || !undo()) throw reason;
    return { outcome: { status: 'rejected', reason }, effects: [] };
  }
}

/** Settles a job after its effects have run. */
function answer(unit: SharedUnit, job: Job, outcome: PromiseSettledResult<unknown>, effects: Effect[]): void {
  if (outcome.status === 'rejected') return job.reject(outcome.reason);
  if (effects.length === 0) return job.resolve(outcome.value);
  job.inside(() => unit.carryOut(effects)).then(() => job.resolve(outcome.value), job.reject);
}
