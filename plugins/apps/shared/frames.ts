/**
 * Messages on a pipe between two processes, one of which does not trust the other: the line `<kind> <number> <bytes>`, then
 * that number of bytes of UTF-8. The reader knows the size of a message before it parses it, unlike with the JSON lines of
 * Node.js's own channel, where one malformed line throws in the process that reads it. For Node.js only.
 */
export interface Frame {
  kind: string;
  /** The subject of the message, e.g. a session; 0 or more. */
  number: number;
  text: string;
}

/** Thrown when the bytes are not frames. */
export class FrameError extends Error {}

/** Characters of a frame's first line. */
const lineLength = 64;
const lineEnd = 0x0a;

export function encodeFrame({ kind, number, text }: Frame): string {
  return `${kind} ${number} ${Buffer.byteLength(text)}\n${text}`;
}

interface Begun {
  kind: string;
  number: number;
  /** Allocated once in the announced size, so that bytes that come one by one take no more. */
  body: Buffer;
  length: number;
}

/**
 * Reads what comes from a pipe, chunk by chunk. Memory: the largest frame.
 * @param limits the kinds of frames, and how many bytes each may have
 * @param receive gets the frames; what it throws is passed on
 * @returns takes the next chunk; throws FrameError, after which nothing more may be read
 */
export function createFrameReader(
  limits: ReadonlyMap<string, number>,
  receive: (frame: Frame) => void,
): (chunk: Buffer) => void {
  let line = '';
  let begun: Begun | null = null;

  /** Reads more of a first line; returns the index after it. */
  function readLine(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(lineEnd, start);
    const stop = end < 0 ? chunk.length : end;
    if (line.length + stop - start > lineLength) throw new FrameError('a line is too long');
    line += chunk.toString('latin1', start, stop);
    if (end < 0) return stop;
    begun = begin(line, limits);
    line = '';
    return end + 1;
  }

  /** Reads more of a body; returns the index after it. */
  function readBody(frame: Begun, chunk: Buffer, start: number): number {
    const copied = chunk.copy(frame.body, frame.length, start);
    frame.length += copied;
    if (frame.length === frame.body.length) {
      begun = null;
      receive({ kind: frame.kind, number: frame.number, text: frame.body.toString('utf8') });
    }
    return start + copied;
  }

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (!begun) at = readLine(chunk, at);
      if (begun) at = readBody(begun, chunk, at);
    }
  };
}

function begin(line: string, limits: ReadonlyMap<string, number>): Begun {
  const [, kind = '', number, bytes] = /^([a-z-]+) (\d{1,15}) (\d{1,9})$/.exec(line) ?? [];
  const maxBytes = limits.get(kind);
  if (maxBytes === undefined) throw new FrameError('a line is not a frame’s');
  if (Number(bytes) > maxBytes) throw new FrameError(`a message "${kind}" is larger than ${maxBytes} bytes`);
  return { kind, number: Number(number), body: Buffer.allocUnsafe(Number(bytes)), length: 0 };
}

/**
 * Sends messages in bundles: all messages of one turn of the event loop go together, because between processes
 * the cost of a message hardly depends on its length.
 * @param deliver sends a bundle; its messages are in the order in which they were written
 * @param later runs what it is given at the end of the turn: Node's `setImmediate`
 */
export function createOutbox<Message>(
  deliver: (messages: Message[]) => void,
  later: (work: () => void) => unknown,
): (message: Message) => void {
  let waiting: Message[] = [];
  const flush = () => {
    const messages = waiting;
    waiting = [];
    deliver(messages);
  };
  return (message) => {
    if (waiting.push(message) === 1) later(flush);
  };
}
