import type { Items } from '../../../../shared/json';
import { seesRecords } from '../../auth';
import type { Rights } from '../../auth/types';
import { definitionError, isAppsError, type SourcePosition } from '../../common/errors';
import { shortWork } from '../../common/time/pace';
import { isUnconfirmed } from '../../indexes';
import type { Only, StoredRecord } from '../../records/types';
import type { ContentEntry, ElementData, VisibleRecords } from '../elements';
import type { App } from '../types';
import { shownInRun } from './files';
import { ownsByLink } from './own-link';
import { keyOf, nestedRun } from './run';
import type { Run } from './types';

/** An app, and the rights of a requester in it. */
interface Viewer {
  app: Pick<App, 'confirms'>;
  rights: Pick<Rights, 'edit'>;
}

/**
 * Whether records that wait until they are confirmed are hidden from a requester: those who may change all records see them
 * (docs/decisions/confirmation.md).
 */
export const hidesUnconfirmed = ({ app, rights }: Viewer): boolean => app.confirms && !rights.edit(null);

/** What a search, a count or a list of a requester leaves out. */
export const confirmedOnly = (viewer: Viewer): { confirmed?: true } =>
  hidesUnconfirmed(viewer) ? { confirmed: true } : {};

/** Which records a page has, from what a search would leave out: undefined for all. */
export function onlyOf(
  { indexes }: Pick<App, 'indexes'>,
  wanted: Pick<Only, 'creator' | 'confirmed'>,
): Only | undefined {
  return Object.keys(wanted).length > 0 ? { ...wanted, indexes } : undefined;
}

/** The record; null where it is hidden from the requester. */
export function unlessHidden<T extends Pick<StoredRecord, 'items'>>(viewer: Viewer, record: T | null): T | null {
  return record && isUnconfirmed(record.items) && hidesUnconfirmed(viewer) ? null : record;
}

/**
 * The same for a run: a record that it is saving or deleting, and the one whose link it was opened by, are not hidden from it.
 * @param run of the record's app
 */
export function visibleIn(run: Run, record: StoredRecord | null): StoredRecord | null {
  if (!record || ownsByLink(run.visit, run.app.id, record)) return record;
  const address = `${run.app.id}\n${record.id}`;
  return run.saving.has(address) || run.deleting.has(address) ? record : unlessHidden(run, record);
}

/** Content and records for the elements of a block, as the requester of the run sees them. */
export const elementData = (run: Run): ElementData => ({
  attempt: run.unit,
  app: run.app.id,
  contentFields(uid) {
    const type = run.services.sites.content.typeNamed(uid);
    return type ? new Set(Object.keys(type.attributes)) : null;
  },
  content: (uid, params) => contentOf(run, uid, params),
  async records(id, position) {
    const app = await appNamed(run, id, position);
    const target = app === run.app ? run : nestedRun(run, app);
    return seesRecords(target.rights) ? recordsOf(target) : null;
  },
});

async function appNamed(run: Run, id: string, position: SourcePosition): Promise<App> {
  const app = id === run.app.id ? run.app : await run.services.loadApp(run.visit.site, id);
  if (!app) throw definitionError(`There is no app "${id}"`, position);
  if (app.error) throw app.error;
  return app;
}

async function contentOf({ visit, services, unit }: Run, uid: string, params: Items): Promise<ContentEntry[]> {
  const call = await services.documents(uid, 'findMany', { ...params, locale: visit.site.locale }, visit.requester);
  const documents = (await unit.alongside(call.run)) as Items[];
  const entries = documents.map(async (fields): Promise<ContentEntry | null> => {
    const item = await services.sites.content.describe(visit.site, uid, fields, { draft: false });
    return item?.documentId ? { id: item.documentId, title: item.title, url: item.url, fields } : null;
  });
  return (await Promise.all(entries)).filter((entry) => entry !== null);
}

/** @param target a run of the records' app */
function recordsOf(target: Run): VisibleRecords {
  const { app, unit, rights, visit, services } = target;
  const key = keyOf(target);
  const own = rights.viewOwn === null ? {} : { creator: rights.viewOwn };
  return {
    get: (id) => recordOf(target, id),
    async search(query, names, limit, block) {
      if (query === '' && block === undefined && rights.viewOwn === null)
        return (await unit.page(key, { limit, only: onlyOf(app, confirmedOnly(target)) })).records;
      const ofBlock = block === undefined ? {} : { block };
      const wanted = { query, names, limit, ...ofBlock, ...own, ...confirmedOnly(target) };
      return (await unit.search(key, app.indexes, wanted)).records;
    },
    hasWords: (item) => app.indexes.get(item) === 'text',
    shown: (records) => shownInRun(target, app.id, records),
    url: (id) => services.sites.urls.record(visit.site, app.id, id, visit.contentPath),
  };
}

/** A record, or null; an id that no record can have is none. */
async function recordOf(target: Run, id: string): Promise<StoredRecord | null> {
  try {
    const record = await target.unit.get(keyOf(target), id, target.rights.viewOwn ?? undefined);
    // A piece of work: its items may be a megabyte, which is parsed when they are first used.
    return await shortWork(() => visibleIn(target, record));
  } catch (error) {
    if (isAppsError(error, 'BadRequestError')) return null;
    throw error;
  }
}
