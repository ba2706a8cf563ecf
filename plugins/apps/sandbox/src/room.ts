import type { ivm } from './isolated-vm';
import type { WireProgram } from './protocol';

export type Language = WireProgram['language'];

/** Host calls of the running session; resolves to the answer, or to '' to make the sandbox stop. */
export type HostCall = (data: unknown) => Promise<string>;

/** What one language needs of an isolate to run one session after the other, none of which sees the one before. */
export interface Room {
  /** Whether a session can begin at once. */
  readonly ready: boolean;
  /** Makes the program known to the next session; runs no code of its. Rejects if it does not compile. */
  load(program: WireProgram): Promise<void>;
  /** `(request: string, time: number) => Promise<string>`: the one way in; Python interrupts itself after `time` ms. */
  readonly entry: ivm.Reference | null;
  /** Forgets the session and gets ready for the next one. Resolves to false: the isolate is worn out, dispose of it. */
  reset(): Promise<boolean>;
}
