import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Values that were read to their end, to be read again any number of times. */
export interface Spool<T> {
  /** The values in order, in batches of bounded length and size. */
  read(): AsyncIterable<T[]>;
  remove(): Promise<void>;
}

/** Characters of JSON that are kept in memory; more goes to a file of the system's temporary folder. */
const memory = 4 * 1024 * 1024;

/** Values of a batch; its JSON has at most `memory` characters, but for a single longer value. */
const batchSize = 500;

/**
 * Reads all of `source` before anything is done with it: a slow or broken client then never holds a transaction open.
 * Memory stays bounded however many there are.
 */
export async function spool<T>(source: AsyncIterable<T>): Promise<Spool<T>> {
  let lines: string[] = [];
  let size = 0;
  const file = createSpoolFile();
  try {
    for await (const value of source) {
      const line = JSON.stringify(value);
      lines.push(line);
      size += line.length;
      if (size < memory) continue;
      await file.append(lines);
      lines = [];
      size = 0;
    }
    if (file.used) await file.append(lines.splice(0));
    await file.end();
  } catch (error) {
    await file.remove();
    throw error;
  }
  return {
    async *read() {
      yield* batches<T>(lines);
      yield* batches<T>(file.lines());
    },
    remove: () => file.remove(),
  };
}

async function* batches<T>(lines: Iterable<string> | AsyncIterable<string>): AsyncIterable<T[]> {
  let batch: T[] = [];
  let size = 0;
  for await (const line of lines) {
    if (batch.length === batchSize || (size + line.length > memory && batch.length)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(JSON.parse(line) as T);
    size += line.length;
  }
  if (batch.length) yield batch;
}

function createSpoolFile() {
  let folder: string | undefined;
  let stream: ReturnType<typeof createWriteStream> | undefined;
  let failed: Error | undefined;
  return {
    get used() {
      return stream !== undefined;
    },
    async append(lines: string[]) {
      folder ??= await mkdtemp(join(tmpdir(), 'apps-records-'));
      if (!stream) {
        stream = createWriteStream(join(folder, 'records'), { mode: 0o600 });
        stream.on('error', (error) => {
          failed = error;
        });
      }
      if (failed) throw failed;
      // Not one string for all: it would need as much memory again.
      for (const line of lines) if (!stream.write(`${line}\n`)) await once(stream, 'drain');
    },
    async end() {
      if (!stream) return;
      stream.end();
      if (!stream.closed) await once(stream, 'close');
      if (failed) throw failed;
    },
    async *lines(): AsyncIterable<string> {
      if (folder) yield* createInterface({ input: createReadStream(join(folder, 'records')), crlfDelay: Infinity });
    },
    async remove() {
      stream?.destroy();
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}
