import { rm } from 'node:fs/promises';
import type { ImportPreview, ImportState, recordRoutes } from '../../../../../shared/admin-api';
import { type Separator, separatorNames, separators } from '../../../../../shared/cells';
import type { Items } from '../../../../../shared/json';
import { createMany, type Visit } from '../../../apps';
import { AppsError, errorText, fieldLines, isAppsError, missing } from '../../../common/errors';
import { recordIdProblem } from '../../../common/record-id';
import type { AppKey } from '../../../records/types';
import type { HttpServices } from '../../request/exchange';
import { appOf, type Handlers, type PanelApp } from '../handler';
import { panelVisit } from '../visit';
import { type ImportFile, type ImportLine, importLines, withFile } from './import-file';

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
    const visit = await panelVisit(ctx, services, found);
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
    return imports.get(nameOf(key)) ?? { state: 'none', done: 0, total: 0, message: null, line: null };
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
    ...{ format, separator: separatorName(separator), encoding, sheets },
    ...{ records: 0, columns: [], first: [], problems: [], wrong: 0 },
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
  const state: ImportState = { state: 'running', done: 0, total, message: null, line: null };
  imports.set(name, state);
  const lines: number[] = [];
  const read = () =>
    batches(file, (line, count) => {
      lines[count - 1] = line;
      imports.set(name, { ...state, done: count });
    });
  namesBlocks(file)
    .then((namesBlocks) =>
      createMany(services, visit, app, { namesBlocks, read, lineOf: (record) => lines[record - 1] ?? 0 }),
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

async function namesBlocks(file: ImportFile): Promise<boolean> {
  for await (const line of importLines(file))
    if ('items' in line && line.items.block !== undefined && line.items.block !== null) return true;
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
