import type { Missed } from '../apps/types';
import type { Ticks } from '../common/time/cron';
import type { JobKind, JobState } from '../jobs/types';
import type { AppKey } from '../records/types';

/** A schedule of a block, in one site. */
export interface DeclaredSchedule {
  /** What its jobs do: call a function, or remove records whose time is over. */
  kind: Extract<JobKind, 'schedule' | 'keep'>;
  /** Names it in the database: of its site, app, block, function, cron text and time zone. */
  id: string;
  key: AppKey;
  block: string;
  function: string;
  cron: string;
  /** The definition's, else the site's, else the server's. */
  timeZone: string;
  missed: Missed;
  ticks: Ticks;
}

/** How far a schedule has come. Times are milliseconds since the epoch. */
export interface ScheduleProgress {
  /** The last tick that was looked at, or the time from which on there are ticks. */
  position: number;
  /** Ranges, by their ends: all ticks from the first to the second time have been stored as jobs. */
  ran: readonly (readonly [from: number, to: number])[];
}

/** A schedule, as people see it. */
export interface ListedSchedule {
  site: string;
  app: string;
  block: string;
  function: string;
  cron: string;
  timeZone: string;
  /** `At 06:00, Monday through Friday, Europe/Paris`. */
  words: string;
  missed: Missed;
  /** ISO 8601; null: there is no further one. */
  next: string | null;
  /** The last tick that was stored as a job. The job's state is null when the job has been deleted. */
  last: { tick: string; job: string; state: JobState | null } | null;
}

/** Functions that are called by the clock (docs/decisions/schedules.md). */
export interface Schedules {
  /** Those of all sites, by site, app and block. */
  list(): Promise<ListedSchedule[]>;
  /**
   * Stores a job that calls the function of a schedule at once; while one that was stored so waits or runs, it is that one.
   * NotFoundError when the block has no schedule of the function. @returns the job's id
   */
  runNow(target: { site: string; app: string; block: string; function: string }): Promise<string>;
  /** Stores the jobs of all ticks that have come. @returns their number */
  tick(): Promise<number>;
  /** Forgets how far the schedules have come: each begins again. For tests of apps. */
  forget(): Promise<void>;
  /** Begins to store the jobs of ticks as they come. */
  start(): void;
  destroy(): Promise<void>;
}
