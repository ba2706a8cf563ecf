import type { Items } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Routes of jobs, what apps have still to do, are doing or have done; and of the schedules that make jobs. */
export const jobRoutes = {
  /** query: JobsQuery → JobsPage; 400 for a wrong filter */
  jobs: { method: 'GET', path: '/jobs', needs: ['jobs'] },
  /** → JobDetail; 404 for a job that is not kept */
  job: { method: 'GET', path: '/jobs/:job', needs: ['jobs'] },
  /** → JobsRetried; 404 as above, 409 for a job that runs, or whose key another job holds */
  retryJob: { method: 'POST', path: '/jobs/:job/retry', needs: ['jobs'] },
  /** DeadJobs → JobsRetried; 400 without a kind */
  retryDeadJobs: { method: 'POST', path: '/jobs/retry', needs: ['jobs'] },
  /** → `{ success: 'deleted' }`; 404 as above, 409 for a job that runs */
  deleteJob: { method: 'DELETE', path: '/jobs/:job', needs: ['jobs'] },
  /** → ScheduleSummary[], by site, app and block */
  schedules: { method: 'GET', path: '/schedules', needs: ['jobs'] },
  /** ScheduleTarget → `{ job }`, the id of the job that calls the function at once; 404 for an unknown schedule */
  runSchedule: { method: 'POST', path: '/schedules/run', needs: ['jobs'] },
} as const satisfies Record<string, AdminRouteEntry>;

/** What a job does. */
export const jobKinds = ['function', 'rule', 'schedule', 'webhook', 'fetch', 'mail', 'keep'] as const;

export type JobKind = (typeof jobKinds)[number];

/** What has become of a job: `failed` waits for its next try, `dead` is given up until somebody runs it again. */
export const jobViews = ['waiting', 'running', 'failed', 'dead', 'done'] as const;

export type JobView = (typeof jobViews)[number];

/** A job in a list. Times are ISO 8601. */
export interface JobSummary {
  id: string;
  site: string;
  app: string;
  kind: JobKind;
  /** `<block>/<function>`, the name of a rule or webhook, a host. */
  name: string;
  view: JobView;
  /** Tries so far. */
  attempts: number;
  /** Identity whose rights it has; '' for anonymous. */
  requester: string;
  /** The key that makes it once. */
  key: string | null;
  storedAt: string;
  /** Before which it does not run. */
  dueAt: string;
  /** Of the last try, and how long it took in milliseconds where it has ended. */
  startedAt: string | null;
  time: number | null;
  endedAt: string | null;
  /** Status and reason of the last try. */
  status: number | null;
  error: string | null;
}

export interface JobDetail extends JobSummary {
  /** What it was given, without values whose names say that they are secret. */
  data: Items;
  /** The first 1,000 characters of another server's answer. */
  answer: string | null;
}

export interface JobsQuery {
  view?: JobView;
  kind?: JobKind;
  site?: string;
  app?: string;
  name?: string;
  /** Cursor of an earlier answer: only older jobs. */
  before?: string;
}

export interface JobsPage {
  /** The latest first, at most 50. */
  jobs: JobSummary[];
  /** For `before`: the next older jobs; null when there are none. */
  older: string | null;
  /** How many jobs of the sites and apps that are meant are not done. */
  counts: Record<Exclude<JobView, 'done'>, number>;
}

/** Which dead jobs run again. */
export interface DeadJobs {
  kind: JobKind;
  site?: string;
  app?: string;
}

export interface JobsRetried {
  /** How many jobs run again. */
  retried: number;
}

/** A function that the clock calls. */
export interface ScheduleTarget {
  site: string;
  app: string;
  block: string;
  function: string;
}

/** A schedule of a definition (docs/reference/definitions.md#schedules). */
export interface ScheduleSummary extends ScheduleTarget {
  cron: string;
  /** What `cron` says, in English. */
  words: string;
  timeZone: string;
  /** What becomes of ticks that no process has seen: `skip`, `once`, `all`. */
  missed: string;
  /** ISO 8601; null: there is no further one. */
  next: string | null;
  /** The last tick and its job, whose state is null where it has been deleted. */
  last: { tick: string; job: string; state: 'waiting' | 'running' | 'done' | 'dead' | null } | null;
}
