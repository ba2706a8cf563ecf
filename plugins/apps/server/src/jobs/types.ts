import type { JobKind } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import type { AppKey, CommitWrite, UnitOfWork } from '../records/types';

/** Each kind has a handler. */
export type { JobKind };

/**
 * `waiting`: to be done, at once or later; `running`: a process has it, until its lease ends; `done`; `dead`: given up, with
 * its reason, until somebody runs it again.
 */
export type JobState = 'waiting' | 'running' | 'done' | 'dead';

/** A job before it is stored. */
export interface NewJob {
  key: AppKey;
  kind: JobKind;
  /** What it is, for people: `<block>/<function>`, the name of a rule or webhook, a host. At most 255 characters. */
  name: string;
  /** What the handler of its kind needs. */
  data: Items;
  /** Whose rights it has when it runs, as of `authorityOf`: '' for anonymous, `user:<documentId>`, `admin:<id>/token:<id>`. */
  requester: string;
  /** At most one job of the app with this key waits or runs. */
  jobKey: string | null;
  /**
   * Jobs of one app with the same text run one after the other, in the order in which they were stored. One that has failed
   * holds back those with its name only.
   */
  sequence: string | null;
  /** Milliseconds since the epoch before which it does not run; null: at once. */
  dueAt: number | null;
}

/** A stored job, as its handler gets it. */
export interface Job extends NewJob {
  id: string;
  dueAt: number;
  /** The number of this try, from 1. */
  attempts: number;
  /** Whether an earlier try has found that its function was not there. */
  wasMissing: boolean;
  /** Milliseconds since the epoch. */
  storedAt: number;
}

/** A stored job, as people see it. Times are milliseconds since the epoch. */
export interface ListedJob extends Job {
  state: JobState;
  startedAt: number | null;
  endedAt: number | null;
  status: number | null;
  answer: string | null;
  error: string | null;
}

/** A try of a job. */
export interface JobAttempt {
  job: Job;
  /** The same object for jobs that were claimed together; they begin within a tenth of a second. */
  claim: object;
  /** Aborts when another process may have the job, when it takes too long, and when the process ends. */
  signal: AbortSignal;
  /**
   * Marks the job as done in the transaction of its work (`UnitOfWork.atCommit`): both are stored or neither is. Rejects when
   * the lease has been lost, so that nothing of a late try is stored.
   */
  settle: CommitWrite;
  /**
   * Ends the try before its handler does: the job is done (null), or waits until a moment. For a handler that must look once more
   * after that, or goes on later.
   * @param data what the next try gets in place of the job's
   */
  end(dueAt: number | null, data?: Items): Promise<void>;
}

/** What a job has brought, shown in the admin panel: the status and the beginning of an answer of another server. */
export interface JobOutcome {
  status: number | null;
  answer: string | null;
}

/** Does a job. It is tried again when it rejects; with a JobFailure, as that says. */
export type JobHandler = (attempt: JobAttempt) => Promise<JobOutcome>;

/** Which jobs are meant; a key that is left out excludes none. */
export interface JobFilter {
  site?: string | undefined;
  app?: string | undefined;
  kind?: JobKind | undefined;
  name?: string | undefined;
  state?: JobState | undefined;
  /** Whether its last try has failed. */
  hasFailed?: boolean | undefined;
}

/** A part of a list of jobs. */
export interface JobPage {
  /** The latest first. */
  jobs: ListedJob[];
  /** The `before` of the next older part; null: there are none. */
  older: string | null;
}

/** How many jobs of a kind an app has in a state. */
export interface JobCount {
  site: string;
  app: string;
  kind: JobKind;
  state: JobState;
  jobs: number;
}

/** Effects of requests, in the host's database: written with the request's records, done after its commit (docs/decisions/jobs.md). */
export interface Jobs {
  /**
   * Adds a job to a unit of work: it is stored when the unit commits, or not at all. RateLimitError when too many jobs of the app wait.
   * @returns the id; with a key that a waiting or running job of the app has, the id of that job
   */
  add(unit: UnitOfWork, job: NewJob): Promise<string>;
  /** Stores jobs in the transaction that the caller is in, or at once. A job whose key is held is left out. @returns the ids, of existing jobs too */
  insert(jobs: readonly NewJob[]): Promise<string[]>;
  /**
   * Stores jobs in a transaction of records, whose caller calls `wake` after the commit; however many wait already. A job whose
   * key is held is left out.
   */
  writes(jobs: readonly NewJob[]): CommitWrite;
  /**
   * Has a job with a key run soon, in the unit's transaction or at once: a new one, or the one that holds the key, which then does not
   * end before the transaction does.
   */
  ensure(job: NewJob & { jobKey: string }, unit: UnitOfWork | null): Promise<void>;
  /** Stores a job that is given up already, so that people can have it run again. */
  bury(job: NewJob, reason: string): Promise<void>;
  /** Takes back jobs that were stored in the transaction that the caller is in. */
  withdraw(ids: readonly string[]): Promise<void>;
  /** Begins soon with what is due: for jobs that other code has stored. */
  wake(keys: readonly AppKey[]): void;
  /** @param isSlow such jobs take no worker from others, but wait among themselves */
  handle(kind: JobKind, handler: JobHandler, isSlow?: boolean): void;
  /** @param part `before`: the id of a job, of which only those stored earlier are listed */
  list(filter: JobFilter, part: { before?: string | undefined; limit: number }): Promise<JobPage>;
  counts(filter?: JobFilter): Promise<JobCount[]>;
  find(id: string): Promise<ListedJob | null>;
  /** Has jobs run again at once, with all their tries: dead ones, those that wait for a next try, and a done one that is named by its id. @returns their number */
  retry(which: { id: string } | { dead: JobFilter }): Promise<number>;
  /** Deletes a job that does not run. @returns false when there is none, or when it runs */
  delete(id: string): Promise<boolean>;
  /** Does everything that is due, in this process and before it resolves: for tests. @returns the tries that were made, those that send mails left out. Error after 2,000 of them */
  runDue(): Promise<number>;
  /** Whether this process does jobs: not by its configuration, or not since its last look at the queue has failed. */
  health(): 'off' | 'ok' | 'failing';
  /** How many jobs are to be done or given up, and when the next is due, in milliseconds since the epoch. */
  queued(): Promise<{ counts: JobCount[]; nextDue: number | null }>;
  /** Begins to do jobs in this process. */
  start(): void;
  /** Ends what runs, or gives it back for others. */
  destroy(): Promise<void>;
}
