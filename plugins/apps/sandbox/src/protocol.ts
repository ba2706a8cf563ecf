/**
 * What crosses between the server and a runner process, on a pipe of frames (`shared/frames.ts`). To the runner: one kind
 * of frame, `messages`, a JSON list in the order of their making. From the runner, which the server does not trust: a frame
 * each (`connection.ts`). `data` is always JSON text that the runner passes on unread: what is inside is agreed between the
 * server and the prelude (`prelude/types.ts`).
 */

/** A compiled program: the entry first; scripts that define modules, or files of Python as they are. */
export interface WireProgram {
  language: 'javascript' | 'python';
  /** Unique for scope, revision and path. */
  key: string;
  modules: { path: string; code: string }[];
}

/** Given to a runner as its only argument, as JSON. */
export interface RunnerOptions {
  /** Isolates kept for sessions that are not nested. */
  isolates: number;
  /** Megabytes an isolate may use. */
  memory: number;
  /** What to get ready for at the start. */
  languages: WireProgram['language'][];
  /** Characters that one message of a sandbox may have: an answer, or the arguments of host calls. */
  messageSize: number;
  /** Serves one session only, which is to blame for whatever happens. */
  alone: boolean;
}

export type ToRunner =
  /** `source` is left out when the runner is thought to know the program. `remaining`: milliseconds to the deadline. */
  | { type: 'open'; session: number; program: string; source?: WireProgram; data: string; remaining: number }
  | { type: 'call'; session: number; data: string; remaining: number }
  /** Answers a host call. */
  | { type: 'reply'; session: number; data: string }
  /** Ends the session in whatever state it is; no answer is expected. */
  | { type: 'stop'; session: number }
  /** Frees a session that is at rest. */
  | { type: 'close'; session: number };

/**
 * Why a session ended in the sandbox: over its time, over its memory, the sessions of the runner are over theirs together
 * and this one may be to blame, an answer or a host call is larger than a message may be, the runner does not know the
 * program (send it), the script engine refused the program (`message`), or the sandbox broke in another way.
 */
export type FailureReason = 'time' | 'memory' | 'crowded' | 'size' | 'unknown-program' | 'program' | 'broken';

export type FromRunner =
  /** The runner has started and reads messages. */
  | { type: 'ready' }
  /** Host calls asked for by logic. */
  | { type: 'host'; session: number; data: string }
  /** Answer to `open` or `call`. */
  | { type: 'done'; session: number; data: string }
  | { type: 'failed'; session: number; reason: FailureReason; message: string }
  /**
   * An isolate can no longer be ended, or the memory of ended sessions does not come back: give this runner nothing new and
   * kill it when its other sessions are over.
   */
  | { type: 'sick' }
  /** The runner cannot work at all, and ends. */
  | { type: 'unavailable'; message: string };
