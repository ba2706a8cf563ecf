import { Socket } from 'node:net';
import { createFrameReader, createOutbox, encodeFrame } from '../../shared/frames';
import type { FromRunner, ToRunner } from '../../shared/logic-protocol';

/** The descriptor of the pipe that the server opens for a runner. */
const descriptor = 3;

/** Bytes of a frame from the server. The server is trusted: this is the largest number that a frame's first line can hold. */
const MAX_BYTES = 999_999_999;

/** Ends a process; the runner takes it from `process` before logic runs (runner.ts). */
const { _kill: kill } = process as unknown as { _kill(pid: number, signal: number): void };
const SIGKILL = 9;

export interface Connection {
  send(message: FromRunner): void;
  /** Sends a last message and ends the process. */
  end(message: FromRunner): void;
}

/** Opens the pipe to the server. When the server is gone, the process ends. */
export function connect(receive: (message: ToRunner) => void): Connection {
  const pipe = new Socket({ fd: descriptor, readable: true, writable: true });
  const kinds = ['messages', 'reply'].map((kind) => [kind, MAX_BYTES] as const);
  const read = createFrameReader(new Map(kinds), ({ kind, number, text }) => {
    if (kind === 'reply') receive({ type: 'reply', session: number, data: text });
    else (JSON.parse(text) as ToRunner[]).forEach(receive);
  });
  pipe.on('data', read);
  pipe.on('error', () => undefined);
  // Not `process.exit`, which waits for the threads of isolates: one in an endless loop would outlive the server.
  pipe.on('close', () => kill.call(process, process.pid, SIGKILL));
  return {
    send: createOutbox<FromRunner>((messages) => pipe.write(messages.map(frameOf).join('')), setImmediate),
    end: (message) => pipe.end(frameOf(message), () => process.exit(1)),
  };
}

/** `host` and `done` with their data, `used` and `delayed` with their numbers, `failed-<reason>` and `unavailable` with their text, the others alone. */
function frameOf(message: FromRunner): string {
  const number = 'session' in message ? message.session : 0;
  const kind = message.type === 'failed' ? `failed-${message.reason}` : message.type;
  const text =
    'data' in message
      ? message.data
      : 'message' in message
        ? message.message
        : 'bytes' in message
          ? String(message.bytes)
          : 'time' in message
            ? String(message.time)
            : '';
  return encodeFrame({ kind, number, text });
}
