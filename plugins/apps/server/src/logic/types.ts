import type { SetupProblem } from '../../../shared/admin-api';
import type { Items, Json } from '../../../shared/json';
import type { ContextChanges, ContextData, LogicCall, LogLevel } from '../../../shared/logic-protocol';
import type { AppsError } from '../common/errors';
import type { LogicUses } from './check';
import type { LogicHost } from './host-functions/table';
import type { RunnerAttempt } from './supervisor/runner-pool';

export type {
  ContentData,
  ContextData,
  CreatorData,
  LogicCall,
  PlacesData,
  RecordData,
  RequestData,
  SavedData,
} from '../../../shared/logic-protocol';
export type { LiteralSearch, LogicUses } from './check';
export type { DocumentAccess } from './documents/access';
export type { Permission } from './host-functions/row';
export type { HostArguments, HostFunctionName, HostResult, HostValue, LogicHost } from './host-functions/table';
export type { RunnerAttempt } from './supervisor/runner-pool';

/** A block's logic with the modules that it may import, at one revision of its app. */
export interface LogicProgram {
  /** Programs with the same revision and path are equal and compiled once. */
  revision: string;
  /** `<site>/<theme>/<app>`: unique name of the app's folder, part of the cache key. */
  scope: string;
  /** Path of the logic file, relative to the app's folder: `blocks/rate.js`. */
  path: string;
  language: 'javascript' | 'typescript' | 'python';
  /** All files of the app's folder that a relative import may reach, by path. */
  files: ReadonlyMap<string, { path: string; text: string /** Why its text is not here. */; problem?: string }>;
}

/** How to save a record. Without a block, a creation or a form uses the record's own. */
export interface SaveRequest {
  block: string | null;
  /** Also computes `COMPUTED_ON_CREATION` elements, and `record_id` for a record that is not stored yet. */
  creation: boolean;
  /** Saves the form fields of the current request. */
  form: boolean;
}

export type LogicOutcome =
  /** `defined` is false when the block has no such function; `value` is null for undefined. */
  { ok: true; defined: boolean; value: Json } | { ok: false; error: AppsError };

export interface LogEntry {
  app: string;
  block: string | null;
  line: number | null;
  message: string;
  /** `info` without it. */
  level?: LogLevel;
}

/** Changes of the response by logic (`context.request.response`). The host validates them against the allow-list. */
export interface ResponseChanges {
  status: number | null;
  headers: Record<string, string>;
  redirect: string | null;
  /** Media type of an element's own answer, if set by logic; other answers ignore it. */
  type?: string;
}

/** A row of an entry of the host's content, as it was read; `updatedAt` in milliseconds since 1970. */
export interface EntryRow {
  table: string;
  id: number;
  documentId: string;
  updatedAt: number;
}

/** A call of `context.api.documents` with checked rights and parameters, before its first database query. */
export interface PreparedCall {
  /** Whether it only reads. */
  reads: boolean;
  /** Checks a right that depends on the document itself, if there is one: NotFoundError when the requester lacks it. */
  check?(): Promise<void>;
  /**
   * Runs the call. A change that was rolled back may run again: the rows that it creates then get the same ids.
   */
  run(): Promise<Json>;
  /** The row of the single entry that the call has read, for `UnitOfWork.noteContent`. */
  row?(): EntryRow | null;
}

/** What logic of a request may use. */
export interface LogicBudget {
  readonly shared: SharedBudget;
  /** How often this request has run again because its runner was lost: the last time it is alone in a runner. */
  readonly losses: number;
}

/** One deadline and one set of counters for all logic of a request, nested blocks and apps included. */
export interface SharedBudget {
  /** The time of `processClock` at which logic must have ended. The runtime moves it when the request must wait. */
  deadline: number;
  /** Milliseconds by which the deadline may still be moved for a request that got no processor (sandbox/src/request-clock.ts). */
  delays: number;
  hostCalls: number;
  /** Those before the counter began again. */
  earlierCalls: number;
  /** Bytes by which the memory of its sessions has grown. */
  memory: number;
  /** Characters of the host calls' arguments. */
  argumentSize: number;
  logEntries: number;
  /** What its host calls have taken of the server's main thread. */
  host: HostUse;
  /** Whether it has changed content of the host: such changes are in a transaction that is rolled back when it stays idle. */
  changesContent: boolean;
  /** Work for which it waits now, and since when there is some: time in which it waits for several counts once. */
  waiting: { count: number; since: number };
  /** Its sessions that are in a host call: their time stands still while the request waits. */
  inCall: Set<PausableSession>;
  /** Calls out of its logic, and their milliseconds together. */
  outside: { calls: number; time: number };
}

/** A session whose runner can stop its time. */
export interface PausableSession {
  pause(): void;
  resume(): void;
}

/** Milliseconds of the server's main thread, shared out by `HostPace` (logic/session/host-answers.ts). */
export interface HostUse {
  /** Of all host calls, since the budget began or was renewed. */
  time: number;
  /** Since the request last had to wait. */
  slice: number;
  /** Whether its next call waits for others. */
  mustWait: boolean;
}

/** A program that is paused because it exceeded its limits repeatedly. */
export interface PausedLogic {
  scope: string;
  path: string;
  /** Seconds until it may run again. */
  seconds: number;
}

/** The logic of one block within one request, in a context that no other request shares. */
export interface LogicSession {
  /** Names of the functions of the block's logic. */
  readonly functions: ReadonlySet<string>;
  /**
   * Names of the inputs that logic has looked at, complete up to the last answer (shared/looked.ts). Only `everything` where
   * there were more than 200, and after a request without an answer.
   */
  readonly looked: ReadonlySet<string>;
  /**
   * Runs functions one after the other with the same `context` object; flushes pending record changes before it returns
   * the outcomes. Rejects for LogicTimeoutError, ServiceUnavailableError and a failed call that is not contained.
   */
  call(calls: LogicCall[]): Promise<LogicOutcome[]>;
  /** JSON-able properties that the logic has set on `context` itself, for the layout. */
  properties(): Promise<Items>;
  /** Replaces parts of `context` from the next call on: the record after a save, the form that is checked. */
  setContext(changes: ContextChanges): void;
  /** Frees the context; safe to call twice. */
  close(): void;
}

/** The supervisor of the runner processes. */
export interface LogicRuntime {
  /** @param attempt the first one, or that of `nextAttempt` */
  budget(attempt?: RunnerAttempt): LogicBudget;
  /**
   * The same budget for logic that runs beside other logic of the request, as the blocks of a page do. Its sessions are not
   * nested in those of the others: each waits for a permit.
   */
  beside(budget: LogicBudget, attempt?: RunnerAttempt): LogicBudget;
  /**
   * Resets the time and the host calls of a budget: in bulk creation they count for each record (docs/limits.md#logic).
   */
  renew(budget: LogicBudget): void;
  /**
   * Runs work out of this server, such as a call of a web service, for logic that waits for it in a host call. Its time does not
   * count for the logic. Such work of one app, and of all, has a part of the isolates only; RateLimitError for what finds
   * none free in time.
   * @param app whose part it is  @param timeout milliseconds that it may wait for its turn
   */
  outside<T>(budget: LogicBudget, app: string, timeout: number, work: () => Promise<T>): Promise<T>;
  /** Loads the block's logic in a new context. LogicError with file, line and column if it does not compile or its top level throws. */
  open(program: LogicProgram, context: ContextData, host: LogicHost, budget: LogicBudget): Promise<LogicSession>;
  /** Why logic cannot run on this machine, with the cure; null when it can. Starts a runner if none has started. */
  setup(): Promise<SetupProblem | null>;
  /** Sessions that have an isolate, and those that wait for one. */
  load(): { held: number; waiting: number };
  /** The programs that are paused, in this process and therefore in all. */
  paused(): Promise<PausedLogic[]>;
  /**
   * The error of loading the program, which compiles it and runs its top level once; null without one. Another error when
   * the result is unknown at `deadline`, by `performance.now()`, or when there is no sandbox.
   */
  problem(program: LogicProgram, deadline: number): Promise<AppsError | null>;
  /**
   * Members of `context` that do not exist, and searches with literal texts, in a logic file; nothing is run.
   * @param functions names of the functions that the server calls
   */
  uses(program: LogicProgram, functions: readonly string[]): Promise<LogicUses>;
  /** Ends the runner processes. */
  destroy(): Promise<void>;
}
