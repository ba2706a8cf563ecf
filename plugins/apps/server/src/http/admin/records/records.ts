import { z } from 'zod';
import type {
  columnRoutes,
  KeptColumns,
  RecordCreator,
  RecordSummary,
  RecordsPage,
  recordRoutes,
} from '../../../../../shared/admin-api';
import { separatorNames } from '../../../../../shared/cells';
import type { Items } from '../../../../../shared/json';
import { isQuery } from '../../../../../shared/query/tokens';
import { declaredCells, shownRecords } from '../../../apps';
import { notFound } from '../../../common/errors';
import { must, readBody, readParameters } from '../../../common/request-schema';
import { encoded } from '../../../common/time/pace';
import type { IndexDeclarations } from '../../../indexes/types';
import { csvTable, XLSX_TYPE, xlsxTable } from '../../../interchange';
import type { StoredRecord } from '../../../records/types';
import { sendPrivate } from '../../app/private-files';
import { jsonObject } from '../../request/body';
import type { HttpServices } from '../../request/exchange';
import { resumed, streamed } from '../../response/logic-response';
import { administratorOf, appOf, type Handle, type Handlers, type PanelApp } from '../handler';
import { importHandlers } from './import';
import { changeHandlers } from './record-changes';
import { formHandlers } from './record-form';

export interface PlainSearch {
  query: string;
  names: Items;
  /** The query as it may be written, for the administrator. */
  shown: string;
}

/**
 * Plain words as a query that finds the records with them in any index, or with them as id; null for an empty text and
 * for one that is a query.
 */
export function plainSearch(text: string, indexes: IndexDeclarations): PlainSearch | null {
  const words = text.trim();
  if (words === '' || isQuery(words)) return null;
  const number = /^-?\d+(\.\d+)?$/.test(words) ? Number(words) : undefined;
  const conditions = [...indexes].flatMap(([name, type]) => {
    if (type !== 'field') return [`words in ${name}`];
    return [`${name} == words`, ...(number === undefined ? [] : [`${name} == number`])];
  });
  const query = [...conditions, ...(indexes.has('id') ? [] : ['id == words'])].join(' or ');
  return {
    query,
    names: { words, ...(number === undefined ? {} : { number }) },
    shown: query
      .replaceAll(/\bwords\b(?= in)|(?<== )words\b/g, JSON.stringify(words))
      .replaceAll('== number', `== ${words}`),
  };
}

const parameters = z.object({
  format: z.enum(['csv', 'xlsx', 'ndjson'], must('"csv", "xlsx" or "ndjson"')),
  separator: z.enum(separatorNames, must('"comma", "semicolon" or "tab"')).default('comma'),
  query: z.string(must('a text')).default(''),
});

type Batches = () => AsyncIterable<StoredRecord[]>;

const types = { csv: 'text/csv', xlsx: XLSX_TYPE, ndjson: 'application/x-ndjson' };

/** `exportRecords`: all records of an app, or those that a query finds, as a file (docs/reference/import-export.md#csv). */
export const exportRecords: Handle = async (ctx, services) => {
  const found = await appOf(ctx, services);
  const { format, separator, query } = readParameters(parameters, ctx.query);
  const batches = batchesOf(services, found, query);
  const options = { declared: declaredCells(found.app), isWhole: true };
  const chunks: AsyncGenerator<Buffer> =
    format === 'csv'
      ? csvTable(shown(services, found, batches), { ...options, separator, hasMark: true })
      : format === 'xlsx'
        ? xlsxTable(shown(services, found, batches), options)
        : ndjson(batches);
  // The first piece is read before the answer begins, so that a bad query is still a clean error.
  const first = await chunks.next();
  ctx.type = types[format];
  ctx.set('Content-Disposition', `attachment; filename="${found.app.id}.${format}"`);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.set('X-Content-Type-Options', 'nosniff');
  return streamed(ctx, resumed(first, chunks));
};

const fileParameters = z.object({ id: z.string(must('the id of a file')), thumbnail: z.string().optional() });

/** `recordFile`: a private file of an app. The panel has no session on the site, where its address is. */
const recordFile: Handle = async (ctx, services) => {
  const { key } = await appOf(ctx, services);
  const { id } = readParameters(fileParameters, ctx.query);
  const [file] = await services.files.privateFiles([id]);
  if (!file || file.site !== key.site || file.app !== key.app) throw notFound('There is no such file');
  await sendPrivate(ctx, services, file);
  if (ctx.status !== 302) return ctx.body;
  const url = ctx.response.get('Location');
  ctx.remove('Location');
  ctx.status = 200;
  ctx.type = 'text/uri-list';
  return url;
};

function batchesOf({ store }: HttpServices, { app, key }: PanelApp, query: string): Batches {
  if (query.trim() === '') return () => store.stream(key);
  const search = plainSearch(query, app.indexes) ?? { query };
  return () => store.streamMatches(key, app.indexes, search);
}

/** The records with the addresses of their files: a table is read by people, NDJSON keeps what is stored. */
function shown({ files }: HttpServices, { key }: PanelApp, batches: Batches): Batches {
  return async function* () {
    for await (const batch of batches()) yield await shownRecords(files, key, batch);
  };
}

const ndjson = (batches: Batches): AsyncGenerator<Buffer> =>
  encoded(batches(), ({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`);

/** Records of one page of the panel. */
const MAX_PAGE = 100;

/** What the panel asks for of records; a number that is none gets its default. */
export const recordsParameters = z.object({
  query: z.string(must('a text')).default(''),
  sort: z.string(must('the name of an index')).optional(),
  reverse: z.enum(['true', 'false'], must('true or false')).default('false'),
  limit: count(20).transform((limit) => Math.min(limit, MAX_PAGE)),
  offset: count(0),
});

function count(defaultValue: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .catch(defaultValue);
}

/** What the admin routes of an app's records answer (shared/admin/records.ts). */
export const recordHandlers: Handlers<typeof recordRoutes> = {
  async records(ctx, services): Promise<RecordsPage> {
    const found = await appOf(ctx, services);
    const { query, sort, reverse, limit, offset } = readParameters(recordsParameters, ctx.query);
    const plain = plainSearch(query, found.app.indexes);
    const options = {
      ...{ limit, offset, withTotal: true, reverse: reverse === 'true' },
      ...(plain ?? { query }),
      ...(sort ? { sortIndex: sort } : {}),
    };
    const { records, total } = await services.store.search(found.key, found.app.indexes, options);
    return {
      total: total ?? records.length,
      records: await summaries(services, found, records),
      query: plain?.shown ?? null,
    };
  },

  exportRecords,
  recordFile,
  ...changeHandlers,
  ...formHandlers,
  ...importHandlers,
};

/** Records as the panel shows them, with their creators by name. */
export async function summaries(
  services: HttpServices,
  { site, app, key }: PanelApp,
  records: readonly StoredRecord[],
): Promise<RecordSummary[]> {
  const identities = new Set(records.flatMap(({ creator }) => creator || []));
  const creators = await services.creators([...identities]);
  const creatorOf = (identity: string | null): RecordCreator | null =>
    identity ? { identity, ...(creators.get(identity) ?? { name: identity, path: null }) } : null;
  const shown = await shownRecords(services.files, key, records);
  return shown.map(({ id, creator, items }) => ({
    id,
    url: services.sites.urls.record(site, app.id, id),
    creator: creatorOf(creator),
    items,
  }));
}

/** Columns of one app, and characters of a name. */
const MAX = { columns: 200, name: 255 };

const columnsBody = z.object({
  columns: z
    .array(
      z.string(must('a name')).max(MAX.name, must(`at most ${MAX.name} characters`)),
      must('a list of names, or null'),
    )
    .max(MAX.columns, must(`at most ${MAX.columns} names`))
    .nullable(),
});

/** What the admin routes of an administrator's own columns answer (shared/admin/columns.ts). */
export const columnHandlers: Handlers<typeof columnRoutes> = {
  async columns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    ctx.set('Cache-Control', 'private, no-store');
    return { columns: await services.panelColumns.get((await administratorOf(ctx, services)).identity, key) };
  },

  async setColumns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    const { columns } = readBody(columnsBody, jsonObject(ctx));
    const names = columns && [...new Set(columns)];
    await services.panelColumns.set((await administratorOf(ctx, services)).identity, key, names);
    return { columns: names };
  },
};
