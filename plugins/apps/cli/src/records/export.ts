import { resolve } from 'node:path';
import { csvTable, formatOf } from '../../../server/src/interchange';
import type { StoredRecord } from '../../../server/src/records/types';
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
  { store, key, indexes, declared }: StoredApp,
  output: Invocation['output'],
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
  await writeWhole(file, async (write) => {
    const pieces = formatOf(file) === 'csv' ? csvTable(read, { declared }) : ndjson(read());
    for await (const text of pieces) await write(text);
  });
  show(total, true);
  return done;
}

async function* ndjson(batches: AsyncIterable<StoredRecord[]>): AsyncGenerator<string> {
  for await (const batch of batches)
    yield batch.map(({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`).join('');
}
