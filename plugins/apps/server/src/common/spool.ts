import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { linesOf } from './text';
import { shortWork } from './time/pace';

/** Values that were read completely, and can be read again any number of times. */
export interface Spool<T> {
  /** The values in order, in batches of bounded length and size. */
  read(): AsyncIterable<T[]>;
  /** Frees the memory and the file. */
  remove(): Promise<void>;
}

/** Characters of JSON that are kept in memory; more goes to a file. */
export const MAX_IN_MEMORY = 4 * 1024 * 1024;

/** Values of a batch; its JSON has at most MAX_IN_MEMORY characters, except for a single longer value. */
const MAX_BATCH = 500;

/** Characters that are written, and bytes that are read, at once. */
const writeSize = 256 * 1024;
const readSize = 64 * 1024;

const fileName = /^spool-[0-9a-f]{32}$/;

/**
 * Reads all of `source` first, so that a slow or broken client never holds a transaction open. Memory stays bounded for any
 * number of values.
 * @param folder of the file, created when needed
 */
export async function spool<T>(source: AsyncIterable<T>, folder: string = tmpdir()): Promise<Spool<T>> {
  let lines: string[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  const flush = async (): Promise<void> => {
    file ??= await openUnnamed(folder);
    await append(file, lines);
    lines = [];
    size = 0;
  };
  try {
    for await (const value of source) {
      const line = await shortWork(() => JSON.stringify(value));
      lines.push(line);
      size += line.length;
      if (size >= MAX_IN_MEMORY) await flush();
    }
    if (file) await flush();
  } catch (error) {
    await file?.close();
    throw error;
  }
  return {
    async *read() {
      yield* batches<T>(file ? linesOf(textOf(file)) : lines);
    },
    async remove() {
      lines = [];
      await file?.close();
    },
  };
}

/** Bytes that were read completely, and can be read again any number of times. */
export interface SpooledBytes {
  size: number;
  read(): AsyncIterable<Buffer>;
  remove(): Promise<void>;
}

/** Writes all of `source` to a file first. @param folder of the file, created when needed */
export async function spoolBytes(source: AsyncIterable<Uint8Array>, folder: string): Promise<SpooledBytes> {
  const file = await openUnnamed(folder);
  let size = 0;
  try {
    for await (const chunk of source) {
      await file.writeFile(chunk);
      size += chunk.length;
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return { size, read: () => bytesOf(file), remove: () => file.close() };
}

/**
 * Removes files of processes that ended between creating a file and unlinking it. Files in use have no name, so that several
 * processes may share the folder.
 */
export async function clearSpools(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) if (fileName.test(name)) await rm(join(folder, name), { force: true });
}

/**
 * Creates a file and unlinks it. The system frees it when it is closed, also when the process is killed. O_EXCL refuses a
 * file or link that another process has put at its path; without a name no other process can open it.
 */
async function openUnnamed(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `spool-${randomBytes(16).toString('hex')}`);
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const file = await open(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  try {
    await rm(path, { force: true });
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Appends the lines to the file in parts: as one text they would need the same memory again. */
async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
  let part = '';
  for (const line of lines) {
    part += `${line}\n`;
    if (part.length < writeSize) continue;
    await file.writeFile(part);
    part = '';
  }
  if (part !== '') await file.writeFile(part);
}

/** The text of the file from its beginning. Several readers may run at once. */
async function* textOf(file: FileHandle): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  for await (const bytes of bytesOf(file)) yield decoder.write(bytes);
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(readSize), 0, readSize, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* batches<T>(lines: Iterable<string> | AsyncIterable<string>): AsyncIterable<T[]> {
  let batch: T[] = [];
  let size = 0;
  for await (const line of lines) {
    if (batch.length === MAX_BATCH || (size + line.length > MAX_IN_MEMORY && batch.length)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(await shortWork(() => JSON.parse(line) as T));
    size += line.length;
  }
  if (batch.length) yield batch;
}
