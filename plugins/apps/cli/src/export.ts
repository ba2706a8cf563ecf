import { resolve } from 'node:path';
import { ColumnsChanged, csvTable, type Format, formatOf, WrongEntry, xlsxTable } from '../../server/src/interchange';
import type { StoredRecord } from '../../server/src/records/types';
import type { Separator } from '../../shared/cells';
import { CannotRun, type ExitCode, exitCodes, type Invocation, type RunCommand } from './command';
import { writeWhole } from './import';
import { type StoredApp, withApp } from './records';

const isZip = (file: string | undefined): file is string => /\.zip$/i.test(file ?? '');

/** Records, or files as a ZIP, by the number of arguments. */
export const run: RunCommand = async (invocation) => {
  const { from = '', target: second = '', file } = invocation.args;
  if (file !== undefined) {
    if (isZip(file))
      throw new CannotRun(
        'Records are exported as NDJSON or CSV, or as XLSX',
        'Files of an app: export <theme>/<app> <file.zip>',
      );
    const separator = invocation.options.separator as Separator | undefined;
    return exportRecords(invocation, { site: from, app: second, file, separator });
  }
  if (!isZip(second)) {
    throw new CannotRun(
      `"${second}" is no ZIP, and no file for the records of an app was named`,
      'export <site> <app> <file>, or export <theme>[/<app>] <file.zip>',
    );
  }
  const { exportFiles } = await import('./archive');
  return exportFiles(invocation, { source: from, file: second });
};

/** Writes all records of an app to a file (docs/reference/import-export.md#records-by-command-line). */
async function exportRecords(
  { output, cwd, host }: Invocation,
  target: { site: string; app: string; file: string; separator: Separator | undefined },
): Promise<ExitCode> {
  const file = resolve(cwd, target.file);
  const records = await withApp(host(), target.site, target.app, (stored) =>
    exportTo(file, stored, output, target.separator),
  );
  output.line(`${records} records exported to ${file}`);
  output.data({ records, file });
  return exitCodes.fine;
}

async function exportTo(
  file: string,
  { store, key, indexes, declared }: StoredApp,
  output: Invocation['output'],
  separator: Separator = /\.tsv$/i.test(file) ? 'tab' : 'comma',
): Promise<number> {
  const total = await store.count(key, indexes);
  const show = output.progress('Export', total);
  let done = 0;
  // A table reads the records twice: the last reading counts.
  const read = async function* (): AsyncGenerator<StoredRecord[]> {
    done = 0;
    for await (const batch of store.stream(key)) {
      yield batch;
      done += batch.length;
      show(done);
    }
  };
  const pieces: Record<Format, () => AsyncGenerator<string | Buffer>> = {
    csv: () => csvTable(read, { declared, isWhole: true, separator }),
    xlsx: () => xlsxTable(read, { declared, isWhole: true }),
    ndjson: () => ndjson(read()),
  };
  const write = () =>
    writeWhole(file, async (write) => {
      for await (const piece of pieces[formatOf(file)]()) await write(piece);
    });
  try {
    await untilUnchanged(write);
  } catch (error) {
    throw error instanceof WrongEntry || error instanceof ColumnsChanged ? new CannotRun(error.message) : error;
  }
  show(total, true);
  return done;
}

/** Times that a table is written while others change its records. */
const MAX_TRIES = 5;

async function untilUnchanged(write: () => Promise<void>): Promise<void> {
  for (let left = MAX_TRIES - 1; left > 0; left -= 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ColumnsChanged)) throw error;
    }
  }
  return write();
}

async function* ndjson(batches: AsyncIterable<StoredRecord[]>): AsyncGenerator<string> {
  for await (const batch of batches)
    yield batch.map(({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`).join('');
}
