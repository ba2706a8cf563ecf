import type { WireProgram } from '../../shared/logic-protocol';

export type Language = WireProgram['language'];

/** Host calls of the running session; resolves to the answer, or to '' to make the sandbox stop. */
export type HostCall = (data: unknown) => Promise<string>;

/** Milliseconds that a request has, and has at most if it is delayed. */
export interface EntryTime {
  time: number;
  latest: number;
}

/** The session may have failed because its context is a reused one, and has begun: its request must run again from the start. */
export class RunAgain extends Error {}

/** Runs the sessions of one language in an isolate, one after the other; no session sees an earlier one. */
export interface LanguageContexts {
  readonly language: Language;
  /** Whether a session can begin at once. */
  readonly ready: boolean;
  /** Settles when the next session can begin. */
  readonly prepared: Promise<unknown>;
  /** Loads the program for the next session without running its code. Rejects if it does not compile. */
  load(program: WireProgram): Promise<void>;
  /**
   * Passes one request to the prelude; only a text should come out. Rejects when the isolate ends, when logic has rejected a
   * promise that it does not await, and some milliseconds after its time: the error then has the stack frames of the logic. Rejects
   * with `RunAgain` too.
   */
  enter(request: string, time: EntryTime): Promise<unknown>;
  /** Whether nothing runs in the isolate once the answer is here, so that this thread may enter it without waiting. */
  readonly isIdleAfter: boolean;
  /** Discards the session's state and prepares for the next one. Resolves to false when the isolate must be disposed of. */
  reset(): Promise<boolean>;
  /** Frees what is kept for further sessions of a program; false where there is nothing. */
  dropKept(): boolean;
}
