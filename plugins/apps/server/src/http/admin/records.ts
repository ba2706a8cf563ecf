import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type {
  columnRoutes,
  Deleted,
  DraftList,
  draftRoutes,
  KeptColumns,
  RecordCreator,
  RecordDetail,
  RecordSummary,
  RecordsPage,
  recordRoutes,
} from '../../../../shared/admin-api';
import { separatorNames } from '../../../../shared/cells';
import { type Items, isItems, itemOf } from '../../../../shared/json';
import { isFreeWord } from '../../../../shared/query/parse';
import { isQuery } from '../../../../shared/query/tokens';
import {
  changeRecord,
  createRecord,
  declaredCells,
  permittedRecord,
  removeRecord,
  shownRecords,
  withRun,
} from '../../apps';
import { AppsError, errorText, fieldLines, isAppsError, missing, notFound } from '../../common/errors';
import { encoded } from '../../common/time/pace';
import { must, readParameters, validateBody } from '../../common/validation';
import { eachFile, type StoredFile } from '../../files';
import { isUnconfirmed } from '../../indexes';
import type { IndexDeclarations } from '../../indexes/types';
import { csvTable, XLSX_TYPE, xlsxTable } from '../../interchange';
import type { Link, RecordLinkPurpose } from '../../links/types';
import type { AppKey, RecordChange, StoredRecord } from '../../records/types';
import { sendPrivate } from '../app/private-files';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { etagOf, resumed, streamed } from '../response/logic-response';
import { panelVisit } from './acting';
import { administratorOf, appOf, type Handle, type Handlers, type PanelApp } from './handler';
import { formBlockOf, formHandlers } from './record-form';
import { importHandlers } from './record-import';

/** Drafts of one page of the panel. */
const PAGE = 100;

const draftParameter = z.object({ id: z.string(must('the id of a draft')) });

/** What the admin routes of drafts answer (shared/admin/records.ts). */
export const draftHandlers: Handlers<typeof draftRoutes> = {
  async drafts(ctx, services): Promise<DraftList> {
    const { key } = await appOf(ctx, services);
    ctx.set('Cache-Control', 'private, no-store');
    const { drafts, total } = await services.drafts.list(key, PAGE);
    const creators = await services.creators([...new Set(drafts.flatMap(({ owner }) => owner ?? []))]);
    const ownerOf = (identity: string | null) =>
      identity === null ? null : { identity, ...(creators.get(identity) ?? { name: identity, path: null }) };
    return {
      drafts: drafts.map(({ draftId, block, owner, savedAt, endsAt, bytes }) => ({
        id: draftId,
        block,
        bytes,
        owner: ownerOf(owner),
        savedAt: new Date(savedAt).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
      })),
      total,
    };
  },

  async deleteDraft(ctx, services): Promise<{ success: 'deleted' }> {
    const { key } = await appOf(ctx, services);
    const { id } = readParameters(draftParameter, ctx.query);
    if (!(await services.drafts.remove(key, id))) throw notFound('There is no such draft');
    return { success: 'deleted' };
  },
};

/** Records that are deleted at once. */
const MAX_DELETED = 500;

const idParameter = z.object({ id: z.string(must('the id of a record')) });

const linkParameters = idParameter.extend({ link: z.string(must('the id of a link')) });

const deleteParameters = idParameter.extend({
  on_delete: z.enum(['true', 'false'], must('true or false')).default('true'),
});

const items = z.custom<Items>(isItems, must('an object'));
const createBody = z.object({ id: z.string(must('a text')).optional(), items });
const updateBody = z.object({ items, version: z.string(must('the version that was read')) });
const deleteBody = z.object({
  ids: z
    .array(z.string(must('the id of a record')), must('a list of ids'))
    .max(MAX_DELETED, must(`at most ${MAX_DELETED} ids`)),
  onDelete: z.boolean(must('true or false')).default(true),
});

type Changes = 'record' | 'createRecord' | 'updateRecord' | 'deleteRecord' | 'deleteRecords' | 'revokeLink';

/** What the admin routes answer that read and change single records as JSON (shared/admin/records.ts). */
const changeHandlers: Pick<Handlers<typeof recordRoutes>, Changes> = {
  async record(ctx, services): Promise<RecordDetail> {
    const found = await appOf(ctx, services);
    const { id } = readParameters(idParameter, ctx.query);
    const record = await services.store.get(found.key, id);
    if (!record) throw notFound(missing.record(id, found.app.id));
    return detailOf(services, found, record);
  },

  async createRecord(ctx, services): Promise<{ id: string }> {
    const found = await appOf(ctx, services);
    const { id = '', items } = validateBody(createBody, jsonObject(ctx));
    const visit = await panelVisit(ctx, services, found);
    const done = await withRun(services, visit, found.app, (run) => createRecord(run, items, id.trim() || undefined));
    ctx.status = 201;
    return { id: done.value.id };
  },

  async updateRecord(ctx, services): Promise<RecordDetail> {
    const found = await appOf(ctx, services);
    const { id } = readParameters(idParameter, ctx.query);
    const { items, version } = validateBody(updateBody, jsonObject(ctx));
    if (Object.hasOwn(items, '$inc')) throw new AppsError('BadRequestError', '"$inc" is no name of an item');
    const visit = await panelVisit(ctx, services, found, id);
    const done = await withRun(
      services,
      visit,
      found.app,
      async (run) => {
        const record = await permittedRecord(run, id, (creator) => run.rights.edit(creator), 'change this record');
        if (etagOf(record) !== version)
          throw new AppsError('PreconditionFailedError', 'The record has changed since it was read');
        return changeRecord(run, record, changeBetween(record.items, storedFiles(record.items, items)), items);
      },
      { recordId: id },
    );
    return detailOf(services, found, (await services.store.get(found.key, id)) ?? done.value);
  },

  async deleteRecord(ctx, services): Promise<{ success: 'deleted' }> {
    const found = await appOf(ctx, services);
    const { id, on_delete: onDelete } = readParameters(deleteParameters, ctx.query);
    const visit = await panelVisit(ctx, services, found, id);
    await withRun(services, visit, found.app, (run) => removeRecord(run, id, undefined, onDelete === 'true'), {
      recordId: id,
    });
    return { success: 'deleted' };
  },

  async revokeLink(ctx, services): Promise<{ success: 'revoked' }> {
    const { key } = await appOf(ctx, services);
    const { id, link } = readParameters(linkParameters, ctx.query);
    const { links } = services;
    const known = await linksOf(services, key, id);
    if (!known.some(({ linkId }) => linkId === link)) throw notFound('The record has no such link');
    await links.now(links.revoke(link));
    return { success: 'revoked' };
  },

  async deleteRecords(ctx, services): Promise<Deleted> {
    const found = await appOf(ctx, services);
    const { ids, onDelete } = validateBody(deleteBody, jsonObject(ctx));
    const failed: Deleted['failed'] = [];
    const wanted = [...new Set(ids)];
    for (const id of wanted) {
      const visit = await panelVisit(ctx, services, found, id);
      try {
        await withRun(services, visit, found.app, (run) => removeRecord(run, id, undefined, onDelete), {
          recordId: id,
        });
      } catch (error) {
        if (!isAppsError(error)) throw error;
        failed.push({ id, message: [errorText(error), ...fieldLines(error)].join('. ') });
      }
    }
    return { deleted: wanted.length - failed.length, failed };
  },
};

/** Items that the panel sends back, with what is stored of the record's files: the panel shows their current addresses. */
function storedFiles(before: Items, after: Items): Items {
  const stored = new Map<string, object>();
  eachFile(before, ({ documentId, url, mime, size, width, height }) =>
    stored.set(documentId, { url, mime, size, ...(width && height ? { width, height } : {}) }),
  );
  if (stored.size === 0) return after;
  const copy = structuredClone(after);
  eachFile(copy, (file: StoredFile & { thumbnail?: unknown }) => {
    const own = stored.get(file.documentId);
    // Made when it is shown.
    if (own) delete file.thumbnail;
    Object.assign(file, own);
  });
  return copy;
}

/** What the panel, which sends all items of a record, has changed: what it sends back unchanged is not sent by its user. */
function changeBetween(before: Items, after: Items): RecordChange {
  const isChanged = (name: string) =>
    !isDeepStrictEqual(itemOf(before, name), after[name]) || !Object.hasOwn(before, name);
  const changed = Object.entries(after).filter(([name]) => name !== 'id' && isChanged(name));
  return {
    set: Object.fromEntries(changed),
    unset: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

/** The links of a record, of each purpose. */
async function linksOf({ links }: HttpServices, key: AppKey, id: string): Promise<Link[]> {
  const purposes: readonly RecordLinkPurpose[] = ['mine', 'confirm'];
  return (await Promise.all(purposes.map((purpose) => links.ofRecord({ key, purpose, id })))).flat();
}

async function detailOf(services: HttpServices, found: PanelApp, record: StoredRecord): Promise<RecordDetail> {
  const [summary] = await summaries(services, found, [record]);
  const all = await linksOf(services, found.key, record.id);
  // That of a confirmed record has done its work.
  const links = all.filter(({ purpose }) => purpose === 'mine' || isUnconfirmed(record.items));
  return {
    ...(summary as RecordDetail),
    version: etagOf(record),
    form: formBlockOf(services, found, record.items),
    links: links.map(({ linkId, purpose, madeAt }) => ({
      id: linkId,
      purpose,
      madeAt: new Date(madeAt).toISOString(),
    })),
  };
}

interface PlainSearch {
  query: string;
  names: Items;
  /** The query as it may be written, for the administrator. */
  shown: string;
}

/** Indexes that plain words are searched in: a number has two conditions for each, and a query has at most 250. */
const MAX_SEARCHED = 120;

/**
 * Plain words as a query that finds the records with them in any index that a query can name, or with them as id; null for an
 * empty text and for one that is a query.
 */
function plainSearch(text: string, indexes: IndexDeclarations): PlainSearch | null {
  const words = text.trim();
  if (words === '' || isQuery(words)) return null;
  const number = /^-?\d+(\.\d+)?$/.test(words) ? Number(words) : undefined;
  const conditions = [...indexes]
    .filter(([name]) => isFreeWord(name))
    .slice(0, MAX_SEARCHED)
    .flatMap(([name, type]) => {
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
const exportRecords: Handle = async (ctx, services) => {
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
const recordsParameters = z.object({
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
      limit,
      offset,
      withTotal: true,
      reverse: reverse === 'true',
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
async function summaries(
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

/** What the admin routes of an administrator's own columns answer (shared/admin/records.ts). */
export const columnHandlers: Handlers<typeof columnRoutes> = {
  async columns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    ctx.set('Cache-Control', 'private, no-store');
    return { columns: await services.panelColumns.get((await administratorOf(ctx, services)).identity, key) };
  },

  async setColumns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    const { columns } = validateBody(columnsBody, jsonObject(ctx));
    const names = columns && [...new Set(columns)];
    await services.panelColumns.set((await administratorOf(ctx, services)).identity, key, names);
    return { columns: names };
  },
};
