import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { z } from 'zod';
import type { ImportOptions, ImportPreview, ImportState, recordRoutes } from '../../../../shared/admin-api';
import { encodings, type Separator, separatorNames, separators } from '../../../../shared/cells';
import type { Items } from '../../../../shared/json';
import { createMany, declaredCells, hasRules, type Visit } from '../../apps';
import { AppsError, attempt, errorText, fieldLines, isAppsError, missing } from '../../common/errors';
import { recordIdProblem } from '../../common/record-id';
import { must, readParameters, validateBody } from '../../common/validation';
import { formatOf, type Line, openRecords, type RecordFile } from '../../interchange';
import type { AppKey } from '../../records/types';
import { checkDepth } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { tableShape } from '../request/operations';
import { panelVisit } from './acting';
import { appOf, type Handlers, type PanelApp, withUpload } from './handler';

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

const stateParameters = z.object({ id: z.string(must('the id of an import')).optional() });

/** A file that an administrator has sent, with what is to be made of it. */
interface ImportFile extends RecordFile {
  path: string;
}

/** A line of the file as a record that can be stored, or the reason why it is none. */
type ImportLine = { line: number; items: Items } | { line: number; problem: string };

/** Runs `work` with the sent file, which is deleted afterwards unless `work` gives it to something that runs on. */
function withFile<T>(
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
    const { name, ...choices } = validateBody(options, given);
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
async function* importLines(file: ImportFile): AsyncGenerator<ImportLine> {
  for await (const line of file.lines()) yield 'problem' in line ? line : withItems(line);
}

function withItems({ line, entry: { id, items } }: Extract<Line, { entry: unknown }>): ImportLine {
  const { error } = attempt(() => checkDepth(items));
  if (error) return { line, problem: error.message };
  return { line, items: { ...(id === undefined ? {} : { id }), ...items } };
}

/** Mistakes, records and columns that a preview shows. */
const SHOWN = { problems: 50, records: 5, columns: 200, example: 80 };
/** Records whose ids a preview looks up. */
const MAX_LOOKED_UP = 2_000;
/** Records of a batch. */
const BATCH = 500;

/** The import of each app that this process runs, or the last one. */
const imports = new Map<string, ImportState>();
const nameOf = ({ site, app }: AppKey) => `${site}/${app}`;

/** What the admin routes of imports answer (shared/admin/records.ts). */
export const importHandlers: Pick<Handlers<typeof recordRoutes>, 'previewImport' | 'importRecords' | 'importState'> = {
  async previewImport(ctx, services): Promise<ImportPreview> {
    const found = await appOf(ctx, services);
    return withFile(ctx, services, found, (file) => preview(services, found, file));
  },

  async importRecords(ctx, services): Promise<ImportState> {
    const found = await appOf(ctx, services);
    refuseWhileRunning(found);
    const visit = await panelVisit(ctx, services, found, undefined, 'import');
    return withFile(ctx, services, found, async (file, keep) => {
      const { records, wrong, problems } = await preview(services, found, file);
      if (wrong > 0)
        throw new AppsError('BadRequestError', 'Some lines of the file are not right', {
          details: { problems, wrong },
        });
      // Another import may have begun meanwhile.
      refuseWhileRunning(found);
      keep();
      ctx.status = 202;
      return start(services, found, visit, file, records);
    });
  },

  async importState(ctx, services): Promise<ImportState> {
    ctx.set('Cache-Control', 'private, no-store');
    const { key } = await appOf(ctx, services);
    const { id } = readParameters(stateParameters, ctx.query);
    const known = imports.get(nameOf(key));
    if (known && (id === undefined || known.id === id)) return known;
    // Another process may run it.
    return { id: null, state: 'none', done: 0, total: 0, message: null, line: null };
  },
};

function refuseWhileRunning({ key }: PanelApp): void {
  if (imports.get(nameOf(key))?.state === 'running')
    throw new AppsError('ConflictError', 'An import into this app is running');
}

/** Checks every line of a file; nothing is stored. */
async function preview(services: HttpServices, { app, key }: PanelApp, file: ImportFile): Promise<ImportPreview> {
  const { format, separator, encoding, sheets } = file;
  const shown: ImportPreview = {
    format,
    separator: separatorName(separator),
    encoding,
    sheets,
    records: 0,
    columns: [],
    first: [],
    problems: [],
    wrong: 0,
  };
  const columns = new Map<string, string>();
  const ids = new Set<string>();
  const note = (line: number, message: string) => {
    shown.wrong += 1;
    if (shown.problems.length < SHOWN.problems) shown.problems.push({ line, message });
  };
  const problemOf = async (items: Items): Promise<string | null> => {
    const { id, block } = items as { id?: string; block?: unknown };
    if (block !== undefined && block !== null && !(typeof block === 'string' && app.blocks.has(block)))
      return missing.block(String(block), app.id);
    if (id === undefined) return null;
    const wrongId = recordIdProblem(id);
    if (wrongId) return wrongId.rule;
    if (ids.has(id)) return `The id "${id}" is in the file twice`;
    ids.add(id);
    const isTaken = ids.size <= MAX_LOOKED_UP && (await services.store.get(key, id)) !== null;
    return isTaken ? `There is a record "${id}" already` : null;
  };
  for await (const line of importLines(file)) {
    if (format === 'ndjson' && 'items' in line) noteColumns(columns, line.items);
    const problem = 'problem' in line ? line.problem : await problemOf(line.items);
    if (problem !== null) note(line.line, problem);
    else {
      shown.records += 1;
      const { id = null, ...items } = (line as { items: Items }).items;
      if (shown.first.length < SHOWN.records) shown.first.push({ id: id as string | null, items });
    }
  }
  shown.columns =
    format === 'ndjson'
      ? [...columns].map(([name, example]) => ({ name, example, item: name, kind: null }))
      : file.columns.slice(0, SHOWN.columns);
  return shown;
}

const separatorName = (sign: string | null): Separator | null =>
  separatorNames.find((name) => separators[name] === sign) ?? null;

function noteColumns(columns: Map<string, string>, items: Items): void {
  for (const [name, value] of Object.entries(items)) {
    if (columns.has(name) || columns.size >= SHOWN.columns) continue;
    columns.set(name, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, SHOWN.example));
  }
}

/** Stores the records in the background, all or none, and deletes the file. */
function start(
  services: HttpServices,
  { app, key }: PanelApp,
  visit: Visit,
  file: ImportFile,
  total: number,
): ImportState {
  const name = nameOf(key);
  const state: ImportState = { id: randomUUID(), state: 'running', done: 0, total, message: null, line: null };
  imports.set(name, state);
  const lines: number[] = [];
  const read = () =>
    batches(file, (line, count) => {
      lines[count - 1] = line;
      imports.set(name, { ...state, done: count });
    });
  isRuled(file)
    .then((isRuled) =>
      createMany(services, visit, app, { hasRules: isRuled, read, lineOf: (record) => lines[record - 1] ?? 0 }),
    )
    .then((done) => imports.set(name, { ...state, state: 'done', done }))
    .catch((error: unknown) => {
      if (!isAppsError(error)) services.logger.error(`[apps] import into ${name}: ${String(error)}`);
      const message = isAppsError(error)
        ? [errorText(error), ...fieldLines(error)].join('\n')
        : 'The import failed; the log says why';
      const { line = null } = isAppsError(error) ? error.details : {};
      imports.set(name, { ...state, state: 'failed', message, line: line as number | null });
    })
    .finally(() => rm(file.path, { force: true }).catch(() => undefined));
  return state;
}

async function isRuled(file: ImportFile): Promise<boolean> {
  for await (const line of importLines(file)) if ('items' in line && hasRules(line.items)) return true;
  return false;
}

async function* batches(file: ImportFile, note: (line: number, count: number) => void): AsyncGenerator<Items[]> {
  let batch: Items[] = [];
  let count = 0;
  for await (const line of importLines(file)) {
    batch.push(itemsOf(line));
    count += 1;
    note(line.line, count);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function itemsOf(line: ImportLine): Items {
  if ('problem' in line) throw new AppsError('BadRequestError', `Line ${line.line}: ${line.problem}`);
  return line.items;
}
