import type { Items, Json } from '../../../shared/json';
import type { AppsError } from '../errors';

/** A block's logic with the modules it may import, at one revision of its app. */
export interface LogicProgram {
  /** Same revision and same path: same program; compiled once. */
  revision: string;
  /** `<site>/<theme>/<app>`: unique name of the app's folder, part of the cache key. */
  scope: string;
  /** Path of the logic file, relative to the app's folder: `blocks/rate.js`. */
  path: string;
  language: 'javascript' | 'typescript' | 'python';
  /** All files of the app's folder that a relative import may reach, by path. */
  files: ReadonlyMap<string, { path: string; text: string /** Why its text is not here. */; problem?: string }>;
}

/** The plain data of which the sandbox makes the `context` object (contract, section 8). All of it is JSON. */
export interface ContextData {
  app: { id: string; url: string; settings: Items; blocks: { id: string; url: string }[]; indexes: string[] };
  block: { id: string; url: string } | null;
  record: RecordData | null;
  request: RequestData;
  parent_request: RequestData | null;
  portal: { id: string; title: string; url: string; theme: string; locale: string | null };
  content: ContentData;
  user: Items | null;
  params: Items;
  acl: {
    username: string | null;
    groups: string[];
    rights: string[];
    /** All roles of the app. */
    roles: string[];
    /** Those that name the requester. */
    held: string[];
    manager: boolean;
  };
}

/** A record as the sandbox holds it: its own copy of the items, written back through the bridge. */
export interface RecordData {
  id: string;
  url: string;
  items: Items;
}

/** How a record is saved. Without a block, a creation and a form are saved with the record's own. */
export interface SaveRequest {
  block: string | null;
  /** `COMPUTED_ON_CREATION` elements are computed too, and `record_id` names a record that is not stored yet. */
  creation: boolean;
  /** Takes the fields that the current request has sent in its form. */
  form: boolean;
}

export interface SavedData {
  record: RecordData;
  /** Whether a block was involved, and what its `on_save` returned. */
  ran: boolean;
  returned: Json;
}

export interface ContentData {
  type: string;
  id: string;
  documentId: string | null;
  title: string;
  /** Null for an item in a locale that no site has. */
  url: string | null;
  path: string;
  /** Null for items of types that are not localized. */
  locale: string | null;
  fields: Items;
}

export interface RequestData {
  method: string;
  url: string;
  path: string;
  /** Parsed query string; repeated names are lists. */
  query: Items;
  /** Submitted form fields; repeated names are lists; `_csrf` left out. */
  form: Items;
  /** Parsed JSON body, or null. */
  body: Json;
  /** Without credentials (`authorization`, `cookie`, `x-csrf-token`). */
  headers: Record<string, string>;
}

/** One function to run; `contained`: its failure is an outcome, not an end of the batch. */
export interface LogicCall {
  name: string;
  contained: boolean;
}

export type LogicOutcome =
  /** `defined` is false when the block has no such function; `value` is null for undefined. */
  { ok: true; defined: boolean; value: Json } | { ok: false; error: AppsError };

export interface LogEntry {
  app: string;
  block: string | null;
  line: number | null;
  message: string;
}

/** What a response was told to be by logic (`context.request.response`). Validated against the allow-list by the host. */
export interface ResponseChanges {
  status: number | null;
  headers: Record<string, string>;
  redirect: string | null;
  /** Media type of an element's own answer, if logic has chosen one; anything else that is answered has its own. */
  type?: string;
}

/**
 * What logic may ask of the server, implemented by apps/ for one run of one block and called by the table of host
 * functions in logic/. Every method may throw AppsError; only its name and message reach the logic.
 * `app` is null for the run's own app, or the id given to `get_app`.
 */
export interface LogicHost {
  getRecord(app: string | null, id: string): Promise<RecordData | null>;
  createRecord(app: string | null, id: string | null): Promise<RecordData>;
  /** @param onDelete whether the `on_delete` of the record's block runs before */
  deleteRecord(app: string | null, id: string, onDelete: boolean): Promise<boolean>;
  /** Applies items set, unset or incremented on a record; returns the record as it now is. */
  changeRecord(
    app: string | null,
    id: string,
    change: { set?: Items; unset?: string[]; inc?: Record<string, number> },
  ): Promise<RecordData>;
  /** `record.save(items, {block_id, creation})`: with a block, its computed elements and `on_save` run. */
  saveRecord(app: string | null, id: string, options: SaveRequest): Promise<SavedData>;
  reindexRecord(app: string | null, id: string): Promise<null>;
  displayRecord(app: string | null, id: string, edit: boolean): Promise<string>;
  /** The elements that a block declares, each a mapping with `type`. */
  blockElements(app: string | null, id: string): Promise<Items>;
  displayBlock(app: string | null, id: string, record: string | null, edit: boolean): Promise<string>;
  /** Builds the app's indexes again, after the request; their names. */
  refresh(app: string | null, rebuild: boolean): Promise<string[]>;
  records(
    app: string | null,
    options: { limit?: number; cursor?: string },
  ): Promise<{ records: RecordData[]; cursor: string | null }>;
  count(app: string | null, query: string | null, names: Items | null): Promise<number>;
  search(
    app: string | null,
    query: string,
    options: { sort_index?: string; reverse?: boolean; limit?: number; offset?: number; names?: Items },
  ): Promise<RecordData[]>;
  /** Data of another app, or null if there is none. */
  openApp(app: string): Promise<(ContextData['app'] & { acl: ContextData['acl'] }) | null>;
  portalGet(path: string): Promise<ContentData | null>;
  contentUpdate(data: Items): Promise<ContentData>;
  /** `type`: a content type's uid or name. */
  contentFind(
    type: string,
    filters: Items,
    order: { sort: string | null; limit: number | null },
  ): Promise<ContentData[]>;
  /** A draft, where the type has drafts. `id`: the item's name in its address. */
  contentCreate(type: string, id: string | null, data: Items): Promise<ContentData>;
  contentTransition(type: string, documentId: string, transition: string): Promise<null>;
  /** `context.api.documents(uid).<method>(params)` with the requester's permissions. */
  documents(uid: string, method: string, params: Items): Promise<Json>;
  log(entry: LogEntry): void;
  /** Response changes asked for by logic; throws BadRequestError for a redirect or header that is not allowed. */
  respond(changes: Partial<ResponseChanges>): void;
}

/** A call of `context.api.documents` whose rights and parameters are checked, and that has not asked the database for anything yet. */
export interface PreparedCall {
  /** Whether it changes nothing. */
  reads: boolean;
  /** A right that depends on the document itself, where there is one: NotFoundError when the requester lacks it. */
  check?(): Promise<void>;
  /**
   * Carries the call out. A change that was rolled back may be carried out again: what it creates gets the ids that it had
   * the first time.
   */
  run(): Promise<Json>;
}

/** One deadline and one set of counters for all logic of a request, nested blocks and apps included. */
export interface LogicBudget {
  /** `performance.now()` at which logic must have ended. Moved by the runtime when it has to start a runner first. */
  deadline: number;
  hostCalls: number;
  /** Characters of the host calls' arguments. */
  argumentSize: number;
  logEntries: number;
  /** How often this request has been run again because its runner was lost: at the last time it gets one of its own. */
  losses: number;
}

/** A program that is not run for a while, because it went over its limits again and again. */
export interface PausedLogic {
  scope: string;
  path: string;
  /** Until it is tried again. */
  seconds: number;
}

/** The logic of one block within one request, in a context of its own that no other request sees. */
export interface LogicSession {
  /** Names of the functions that the block's logic offers. */
  readonly functions: ReadonlySet<string>;
  /**
   * Runs functions one after the other with the same `context` object; pending record changes are written back before
   * the outcomes are given. LogicTimeoutError, ServiceUnavailableError and a failed call that is not contained reject.
   */
  call(calls: LogicCall[]): Promise<LogicOutcome[]>;
  /** JSON-able properties that the logic has set on `context` itself, for the layout. */
  properties(): Promise<Items>;
  /** Tells the sandbox that `context.record` is now this one (after a save, before on_save). */
  setRecord(record: RecordData | null): void;
  /** Frees the context; safe to call twice. */
  close(): void;
}

/** Front of the room: the supervisor of the runner processes. */
export interface LogicRuntime {
  /** `losses`: see LogicBudget; a request may be run again as long as it is less than `mostLosses`. */
  budget(losses?: number): LogicBudget;
  /** Gives a budget its whole time and all host calls again: in bulk creation they count for each record (contract, section 8). */
  renew(budget: LogicBudget): void;
  /** Loads the block's logic in a fresh context. LogicError with file, line and column if it does not compile or its top level throws. */
  open(program: LogicProgram, context: ContextData, host: LogicHost, budget: LogicBudget): Promise<LogicSession>;
  /** What is paused now. */
  paused(): PausedLogic[];
  /**
   * What keeps the program from being loaded: it is compiled, and its top level runs once. Null if nothing does.
   * An error that says so when this is not known at `deadline`, by `performance.now()`, or without a sandbox.
   */
  problem(program: LogicProgram, deadline: number): Promise<AppsError | null>;
  /** Ends the runner processes. */
  destroy(): Promise<void>;
}
