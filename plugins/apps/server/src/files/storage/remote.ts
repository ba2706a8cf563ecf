import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { OpenedPart, StoredBytes } from './types';

/** Milliseconds until a storage has to begin its answer. */
const MAX_WAIT = 10_000;

/** An answer of a storage whose body is read, or cancelled. */
export interface Remote {
  status: number;
  stream: Readable;
  /** Bytes; null where the storage does not say. */
  length: number | null;
}

/** Asks an address of a storage. @param range value of the header `Range`; absent: for the whole */
export async function ask(url: string, range?: string): Promise<Remote> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('The storage has not answered in time')), MAX_WAIT);
  try {
    // A packed body would have another length.
    const headers = { 'Accept-Encoding': 'identity', ...(range === undefined ? {} : { Range: range }) };
    const { status, body, headers: answered } = await fetch(url, { headers, signal: late.signal });
    const length = answered.get('Content-Length');
    return {
      status,
      stream: body ? Readable.fromWeb(body as ReadableStream) : Readable.from([]),
      length: length === null ? null : Number(length),
    };
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes at an address of a storage. Throws where it has others than a whole file. */
export async function fetched(url: string): Promise<Remote> {
  const remote = await ask(url);
  if (remote.status === 200) return remote;
  remote.stream.destroy();
  throw new Error(`The storage has answered ${remote.status}`);
}

/** Stored bytes at a storage that this process reads. @param signed makes an address for a moment */
export function remoteBytes(size: number, signed: () => Promise<string>): StoredBytes {
  return {
    size,
    async read(start, end) {
      const isWhole = start === 0 && end === size - 1;
      const { status, stream, length } = await ask(await signed(), isWhole ? undefined : `bytes=${start}-${end}`);
      // Fewer bytes than were announced would keep the reader waiting for the rest.
      if (status === (isWhole ? 200 : 206) && (length === null || length === end - start + 1)) return stream;
      stream.destroy();
      if (status === 404 || status === 410) return null;
      throw new Error(`The storage has answered ${status} with ${length} bytes`);
    },
    close: async () => undefined,
  };
}

/** All bytes of an opened content; null where they are gone. */
export async function bytesOf(opened: OpenedPart): Promise<Readable | null> {
  return 'url' in opened ? (await fetched(opened.url)).stream : opened.read(0, opened.size - 1);
}

/** A stream that is opened when it is read. */
export function opening(open: () => Promise<Readable | null>): Readable {
  return Readable.from(
    (async function* () {
      const stream = await open();
      if (!stream) throw new Error('The file is gone');
      yield* stream;
    })(),
    { objectMode: false },
  );
}
