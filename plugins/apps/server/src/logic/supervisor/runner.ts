import type { LRUCache } from 'lru-cache';
import { createFrameReader, type Frame, FrameError } from '../../../../shared/frames';
import type {
  FailureReason,
  FromRunner,
  RunnerOptions,
  ToRunner,
  WireProgram,
} from '../../../../shared/logic-protocol';
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
  readonly sessions: { readonly size: number };
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

/** A runner has sent an invalid message: logic has escaped from its isolate, or the runner program is broken. */
export class RunnerBreach extends Error {}

const reasons: Record<FailureReason, true> = {
  time: true,
  memory: true,
  crowded: true,
  size: true,
  'unknown-program': true,
  program: true,
  again: true,
  broken: true,
};

/** Bytes of a text for the log, or of an error's message. */
const MAX_TEXT_SIZE = 4096;

/** Digits of a number of bytes or milliseconds. */
const MAX_DIGITS = 15;

/** Messages that may arrive for sessions that are over: for each session begun, and in total. */
const MAX_STRAYS_OF_SESSION = 4;
const MAX_STRAYS = 1000;

/** UTF-8 has at most three bytes for one UTF-16 code unit. */
const bytesOfCharacter = 3;

function limitsOf(messageSize: number): Map<string, number> {
  const data = messageSize * bytesOfCharacter;
  const failed = Object.keys(reasons).map((reason): [string, number] => [`failed-${reason}`, MAX_TEXT_SIZE]);
  return new Map([
    ['ready', 0],
    ['pong', 0],
    ['unhealthy', 0],
    ['unavailable', MAX_TEXT_SIZE],
    ['host', data],
    ['done', data],
    ['used', MAX_DIGITS],
    ['delayed', MAX_DIGITS],
    ...failed,
  ]);
}

function messageOf({ kind, number: session, text }: Frame): FromRunner {
  if (kind === 'host' || kind === 'done') return { type: kind, session, data: text };
  if (kind === 'used') return { type: kind, session, bytes: numberOf(text) };
  if (kind === 'delayed') return { type: kind, session, time: numberOf(text) };
  if (kind === 'unavailable') return { type: kind, message: text };
  if (kind === 'ready' || kind === 'pong' || kind === 'unhealthy') return { type: kind };
  return { type: 'failed', session, reason: kind.slice('failed-'.length) as FailureReason, message: text };
}

function numberOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new RunnerBreach('a number of bytes or milliseconds is none');
  return Number(text);
}

interface RunnerMessagesOptions {
  /** Characters of an answer or of the arguments of host calls. */
  messageSize: number;
  /** Handles a message; false: it concerns a session that is over. May throw RunnerBreach. */
  receive(message: FromRunner): boolean;
}

export interface RunnerMessages {
  /** Reads the next chunk of the runner's pipe. After a RunnerBreach no more chunks may be read. */
  read(chunk: Buffer): void;
  /** A session has begun: some of its messages may arrive after its end. */
  begun(): void;
}

/**
 * Reads the messages of one runner and checks their kinds, their sizes, and the number of unexpected ones. The session
 * checks the content of its messages.
 */
export function createRunnerMessages({ messageSize, receive }: RunnerMessagesOptions): RunnerMessages {
  let allowance = MAX_STRAYS_OF_SESSION;
  const read = createFrameReader(limitsOf(messageSize), (frame) => {
    if (receive(messageOf(frame))) return;
    allowance -= 1;
    if (allowance < 0) throw new RunnerBreach('messages that answer nothing');
  });
  return {
    read(chunk) {
      try {
        read(chunk);
      } catch (error) {
        throw error instanceof FrameError ? new RunnerBreach(error.message) : error;
      }
    },
    begun() {
      allowance = Math.min(allowance + MAX_STRAYS_OF_SESSION, MAX_STRAYS);
    },
  };
}
