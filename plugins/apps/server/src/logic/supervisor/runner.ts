import type { LRUCache } from 'lru-cache';
import type { FromRunner, RunnerOptions, ToRunner, WireProgram } from '../../../../shared/logic-protocol';
import type { SandboxConfig } from '../../config.types';

export type Language = WireProgram['language'];

export type SessionMessage = Extract<FromRunner, { session: number }>;

/**
 * How the logic of a runner's only session has ended it: by a crash, or by an invalid message.
 * Null: there were other sessions, the isolate of one may still have run, or the server ended it.
 */
export type Fault = 'crash' | 'breach' | null;

/** Receives the events of a runner for one session. */
export interface SessionPort {
  /** Handles a message; throws RunnerBreach if no working runner sends it. */
  receive(message: SessionMessage): void;
  /** The runner has ended. */
  lost(fault: Fault): void;
}

/** One runner process. */
export interface Runner {
  /** Undefined when the system could not start the process. */
  readonly pid: number | undefined;
  readonly sessions: ReadonlyMap<number, SessionPort>;
  /** False: it accepts no new sessions, because it is stuck, ending or gone. */
  readonly usable: boolean;
  readonly started: boolean;
  /** Resolves when it accepts no more sessions. */
  readonly spent: Promise<void>;
  /** Whether it has a single session only. */
  readonly alone: boolean;
  /** Keys of the programs that were sent to it last. It may have forgotten some, and asks for those again. */
  readonly programs: LRUCache<string, true>;
  /** Resolves when the process has started, or has ended before that. */
  readonly ready: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  attach(port: SessionPort): number;
  /** @param mayRun whether the session failed or was stopped, so that its isolate may still run */
  detach(id: number, mayRun: boolean): void;
  send(message: ToRunner): void;
  kill(): void;
}

export interface RunnerProcessOptions {
  /** The built runner program. */
  path: string;
  runner: RunnerOptions;
  config: SandboxConfig;
  /** Called when it cannot work on this machine; `message` is for the log. */
  unavailable(message: string): void;
  /** Called when the server has ended it because of what it did; `why` completes a sentence of the log. */
  misbehaved(why: string): void;
}
