import type { Items, Json } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Routes of what logic has done. */
export const runRoutes = {
  /** query: RunsQuery → RunsPage; 400 for a wrong filter */
  runs: { method: 'GET', path: '/runs', needs: ['develop'] },
  /** → RunDetail; 404 for a run that is not kept */
  run: { method: 'GET', path: '/runs/:run', needs: ['develop'] },
  /**
   * CodeTexts of the app that failed → RunAgain; 409 for a run without input, or of a requester who can no longer be acted for;
   * 403 where it must not run in its requester's name, and with `develop` alone for a run with what a visitor has sent
   * (docs/reference/rights.md#in-the-name-of-others); with texts 400, 403 and 413 as for writing them
   */
  runAgain: { method: 'POST', path: '/runs/:run/again', needs: ['develop'] },
} as const satisfies Record<string, AdminRouteEntry>;

/** How a run ended: `done`; `failed`: its logic, layout or definition is broken; `refused`: any other error of a request. */
export const runStates = ['done', 'failed', 'refused'] as const;

export type RunState = (typeof runStates)[number];

/** The functions of one block that ran in a request, in order. */
export interface RunCall {
  app: string;
  block: string;
  functions: string[];
}

export interface RunLogLine {
  app: string;
  block: string | null;
  line: number | null;
  level: string;
  message: string;
}

export interface RunError {
  name: string;
  message: string;
  /** The app that holds the file. */
  app: string;
  file: string;
  line: number | null;
  column: number | null;
  /** The line of the file when it failed, with a caret below the column. */
  excerpt: string | null;
}

/** The rule on events that has caused a run, and the item of its event. */
export interface RunRule {
  /** Document id of the rule. */
  id: string;
  event: RuleEvent;
  /** Uid of the item's content type. */
  contentType: string;
  documentId: string;
  locale: string | null;
  /** Whether the item was the published version, or the only one of a type without drafts. */
  published: boolean;
}

/** The job that has caused a run. */
export interface RunJob {
  id: string;
  kind: JobKind;
  /** The number of the try, from 1. */
  attempt: number;
}

/** The logic of one request in one app, with the blocks that it has shown, saved or deleted. */
export interface RunSummary {
  id: string;
  /** ISO 8601: when it began. */
  at: string;
  site: string;
  app: string;
  /** The first block whose logic ran; null where none did. */
  block: string | null;
  state: RunState;
  calls: RunCall[];
  method: string;
  /** Path and query, without secrets. */
  address: string;
  requester: { identity: string; name: string | null };
  /** Milliseconds. */
  time: number;
  /** Bytes by which the memory of its logic has grown. */
  memory: number;
  hostCalls: number;
  error: RunError | null;
  /**
   * Whether its result is kept for later requests: `kept`, or why it is not (docs/reference/embedding.md#exact-renderings); null for
   * requests whose results never are.
   */
  cache: string | null;
  /** Null for requests, and for calls from code. */
  rule: RunRule | null;
  /** Null where no job has caused it. */
  job: RunJob | null;
  /** Whether it can run again: a failed run of an app in debug mode. */
  hasInput: boolean;
}

/** What a failed run was given, without passwords, tokens and cookies. */
export interface RunInput {
  method: string;
  url: string;
  query: Items;
  form: Items;
  body: Json;
  headers: Record<string, string>;
  contentPath: string;
  /** Of a call from code or a rule on events. */
  call: { block: string; name: string; params: Items } | null;
}

export interface RunDetail extends RunSummary {
  logs: RunLogLine[];
  input: RunInput | null;
  /** Whether log and input are left out, because the administrator may not see records. */
  isHidden?: boolean;
}

export interface RunsQuery {
  site?: string;
  app?: string;
  block?: string;
  state?: RunState;
  /** The identity or the name of a requester; `anonymous`. */
  requester?: string;
  /** Document id of a rule on events. */
  rule?: string;
  /** Id of a job. */
  job?: string;
  /** Cursor of an earlier answer: only runs that ended after it. */
  after?: string;
  /** Cursor of an earlier answer: only runs that ended before those. */
  before?: string;
  /** Default 50, at most 200. */
  limit?: number;
}

export interface RunsPage {
  /** The latest first. */
  runs: RunSummary[];
  /** For `after`: what comes later. Null before the first run. */
  cursor: string | null;
  /** For `before`: the next older runs; null when there are none. */
  older: string | null;
  /** Whether runs are kept in the database, for all server processes; else each has its own. */
  stored: boolean;
}

/** What a run that ran again would have written. */
export interface DryWrites {
  records: { app: string; id: string; before: Items | null; after: Items | null }[];
  mails: { app: string; to: string[]; subject: string; text: string | null }[];
  /** Changes of content; they are refused. */
  content: { type: string; method: string; params: Items }[];
  /** Jobs that logic has added. */
  jobs: {
    app: string;
    kind: JobKind;
    name: string;
    data: Items;
    key: string | null;
    /** ISO 8601; null: at once. */
    dueAt: string | null;
  }[];
}

export interface RunAgain {
  /** In whose name it ran. */
  requester: RunSummary['requester'];
  /** Status of the answer, or 0 where the answer is a value: a call from code. */
  status: number;
  /** The answer's text or value, cut at 100,000 characters. */
  answer: string;
  /** What ran: the runs of the whole request. */
  runs: RunDetail[];
  writes: DryWrites;
}

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

/** Routes of rules on events. */
export const ruleRoutes = {
  /** → Rule[], by name */
  rules: { method: 'GET', path: '/rules', needs: ['read', 'develop'] },
  /** → RuleChoices */
  ruleChoices: { method: 'GET', path: '/rules/choices', needs: ['read', 'develop'] },
  /** query: RuleTarget → string[], the functions of the block's logic; 400 for an unknown app or block */
  ruleFunctions: { method: 'GET', path: '/rules/functions', needs: 'manage' },
  /** RuleInput → 201 Rule; 400 with `details.key` for a wrong value or one that does not exist */
  createRule: { method: 'POST', path: '/rules', needs: 'manage' },
  /** Partial RuleInput → Rule; 400 as above, 404 for an unknown rule */
  updateRule: { method: 'PUT', path: '/rules/:rule', needs: 'manage' },
  /** → `{ success: 'deleted' }`; 404 for an unknown rule */
  deleteRule: { method: 'DELETE', path: '/rules/:rule', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

/** An event of a content item that a rule's function can run on. */
export const ruleEvents = ['create', 'update', 'delete', 'publish', 'unpublish'] as const;

export type RuleEvent = (typeof ruleEvents)[number];

/** The block whose function a rule calls. */
export interface RuleTarget {
  app: string;
  block: string;
}

/** The fields of a rule on events that can be set. */
export interface RuleInput extends RuleTarget {
  /** 1 to 255 characters. */
  name: string;
  enabled: boolean;
  event: RuleEvent;
  /** Uid of a content type of the host, `api::article.article`. */
  contentType: string;
  function: string;
}

export interface Rule extends RuleInput {
  /** Document id of the entry. */
  id: string;
  /** The latest first, 20 at most. */
  failures: RuleFailure[];
  /** Why it cannot run: its app, block or function is missing or broken since it was saved. Only in the list. */
  problem: string | null;
}

/** A failure of a rule's function. */
export interface RuleFailure {
  /** ISO 8601. */
  at: string;
  documentId: string;
  message: string;
}

/** The content types of rules, and the functions that they can call. */
export interface RuleChoices {
  contentTypes: { uid: string; name: string /** Whether its items are published. */; hasDrafts: boolean }[];
  /** Apps of all sites' active themes, each with its blocks that have logic. */
  apps: { id: string; blocks: string[] }[];
}
