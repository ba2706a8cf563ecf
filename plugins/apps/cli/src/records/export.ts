import { resolve } from 'node:path';
import { cellOf, csvText, formatOf } from '../../../server/src/interchange';
import type { AppKey, RecordStore, StoredRecord } from '../../../server/src/records/types';
import type { Invocation } from '../command';
import { type ExitCode, exitCodes } from '../exit';
import { writeWhole } from './part-file';
import { type StoredApp, withApp } from './stored-app';

/** Writes all records of an app to a file (docs/reference/import-export.md#records-by-command-line). */
export async function exportRecords(
  { output, cwd, host }: Invocation,
  target: { site: string; app: string; file: string },
): Promise<ExitCode> {
  const file = resolve(cwd, target.file);
  const records = await withApp(host(), target.site, target.app, (stored) => exportTo(file, stored, output));
  output.line(`${records} records exported to ${file}`);
  output.data({ records, file });
  return exitCodes.fine;
}

async function exportTo(
  file: string,
  { store, key, indexes }: StoredApp,
  output: Invocation['output'],
): Promise<number> {
  const total = await store.count(key, indexes);
  const show = output.progress('Export', total);
  return writeWhole(file, async (write) => {
    const textOf = formatOf(file) === 'csv' ? await csvWriter(store, key, write) : ndjson;
    let done = 0;
    for await (const batch of store.stream(key)) {
      await write(textOf(batch));
      done += batch.length;
      show(done);
    }
    show(total, true);
    return done;
  });
}

const ndjson = (batch: readonly StoredRecord[]): string =>
  batch.map(({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`).join('');

/** Writes the header row, for which it reads all records once more; returns the function that formats a batch of records. */
async function csvWriter(store: RecordStore, key: AppKey, write: (text: string) => Promise<void>) {
  const names = new Set<string>();
  for await (const batch of store.stream(key))
    for (const { items } of batch) for (const name of Object.keys(items)) names.add(name);
  const columns = [...names];
  await write(csvText([['id', ...columns]]));
  return (batch: readonly StoredRecord[]): string =>
    csvText(
      batch.map(({ id, items }) => [
        cellOf(id),
        ...columns.map((name) => cellOf(Object.hasOwn(items, name) ? items[name] : undefined)),
      ]),
    );
}
