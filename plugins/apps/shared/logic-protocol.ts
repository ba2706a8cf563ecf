import type { Items, Json } from './json';

/**
 * Messages between the server and a runner process, on a pipe of frames (`shared/frames.ts`). To the runner: frames
 * `reply`, each the data of one message of this type, and `messages`, a JSON list of others, in the order in which they were
 * made. From the runner, which the server does not trust: one
 * frame for each message (`sandbox/src/connection.ts`). `data` is always JSON text that the runner passes on unread: server
 * and prelude agree on its content (`PreludeRequest` and the types below it).
 */

/** A compiled program: the entry first; scripts that define modules, or unchanged files of Python. */
export interface WireProgram {
  language: 'javascript' | 'python';
  /** Unique for scope, revision and path. */
  key: string;
  modules: { path: string; code: string }[];
  /** Whether its code seems to change built-ins or globals: each session has a context of its own. */
  changesBuiltIns?: boolean;
}

/** Given to a runner as its only argument, as JSON. */
/** Package managers, of npm and Yarn by what their releases need. */
export type PackageManager = 'npm' | 'npm-12' | 'pnpm' | 'yarn-1' | 'yarn' | 'bun';

export interface RunnerOptions {
  /** Isolates kept for sessions that are not nested. */
  isolates: number;
  /** Megabytes an isolate may use. */
  memory: number;
  /** Languages to prepare for at the start. */
  languages: WireProgram['language'][];
  /** Characters that one message of a sandbox may have: an answer, or the arguments of host calls. */
  messageSize: number;
  /** The host's, for the command that repairs the sandbox. */
  packageManager: PackageManager;
  /** Serves one session only, which is to blame for every failure. */
  alone: boolean;
  /**
   * Sessions of a program in an isolate after which further ones share a context (docs/decisions/reused-contexts.md); null: each has its
   * own, as on an engine that was not audited.
   */
  reuseAfter: number | null;
}

export type ToRunner =
  /** `source` is left out when the runner is thought to know the program. */
  | ({ type: 'open'; session: number; program: string; source?: WireProgram; data: string } & RequestTime)
  | ({ type: 'call'; session: number; data: string } & RequestTime)
  /** Answers a host call. */
  | { type: 'reply'; session: number; data: string }
  /** The time of the session's request stands still, while the server waits for others; and goes on. */
  | { type: 'pause'; session: number }
  | { type: 'resume'; session: number }
  /** Ends the session in any state; no answer is expected. */
  | { type: 'stop'; session: number }
  /** Frees an idle session. */
  | { type: 'close'; session: number }
  /** Asks for a `pong`. */
  | { type: 'ping' };

/** Milliseconds to the deadline, and to the latest one if the request is delayed by others that use the processors. */
export interface RequestTime {
  remaining: number;
  latest: number;
}

/**
 * Why a session ended in the sandbox: over its time, over its memory, the sessions of the runner are over theirs together
 * and this one may be to blame, an answer or a host call is larger than a message may be, the runner does not know the
 * program (send it), the script engine refused the program (`message`), logic may have failed because its context is a reused one,
 * so that its request runs again with a fresh one, or the sandbox broke in another way.
 */
export type FailureReason = 'time' | 'memory' | 'crowded' | 'size' | 'unknown-program' | 'program' | 'again' | 'broken';

export type FromRunner =
  /** The runner has started and reads messages. */
  | { type: 'ready' }
  /** Answer to `ping`. */
  | { type: 'pong' }
  /** Host calls of logic. */
  | { type: 'host'; session: number; data: string }
  /** The request was delayed: its time is over in so many milliseconds, later than the server has said. */
  | { type: 'delayed'; session: number; time: number }
  /** Before each `done`: the bytes by which the memory of the session's isolate has grown since its program was loaded. */
  | { type: 'used'; session: number; bytes: number }
  /** Answer to `open` or `call`. */
  | { type: 'done'; session: number; data: string }
  | { type: 'failed'; session: number; reason: FailureReason; message: string }
  /**
   * An isolate can no longer be ended, or the memory of ended sessions is not released: open no new session in this runner
   * and kill it when its other sessions are over.
   */
  | { type: 'unhealthy' }
  /** The runner cannot work at all, and ends. */
  | { type: 'unavailable'; message: string };

/** The server's requests to the prelude, as JSON text in `open` and `call` messages. */
export type PreludeRequest =
  /**
   * Evaluates the module `entry`, makes the `context` object, and runs the functions of `calls`. `now`: the present, in
   * milliseconds since 1970, which stands still; only tests of apps set it (docs/reference/app-tests.md#the-clock).
   */
  | { op: 'open'; entry: string; context: ContextData; limits: PreludeLimits; calls?: LogicCall[]; now?: number }
  /** Runs functions. */
  | ({ op: 'call'; calls: LogicCall[] } & ContextChanges)
  /** The custom properties of `context`. */
  | ({ op: 'properties' } & ContextChanges);

/** Parts of `context` that are replaced before a request is carried out. */
export type ContextChanges = Partial<Pick<ContextData, 'record' | 'request'>>;

export interface PreludeLimits {
  /** Bytes of a function's result as JSON. */
  resultSize: number;
  /** Characters of one message to the server. */
  messageSize: number;
  /** Characters of one log message. */
  logEntrySize: number;
}

/**
 * The prelude's answer. `error` instead of a value: the whole operation failed. `looked`: names of the inputs that logic has
 * looked at since the last answer (`looked.ts`); left out when there are none.
 */
export type PreludeAnswer<Value> = ({ value: Value } | { error: WireError }) & { looked?: string[] };

export interface OpenValue {
  /** Names of the functions that the program offers. */
  functions: string[];
  /** Of the calls that came with `open`. */
  outcomes: CallValue;
}

export type CallValue = ({ defined: boolean; value: Json } | { error: WireError })[];

/** A thrown value as text, from own data properties only. */
export interface WireError {
  name: string;
  message: string;
  /** Frames of the engine; the server finds the theme's file and line in it. */
  stack: string;
  /** Set when the value thrown is the error of a host call: its number in the session. */
  host?: number;
}

/** Host calls, as JSON text: names and arguments of the table of host functions. */
export type HostCalls = [name: string, args: Items][];

/** The answer: values of the calls that succeeded, in order, and the error of the one that did not. */
export interface HostAnswer {
  values: Json[];
  error?: { name: string; message: string; host: number };
}

/**
 * The plain data from which the sandbox makes the `context` object (docs/reference/logic.md#context). All of it is
 * JSON.
 */
export interface ContextData {
  app: {
    id: string;
    url: string;
    settings: Items;
    options: Items;
    blocks: { id: string; url: string }[];
    indexes: string[];
  };
  block: { id: string; url: string } | null;
  record: RecordData | null;
  request: RequestData;
  parent_request: RequestData | null;
  portal: { id: string; title: string; url: string; theme: string; locale: string | null; time_zone: string };
  /** Null where the item of a rule's event is gone. */
  content: ContentData | null;
  user: Items | null;
  /** Null unless the app asks for visitors. */
  visitor: { id: string | null } | null;
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

/** Who has created a record, for logic. */
export interface CreatorData {
  /** A user's documentId; the identity (`admin:…`, `token:…`) of an administrator or an API token. */
  id: string;
  /** A user's name, an administrator's e-mail address, a token's name. */
  username: string;
}

/** `block.places` of layouts and logic (docs/reference/definitions.md#when-and-how-many). */
export interface PlacesData {
  /** Null: any number. */
  limit: number | null;
  taken: number;
  left: number | null;
  waiting: number;
  state: 'open' | 'full' | 'closed' | 'not_open';
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

/** How urgent a log entry is. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One function to run; `contained`: its failure is an outcome, not an end of the batch. */
export interface LogicCall {
  name: string;
  contained: boolean;
}
