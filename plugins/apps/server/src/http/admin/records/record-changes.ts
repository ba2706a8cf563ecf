import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deleted, RecordDetail, recordRoutes } from '../../../../../shared/admin-api';
import { type Items, isItems, itemOf } from '../../../../../shared/json';
import { changeRecord, createRecord, permittedRecord, removeRecord, withRun } from '../../../apps';
import { AppsError, errorText, isAppsError, missing, notFound } from '../../../common/errors';
import { must, readBody, readParameters } from '../../../common/request-schema';
import { eachFile, type StoredFile } from '../../../files';
import { isUnconfirmed } from '../../../indexes';
import type { Link, RecordLinkPurpose } from '../../../links/types';
import type { AppKey, RecordChange, StoredRecord } from '../../../records/types';
import { jsonObject } from '../../request/body';
import type { HttpServices } from '../../request/exchange';
import { etagOf } from '../../response/logic-response';
import { panelVisit } from '../acting';
import { appOf, type Handlers, type PanelApp } from '../handler';
import { formBlockOf } from './record-form';
import { summaries } from './records';

/** Records that are deleted at once. */
const MAX_DELETED = 500;

export const idParameter = z.object({ id: z.string(must('the id of a record')) });

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
export const changeHandlers: Pick<Handlers<typeof recordRoutes>, Changes> = {
  async record(ctx, services): Promise<RecordDetail> {
    const found = await appOf(ctx, services);
    const { id } = readParameters(idParameter, ctx.query);
    const record = await services.store.get(found.key, id);
    if (!record) throw notFound(missing.record(id, found.app.id));
    return detailOf(services, found, record);
  },

  async createRecord(ctx, services): Promise<{ id: string }> {
    const found = await appOf(ctx, services);
    const { id = '', items } = readBody(createBody, jsonObject(ctx));
    const visit = await panelVisit(ctx, services, found);
    const done = await withRun(services, visit, found.app, (run) => createRecord(run, items, id.trim() || undefined));
    ctx.status = 201;
    return { id: done.value.id };
  },

  async updateRecord(ctx, services): Promise<RecordDetail> {
    const found = await appOf(ctx, services);
    const { id } = readParameters(idParameter, ctx.query);
    const { items, version } = readBody(updateBody, jsonObject(ctx));
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
    const { ids, onDelete } = readBody(deleteBody, jsonObject(ctx));
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
        failed.push({ id, message: errorText(error) });
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
