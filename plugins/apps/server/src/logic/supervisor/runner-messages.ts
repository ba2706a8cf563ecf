import type { FailureReason, FromRunner } from '../../../../sandbox/src/protocol';
import { createFrameReader, type Frame, FrameError } from '../../../../shared/frames';

/** A runner has sent what no runner of ours sends: logic has got out of its isolate, or the program is broken. */
export class RunnerBreach extends Error {}

const reasons: Record<FailureReason, true> = {
  time: true,
  memory: true,
  crowded: true,
  size: true,
  'unknown-program': true,
  program: true,
  broken: true,
};

/** Bytes of a text for the log, or of an error's message. */
const textSize = 4096;

/** Messages that may come for sessions that are over: some for each session begun, and so many in all at once. */
const strays = { each: 4, most: 1000 };

/** UTF-8 takes at most three bytes for what counts as one character here. */
const bytesOfCharacter = 3;

function limitsOf(messageSize: number): Map<string, number> {
  const data = messageSize * bytesOfCharacter;
  const failed = Object.keys(reasons).map((reason): [string, number] => [`failed-${reason}`, textSize]);
  return new Map([['ready', 0], ['sick', 0], ['unavailable', textSize], ['host', data], ['done', data], ...failed]);
}

function messageOf({ kind, number: session, text }: Frame): FromRunner {
  if (kind === 'host' || kind === 'done') return { type: kind, session, data: text };
  if (kind === 'unavailable') return { type: kind, message: text };
  if (kind === 'ready' || kind === 'sick') return { type: kind };
  return { type: 'failed', session, reason: kind.slice('failed-'.length) as FailureReason, message: text };
}

export interface RunnerMessagesOptions {
  /** Characters of an answer or of the arguments of host calls. */
  messageSize: number;
  /** Takes a message; false: it concerns a session that is over. May throw RunnerBreach. */
  receive(message: FromRunner): boolean;
}

export interface RunnerMessages {
  /** Takes the next chunk from the runner's pipe. Throws RunnerBreach, after which nothing more may be read. */
  read(chunk: Buffer): void;
  /** A session has begun: some messages may come for it after its end. */
  begun(): void;
}

/**
 * Reads the messages of one runner and believes nothing: their kinds, their sizes, and how many there are for which the
 * server has not asked. What a session's messages may be, the session knows.
 */
export function createRunnerMessages({ messageSize, receive }: RunnerMessagesOptions): RunnerMessages {
  let allowance = strays.each;
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
      allowance = Math.min(allowance + strays.each, strays.most);
    },
  };
}
