import { createReadStream } from 'node:fs';
import type { Context } from 'koa';
import { z } from 'zod';
import type { ImportOptions } from '../../../../../shared/admin-api';
import { encodings } from '../../../../../shared/cells';
import type { Items } from '../../../../../shared/json';
import { declaredCells } from '../../../apps';
import { AppsError, attempt } from '../../../common/errors';
import { must, readBody } from '../../../common/request-schema';
import { formatOf, type Line, openRecords, type RecordFile } from '../../../interchange';
import { checkDepth } from '../../request/body';
import { tableShape } from '../../request/body-schemas';
import type { HttpServices } from '../../request/exchange';
import type { PanelApp } from '../handler';
import { withUpload } from '../upload';

/** Bytes of a file that the panel imports; larger ones take the command line. */
const MAX_FILE = 50 * 1024 * 1024;
/** Characters of a line or row. */
const MAX_LINE = 1024 * 1024;
/** Columns of a mapping. */
const MAX_COLUMNS = 1_000;
const MAX_NAME = 255;

const options = z.object({
  name: z.string(must('the name of the file')),
  mapping: z
    .record(z.string(), z.string().min(1).max(MAX_NAME).nullable(), must('an object of item names'))
    .refine((mapping) => Object.keys(mapping).length <= MAX_COLUMNS, must(`at most ${MAX_COLUMNS} columns`))
    .default({}),
  encoding: z.enum(encodings, must(`one of ${encodings.join(', ')}`)).optional(),
  ...tableShape,
});

/** A file that an administrator has sent, with what is to be made of it. */
export interface ImportFile extends RecordFile {
  path: string;
}

/** A line of the file as a record that can be stored, or the reason why it is none. */
export type ImportLine = { line: number; items: Items } | { line: number; problem: string };

/** Runs `work` with the sent file, which is deleted afterwards unless `work` gives it to something that runs on. */
export function withFile<T>(
  ctx: Context,
  { sheets }: Pick<HttpServices, 'sheets'>,
  { app, key }: PanelApp,
  work: (file: ImportFile, keep: () => void) => Promise<T>,
): Promise<T> {
  return withUpload(ctx, async ({ path, size, options: given }, keep) => {
    if (size > MAX_FILE)
      throw new AppsError(
        'PayloadTooLargeError',
        `The file is larger than ${MAX_FILE / 1024 ** 2} MB: use the command line`,
      );
    const { name, ...choices } = readBody(options, given);
    checkTargets(choices.mapping);
    const bytes = () => bytesOf(path);
    const sheet = (wanted: string | undefined) => sheets.read(`${key.site}/${key.app}`, bytes(), wanted);
    const opened = openRecords(
      { bytes, sheet },
      { ...choices, format: formatOf(name), declared: declaredCells(app), maxLine: MAX_LINE },
    );
    return work({ ...(await opened), path }, keep);
  });
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  const stream = createReadStream(path);
  try {
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    stream.destroy();
  }
}

function checkTargets(mapping: ImportOptions['mapping']): void {
  const seen = new Set<string>();
  for (const target of Object.values(mapping)) {
    if (target === null) continue;
    if (seen.has(target)) throw new AppsError('BadRequestError', `Two columns are mapped to the item "${target}"`);
    seen.add(target);
  }
}

/** The lines of the file with their items. Throws BadRequestError where it cannot be read on. */
export async function* importLines(file: ImportFile): AsyncGenerator<ImportLine> {
  for await (const line of file.lines()) yield 'problem' in line ? line : withItems(line);
}

function withItems({ line, entry: { id, items } }: Extract<Line, { entry: unknown }>): ImportLine {
  const { error } = attempt(() => checkDepth(items));
  if (error) return { line, problem: error.message };
  return { line, items: { ...(id === undefined ? {} : { id }), ...items } };
}
