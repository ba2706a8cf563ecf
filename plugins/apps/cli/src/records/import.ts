import { createReadStream, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { entriesOf, WrongEntry } from '../../../server/src/interchange';
import type { NewRecord } from '../../../server/src/records/types';
import type { Json } from '../../../shared/json';
import type { Invocation } from '../command';
import { CannotRun, type ExitCode, exitCodes } from '../exit';
import { type StoredApp, withApp } from './stored-app';

/** Records of one transaction. Other writers wait for one transaction at most. */
const CHUNK = 1_000;

interface Imported {
  imported: number;
  /** Records that exist with equal items. */
  skipped: number;
  /** Why the import has stopped. */
  error?: string;
}

/** Creates the records of a file that do not exist yet (docs/reference/import-export.md#records-by-command-line). */
export async function importRecords(
  { output, cwd, host }: Invocation,
  target: { site: string; app: string; file: string },
): Promise<ExitCode> {
  const file = resolve(cwd, target.file);
  const size = sizeOf(file);
  const show = output.progress('Import', size);
  const result = await withApp(host(), target.site, target.app, (stored) => importFrom(file, stored, show));
  const { imported, skipped, error } = result;
  if (error === undefined) show(size, true);
  const summary = `${imported} records imported${skipped ? `, ${skipped} skipped because they exist already` : ''}`;
  output.data(result);
  if (error === undefined) {
    output.line(summary);
    return exitCodes.fine;
  }
  output.note(`${output.paint('red', 'error:')} ${error}\n${summary} before that; the import can be run again.`);
  return exitCodes.problems;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new CannotRun(`${file} cannot be read: ${(error as Error).message}`);
  }
}

async function importFrom(file: string, { store, key }: StoredApp, show: (done: number) => void): Promise<Imported> {
  const stream = createReadStream(file);
  const counts: Imported = { imported: 0, skipped: 0 };
  let chunk: NewRecord[] = [];
  const flush = async () => {
    const fresh = await withoutExisting({ store, key }, chunk);
    counts.skipped += chunk.length - fresh.length;
    chunk = [];
    if (fresh.length > 0) counts.imported += await store.createMany(key, one(fresh));
    show(stream.bytesRead);
  };
  try {
    for await (const entry of entriesOf(file, stream)) {
      chunk.push(entry);
      if (chunk.length === CHUNK) await flush();
    }
    await flush();
    return counts;
  } catch (error) {
    if (!(error instanceof WrongEntry) && (error as Error)?.name !== 'BadRequestError' && !isTaken(error)) throw error;
    return { ...counts, error: (error as Error).message };
  } finally {
    stream.destroy();
  }
}

/** Whether another process has created a record meanwhile, or a file has an id twice. */
const isTaken = (error: unknown): boolean => (error as Error | null)?.name === 'ConflictError';

async function* one(records: readonly NewRecord[]): AsyncGenerator<NewRecord> {
  yield* records;
}

/** The entries that are not stored yet. Throws WrongEntry when one is stored with other items. */
async function withoutExisting({ store, key }: Pick<StoredApp, 'store' | 'key'>, entries: readonly NewRecord[]) {
  const stored = await Promise.all(entries.map(({ id }) => (id === undefined ? null : store.get(key, id))));
  return entries.filter((entry, at) => {
    const found = stored[at];
    if (!found) return true;
    if (sorted(found.items) !== sorted(entry.items)) {
      throw new WrongEntry(`The record "${entry.id}" is there already, with other items`);
    }
    return false;
  });
}

/** JSON whose keys are sorted, so that equal values are equal texts. */
const sorted = (value: Json): string =>
  JSON.stringify(value, (_, part: Json) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
