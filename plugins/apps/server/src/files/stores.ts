import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** A file as an upload provider of Strapi's knows it. */
export interface ProvidedFile {
  name: string;
  hash: string;
  ext: string;
  mime: string;
  /** Of the storage, without a signature. */
  url: string;
  provider_metadata?: unknown;
}

/** One stored content: that of a file, or its thumbnail. */
export interface StoredPart {
  mime: string;
  /** Bytes. */
  size: number;
  /** As the provider has stored it; null: it is in the folder. */
  provided: ProvidedFile | null;
}

/** What is to be stored. */
export interface PartSource {
  /** The name of the file, with its ending. */
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  getStream(): Readable;
}

/** A stored content that this process can read. */
export interface StoredBytes {
  /** Bytes. */
  size: number;
  /** The bytes from `start` to `end`, both included; null where they are gone. Called once at most. ServiceUnavailableError where the storage does not answer. */
  read(start: number, end: number): Promise<Readable | null>;
  /** To be called where `read` was not; else nothing happens. */
  close(): Promise<void>;
}

/** Where a stored content can be read: by this process, or at an address that holds for a moment. */
export type OpenedPart = StoredBytes | { url: string };

/** A place for bytes that only the plugin gives away. */
export interface Store {
  /** What a row has of a content before it is stored: by it an interrupted one can be removed. */
  planned(key: string, source: Omit<PartSource, 'getStream'>): StoredPart;
  /** Stores bytes under a key; they are on the disk, or at the provider, when it resolves. */
  put(key: string, source: PartSource): Promise<StoredPart>;
  /** Null where the bytes are gone. */
  open(key: string, part: StoredPart): Promise<OpenedPart | null>;
  /** Removes bytes; without an error where there are none. */
  remove(key: string, part: StoredPart): Promise<void>;
}

/** The stores of a host, of which new files go to one (docs/decisions/object-storage.md). */
export interface Storage {
  /** The name of the store for new files; null: the folder. */
  current(): Promise<string | null>;
  /** The store of a name that `current` has given, now or earlier. ServiceUnavailableError where the host has it no longer. */
  store(name: string | null): Promise<Store>;
  /** Finds out whether new files can be stored, so that the log says it before a visitor learns of it. Never rejects. */
  check(): Promise<void>;
}

/** Keys that are names of files as they are; ids of Strapi's media library may be others, and the names of kept files are secret. */
const PLAIN = /^(?:thumbnail_)?[a-z0-9]{2,40}$/;

/** The name under which a key is stored. */
const storedName = (key: string): string => (PLAIN.test(key) ? key : createHash('sha256').update(key).digest('hex'));

/** A store in a folder. @param folder absolute path; made when it is needed */
export function createFolderStore(folder: string): Store {
  const pathOf = (key: string): string => {
    const name = storedName(key);
    return join(folder, name.replace('thumbnail_', '').slice(0, 2), name);
  };
  return {
    planned: (_key, { mime, size }) => ({ mime, size, provided: null }),
    put: async (key, source) => ({ mime: source.mime, size: await write(pathOf(key), source), provided: null }),
    open: (key) => opened(pathOf(key)),
    async remove(key) {
      await rm(pathOf(key), { force: true });
      await removePartial(pathOf(key));
    },
  };
}

/** Removes what processes that ended early have written of a file. */
async function removePartial(path: string): Promise<void> {
  const folder = dirname(path);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(`${basename(path)}.`));
  for (const name of names) await rm(join(folder, name), { force: true });
}

/** Writes a file that is whole under its name, and on the disk; the number of its bytes. */
async function write(path: string, source: PartSource): Promise<number> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(partial, 'wx', 0o600);
  let size = 0;
  try {
    for await (const chunk of source.getStream()) {
      await file.writeFile(chunk);
      size += chunk.length;
    }
    await file.sync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(partial, path);
  await removePartial(path);
  return size;
}

/** A file of the folder; null for none. A link is not followed: only the plugin writes there, and it makes none. */
async function opened(path: string): Promise<StoredBytes | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
  const info = await handle.stat();
  if (!info.isFile()) {
    await handle.close();
    return null;
  }
  let isRead = false;
  return {
    size: info.size,
    async read(start, end) {
      isRead = true;
      // The stream closes the file at its end, or when it is destroyed.
      return handle.createReadStream({ start, end });
    },
    close: async () => (isRead ? undefined : handle.close()),
  };
}

/** A stream of a file on the disk. */
export const streamOf = (path: string): Readable =>
  createReadStream(path, { flags: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) } as never);

/** What a store does at a provider. */
export interface ProviderCalls {
  /** Stores a file with `getStream`, and notes in it where it is. */
  upload(file: object): Promise<void>;
  delete(file: ProvidedFile): Promise<void>;
  /** How the content of a stored file is read. @param size bytes */
  open(file: ProvidedFile, size: number): Promise<OpenedPart>;
}

/** Strapi counts in kilobytes. */
const kilobytes = (bytes: number): number => Math.round((bytes / 1000) * 100) / 100;

/** A store at an upload provider of Strapi's form. It lists nothing, because providers cannot: what is stored is in tables. */
export function createProviderStore(provider: ProviderCalls): Store {
  const planned: Store['planned'] = (key, { name, mime, size }) => ({
    mime,
    size,
    provided: { name, hash: `apps_${storedName(key)}`, ext: extname(name), mime, url: '' },
  });
  return {
    planned,
    async put(key, source) {
      const { mime, size, provided } = planned(key, source);
      let sent = 0;
      const counted = async function* () {
        sent = 0;
        for await (const chunk of source.getStream()) {
          sent += chunk.length;
          yield chunk;
        }
      };
      const getStream = () => Readable.from(counted(), { objectMode: false });
      const file = { ...provided, size: kilobytes(size), sizeInBytes: size, getStream };
      await provider.upload(file);
      const { getStream: _stream, size: _kilobytes, sizeInBytes: _bytes, ...stored } = file;
      return { mime, size: sent, provided: stored as ProvidedFile };
    },
    open: async (_key, { provided, size }) => provided && provider.open(provided, size),
    async remove(_key, { provided }) {
      if (provided) await provider.delete(provided);
    },
  };
}

/** Milliseconds until a storage has to begin its answer. */
const MAX_WAIT = 10_000;

/** An answer of a storage whose body is read, or cancelled. */
interface Remote {
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
