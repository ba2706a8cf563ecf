import { once } from 'node:events';
import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { fieldLines } from '../../server/src/common/errors';
import { type SpooledBytes, spoolBytes } from '../../server/src/common/spool';
import {
  entriesOf,
  formatOf,
  type Line,
  openRecords,
  type ReadChoices,
  type RecordFile,
  WrongEntry,
} from '../../server/src/interchange';
import type { NewRecord } from '../../server/src/records/types';
import type { Encoding, Separator } from '../../shared/cells';
import { type Items, itemOf, type Json } from '../../shared/json';
import { CannotRun, type ExitCode, exitCodes, type Invocation, type RunCommand } from './command';
import { type StoredApp, withApp } from './records';

function choicesOf({ block, language, sheet, separator, encoding }: Invocation['options']): ReadChoices {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    block: text(block),
    language: text(language),
    sheet: text(sheet),
    separator: separator as Separator | undefined,
    encoding: encoding as Encoding | undefined,
  };
}

/** Records, or files of a ZIP, by the number of arguments. */
export const run: RunCommand = async (invocation) => {
  const { from = '', app, file } = invocation.args;
  if (app !== undefined && file !== undefined) {
    const { options } = invocation;
    return importRecords(invocation, {
      site: from,
      app,
      file,
      restore: options.restore === true,
      choices: choicesOf(options),
    });
  }
  if (app !== undefined || !/\.zip$/i.test(from)) {
    throw new CannotRun('The file is missing', 'import <site> <app> <file>, or import <file.zip>');
  }
  const { importFiles } = await import('./archive');
  return importFiles(invocation, from);
};

/** Records of one transaction. Other writers wait for one transaction at most. */
const CHUNK = 1_000;

interface Imported {
  imported: number;
  /** Records that exist with equal items. */
  skipped: number;
  /** Why the import has stopped. */
  error?: string;
}

interface Outcome {
  result: Imported;
  /** Imported records that have no id in the file: another import would create them once more. */
  withoutId: number;
}

interface Target {
  site: string;
  app: string;
  file: string;
  /** Whether its records are stored as they were exported, without logic and checks. */
  restore: boolean;
  choices: ReadChoices;
}

async function importRecords({ output, cwd, host }: Invocation, given: Target): Promise<ExitCode> {
  const file = await bytesOf(resolve(cwd, given.file));
  const { result, withoutId } = await withApp(host(), given.site, given.app, (stored) =>
    importInto(stored, file, given, output),
  ).finally(() => file.remove());
  const { imported, skipped, error } = result;
  const summary = `${imported} records imported${skipped ? `, ${skipped} skipped because they exist already` : ''}`;
  output.data(result);
  if (error === undefined) {
    output.line(summary);
    return exitCodes.fine;
  }
  const again = withoutId
    ? `${withoutId} of them have no id in the file, and another import would create them once more.`
    : 'the import can be run again.';
  output.note(`${output.paint('red', 'error:')} ${error}\n${summary} before that; ${again}`);
  return exitCodes.problems;
}

/**
 * Creates the records of a file that do not exist yet (docs/reference/import-export.md#records-by-command-line). Those of blocks
 * pass the rules of their blocks: the whole file is read, and checked, before its first record is stored.
 */
async function importInto(
  stored: StoredApp,
  bytes: SpooledBytes,
  target: Target,
  output: Invocation['output'],
): Promise<Outcome> {
  const { size } = bytes;
  const { restore } = target;
  let records: Records;
  let hasRules = false;
  try {
    records = await opened(bytes, stored, target);
    if (!restore) hasRules = stored.strict || (await isRuled(distinct(records)));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return nothing((error as Error).message);
  }
  const tally = new Map<string, number>();
  const check: Create = (some) => stored.create(some, true, tally);
  const checked = hasRules ? await importFrom(distinct(records), stored, check, output.progress('Check', size)) : null;
  if (checked?.result.error !== undefined) return nothing(checked.result.error);
  const show = output.progress('Import', size);
  const plain: Create = (some) => stored.store.createMany(stored.key, one(some), { restores: restore });
  const done = await importFrom(records, stored, hasRules ? (some) => stored.create(some, false) : plain, show);
  if (done.result.error === undefined) show(size, true);
  return done;
}

const nothing = (error: string): Outcome => ({ result: { imported: 0, skipped: 0, error }, withoutId: 0 });

type Create = (records: readonly NewRecord[]) => Promise<number>;

/** The records of a file, and how many of its bytes the reading that began last has read. */
type Records = RecordFile & { bytesRead(): number };

async function opened(
  file: SpooledBytes,
  { declared, sheet }: StoredApp,
  { file: name, restore: isExact, choices }: Target,
): Promise<Records> {
  let bytesRead = 0;
  const bytes = async function* () {
    // A reading that has stopped counts no more, whenever it is ended.
    let read = 0;
    for await (const piece of file.read()) {
      read += piece.length;
      bytesRead = read;
      yield piece;
    }
  };
  const source = { bytes, sheet: (name: string | undefined) => sheet(bytes(), name) };
  const found = await openRecords(source, { ...choices, format: formatOf(name), declared, isExact });
  return { ...found, bytesRead: () => bytesRead };
}

/** The file for a reading before anything is stored: its other lines may not have the id of one. */
const distinct = (file: Records): Records => ({ ...file, lines: () => distinctLines(file.lines()) });

async function* distinctLines(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  const ids = new Set<string>();
  for await (const line of lines) {
    const id = 'entry' in line ? line.entry.id : undefined;
    if (id === undefined || !ids.has(id)) yield line;
    else yield { line: line.line, problem: `The id "${id}" is in the file twice` };
    if (id !== undefined) ids.add(id);
  }
}

/**
 * Whether there are rules for a record: of its block, or because it names a file, which may be of another record. Reads to the first
 * one, or to the end. Throws WrongEntry.
 */
async function isRuled(file: Records): Promise<boolean> {
  for await (const { items } of entriesOf(file))
    if (typeof items.block === 'string' || JSON.stringify(items).includes('"documentId"')) return true;
  return false;
}

/** A file for several readings: a pipe gives its bytes once, so they are copied. Throws CannotRun. */
async function bytesOf(file: string): Promise<SpooledBytes> {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return await spoolBytes(createReadStream(file), tmpdir());
    return { size: stats.size, read: () => createReadStream(file), remove: async () => undefined };
  } catch (error) {
    throw new CannotRun(`${file} cannot be read: ${(error as Error).message}`);
  }
}

async function importFrom(
  file: Records,
  { store, key }: StoredApp,
  create: Create,
  show: (done: number) => void,
): Promise<Outcome> {
  const counts: Imported = { imported: 0, skipped: 0 };
  let withoutId = 0;
  let chunk: NewRecord[] = [];
  /** The number in the file of a record that `create` counts among those that it got. */
  let numberOf = (record: number): number => record;
  const flush = async () => {
    const given = chunk;
    const before = counts.imported + counts.skipped;
    const fresh = await withoutExisting({ store, key }, given);
    numberOf = (record) => before + given.indexOf(fresh[record - 1] as NewRecord) + 1;
    counts.skipped += given.length - fresh.length;
    chunk = [];
    if (fresh.length > 0) counts.imported += await create(fresh);
    withoutId += fresh.filter(({ id }) => id === undefined).length;
    show(file.bytesRead());
  };
  try {
    for await (const entry of entriesOf(file)) {
      chunk.push(entry);
      if (chunk.length === CHUNK) await flush();
    }
    await flush();
    return { result: counts, withoutId };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { result: { ...counts, error: messageOf(error as Error, numberOf) }, withoutId };
  }
}

/** Errors of what the file holds; a conflict is an id that another process has taken meanwhile, or of `--restore` one that is in the file twice. */
const refusals = new Set([
  ...['BadRequestError', 'ConflictError', 'ValidationError', 'NotFoundError'],
  ...['LogicError', 'LogicTimeoutError', 'DefinitionError', 'PayloadTooLargeError'],
]);

const isRefusal = (error: unknown): boolean => error instanceof WrongEntry || refusals.has((error as Error)?.name);

/** What is wrong, with the record's number in the file and its fields. */
function messageOf(error: Error & { details?: { record?: number } }, numberOf: (record: number) => number): string {
  const { record } = error.details ?? {};
  const where = record === undefined ? '' : `Record ${numberOf(record)} of the file: `;
  return [`${where}${error.message}`, ...fieldLines(error).map((line) => `  ${line}`)].join('\n');
}

async function* one(records: readonly NewRecord[]): AsyncGenerator<NewRecord> {
  yield* records;
}

/** The entries that are not stored yet. Throws WrongEntry when one is stored with other items. */
async function withoutExisting({ store, key }: Pick<StoredApp, 'store' | 'key'>, entries: readonly NewRecord[]) {
  const stored = await Promise.all(entries.map(({ id }) => (id === undefined ? null : store.get(key, id))));
  return entries.filter((entry, at) => {
    const found = stored[at];
    if (!found) return true;
    if (!isThere(found.items, entry.items)) {
      throw new WrongEntry(`The record "${entry.id}" is there already, with other items`);
    }
    return false;
  });
}

/**
 * Whether a stored record is one of the file. To one of a block the server may have added items, its inputs keep values in their own
 * types, and an item that it has not stored is missing or null.
 */
const isThere = (stored: Items, given: Items): boolean =>
  typeof given.block === 'string'
    ? Object.keys(given).every((name) => kept(itemOf(stored, name)) === kept(itemOf(given, name)))
    : sorted(stored) === sorted(given);

const kept = (value: Json): string => (typeof value === 'string' ? value : sorted(value));

/** JSON whose keys are sorted, so that equal values are equal texts. */
const sorted = (value: Json): string =>
  JSON.stringify(value, (_, part: Json) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * Writes a file that others see when it is complete, and never in part: `<file>.part` is renamed at the end, and deleted
 * when `work` fails. Only its owner may read it. Throws CannotRun where the file cannot be written.
 */
export async function writeWhole<T>(
  file: string,
  work: (write: (piece: string | Buffer) => Promise<void>) => Promise<T>,
): Promise<T> {
  const part = `${file}.part`;
  const out = createWriteStream(part, { mode: 0o600 });
  let failure: Error | undefined;
  out.on('error', (error) => {
    failure = new CannotRun(`${file} cannot be written: ${error.message}`);
  });
  try {
    const result = await work(async (piece) => {
      if (failure) throw failure;
      // A stream that fails does not drain: `failure` is then set.
      if (!out.write(piece)) await once(out, 'drain').catch(() => undefined);
    });
    out.end();
    await finished(out).catch((error) => {
      throw failure ?? error;
    });
    renameSync(part, file);
    return result;
  } catch (error) {
    out.destroy();
    rmSync(part, { force: true });
    throw failure ?? error;
  }
}
