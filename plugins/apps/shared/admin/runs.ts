import type { Items, Json } from '../json';
import type { JobKind } from './jobs';
import type { AdminRouteEntry } from './permissions';
import type { RuleEvent } from './rules';

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
