import { createReadStream } from 'node:fs';
import type { Context } from 'koa';
import { z } from 'zod';
import type { ImportOptions } from '../../../../../shared/admin-api';
import type { Items, Json } from '../../../../../shared/json';
import { AppsError, attempt } from '../../../common/errors';
import { must, readBody } from '../../../common/request-schema';
import { type Format, formatOf, linesOfFile, WrongEntry } from '../../../interchange';
import { checkDepth } from '../../request/body';
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
});

/** A file that an administrator has sent, with what is to be made of it. */
export interface ImportFile extends ImportOptions {
  path: string;
  format: Format;
}

/** A line of the file as a record that can be stored, or the reason why it is none. */
export type ImportLine = { line: number; items: Items; columns: Items } | { line: number; problem: string };

/** Runs `work` with the sent file, which is deleted afterwards unless `work` gives it to something that runs on. */
export function withFile<T>(ctx: Context, work: (file: ImportFile, keep: () => void) => Promise<T>): Promise<T> {
  return withUpload(ctx, async ({ path, size, options: given }, keep) => {
    if (size > MAX_FILE)
      throw new AppsError(
        'PayloadTooLargeError',
        `The file is larger than ${MAX_FILE / 1024 ** 2} MB: use the command line`,
      );
    const { name, mapping } = readBody(options, given);
    checkTargets(mapping);
    return work({ path, format: formatOf(name), name, mapping }, keep);
  });
}

function checkTargets(mapping: ImportOptions['mapping']): void {
  const seen = new Set<string>();
  for (const target of Object.values(mapping)) {
    if (target === null) continue;
    if (seen.has(target)) throw new AppsError('BadRequestError', `Two columns are mapped to the item "${target}"`);
    seen.add(target);
  }
}

/** The lines of the file with their items, named as the mapping says. Throws BadRequestError where it cannot be read on. */
export async function* importLines({ path, format, mapping }: ImportFile): AsyncGenerator<ImportLine> {
  const names = new Map(Object.entries(mapping));
  const stream = createReadStream(path);
  try {
    for await (const line of linesOfFile(format, stream, MAX_LINE)) {
      if ('problem' in line) yield line;
      else {
        const { id, items } = line.entry;
        const columns = { ...(id === undefined ? {} : { id }), ...items };
        yield mapped(line.line, columns, names);
      }
    }
  } catch (error) {
    if (error instanceof WrongEntry) throw new AppsError('BadRequestError', error.message);
    throw error;
  } finally {
    stream.destroy();
  }
}

function mapped(line: number, columns: Items, names: ReadonlyMap<string, string | null>): ImportLine {
  const items = new Map<string, Json>();
  for (const [column, value] of Object.entries(columns)) {
    const name = names.has(column) ? names.get(column) : column;
    if (name === null || name === undefined) continue;
    if (items.has(name)) return { line, problem: `Two columns are the item "${name}"` };
    // Ids are texts, also where they look like numbers.
    items.set(name, name === 'id' && typeof value === 'number' ? String(value) : value);
  }
  const { error } = attempt(() => checkDepth(columns));
  if (error) return { line, problem: error.message };
  const id = items.get('id');
  if (id !== undefined && typeof id !== 'string') return { line, problem: 'The id is not a text' };
  return { line, items: Object.fromEntries(items), columns };
}
