import type { WireProgram } from '../../shared/logic-protocol';
import type { ivm } from './isolated-vm';

export type Language = WireProgram['language'];

/** Host calls of the running session; resolves to the answer, or to '' to make the sandbox stop. */
export type HostCall = (data: unknown) => Promise<string>;

/** Runs the sessions of one language in an isolate, one after the other; no session sees an earlier one. */
export interface LanguageContexts {
  readonly language: Language;
  /** Whether a session can begin at once. */
  readonly ready: boolean;
  /** Settles when the next session can begin. */
  readonly prepared: Promise<unknown>;
  /** Loads the program for the next session without running its code. Rejects if it does not compile. */
  load(program: WireProgram): Promise<void>;
  /** `(request: string, time: number) => Promise<string>`: the entry point; Python interrupts itself after `time` ms. */
  readonly entry: ivm.Reference | null;
  /** Discards the session's state and prepares for the next one. Resolves to false when the isolate must be disposed of. */
  reset(): Promise<boolean>;
}
