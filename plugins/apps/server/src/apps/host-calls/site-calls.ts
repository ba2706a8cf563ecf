import { type Items, isItems, type Json } from '../../../../shared/json';
import { AppsError, logicError } from '../../common/errors';
import { isUnavailable } from '../../database';
import type { ContentData } from '../../logic/types';
import { type ContentTypeInfo, trimSlashes, uidAttribute } from '../../sites';
import type { ContentItem } from '../../sites/types';
import { aclData, appData, contentData } from '../run/context-data';
import { traceLog } from '../run/diagnostics/trace';
import { applyResponse } from '../run/response';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { refuseContent } from '../run/visits';
import type { HostCallHandlers } from './logic-host';

interface SiteCalls {
  /** Calls a method of `context.api.documents` with the requester's permissions. */
  documents: Documents;
  handlers: Pick<HostCallHandlers, 'openApp' | 'portalGet' | 'contentUpdate' | 'documents' | 'log' | 'respond'>;
}

/** Host functions for the site and its content, its other apps, the log and the response. */
export function siteCalls(run: Run): SiteCalls {
  const { visit, services } = run;
  /** Turns errors of Strapi's validation and query builder into a BadRequestError; not those of a lost database. */
  const unreadable = (what: string) => (error: unknown) => {
    if (error instanceof AppsError || isUnavailable(error)) throw error;
    services.logger.warn(`[apps] ${run.app.id}: ${what} failed: ${String(error).slice(0, 1000)}`);
    throw new AppsError('BadRequestError', `${what}: these parameters cannot be carried out`, { cause: error });
  };
  /** Localized content is in the site's locale, unless the call names another. */
  const inSite = (params: Items): Items => ({ ...params, locale: params.locale ?? visit.site.locale });
  const documents: Documents = async (uid, method, params) => {
    const refused = unreadable(`documents('${uid}').${method}()`);
    // Checks rights and parameters first, so that a refused call opens no transaction.
    const call = services.documents(uid, method, inSite(params), visit.requester).catch(refused);
    const { reads, check, run: carryOut, row } = await call;
    if (reads) {
      const found = await run.unit.alongside(carryOut).catch(refused);
      const entry = row?.();
      if (entry) run.unit.noteContent(entry);
      return found;
    }
    requireContentChanges(run);
    if (check) await run.unit.alongside(check);
    countChange(run);
    if (visit.dry) refuseContent(visit.dry, uid, method, params);
    run.budget.shared.changesContent = true;
    return run.unit.inTransaction(carryOut, typeof params.documentId === 'string' ? params.documentId : undefined);
  };
  const handlers: SiteCalls['handlers'] = {
    documents: ({ uid, method, params }) => documents(uid, method, params),
    async openApp({ id }) {
      const app = id === run.app.id ? run.app : await services.loadApp(visit.site, id);
      if (!app) return null;
      const opened = nestedRun(run, app);
      return { ...appData(opened, app), acl: aclData(opened, app, opened.rights) };
    },
    async portalGet({ path }) {
      const contentPath = trimSlashes(path);
      const item = await run.unit.alongside(() =>
        services.sites.content.resolve(visit.site, contentPath, visit.requester),
      );
      return item && contentData(item);
    },
    async contentUpdate({ data }) {
      const { type, documentId, locale, draft, fields } = visit.content;
      if (documentId === null || visit.isContentGone)
        throw new AppsError('BadRequestError', 'There is no current content item to update');
      // Only events have a draft as their content; it stays a draft.
      const version = { ...(locale && { locale }), ...(draft && { status: 'draft' }) };
      const updated = await documents(type, 'update', { documentId, data, ...version });
      const { content } = services.sites;
      const find = () => content.find(visit.site, { uid: type, documentId, locale }, visit.requester);
      const item = draft
        ? await content.describe(visit.site, type, { ...fields, ...(updated as Items) }, { draft })
        : await run.unit.alongside(find);
      return contentData(item ?? visit.content);
    },
    log(entry) {
      // Also outside of debug mode, so that an author sees there what holds for visitors.
      visit.inputs?.refuse('logs');
      traceLog(run, entry);
      if (run.app.settings.debug) run.logs.push(entry);
    },
    respond({ changes }) {
      applyResponse(run, changes);
    },
  };
  return { documents, handlers };
}

function requireContentChanges(run: Run): void {
  if (run.visit.writes.content) return;
  throw new AppsError('CsrfError', 'Changing content is restricted to POST requests');
}

function countChange({ changes, services }: Run): void {
  const maxChanges = services.config.limits.contentChanges;
  changes.count += 1;
  if (changes.count > maxChanges) throw logicError(`A request changes content at most ${maxChanges} times`);
}

/** Calls a method of `context.api.documents` with the requester's permissions. */
type Documents = (uid: string, method: string, params: Items) => Promise<Json>;

/** Names of fields in Plone and in Strapi. */
const fieldNames: Record<string, string> = {
  Title: 'title',
  sortable_title: 'title',
  created: 'createdAt',
  modified: 'updatedAt',
  effective: 'publishedAt',
  UID: 'documentId',
};

/** Plone's workflow transitions, and the states they lead to, as methods of Strapi's draft & publish. */
const transitions: Record<string, 'publish' | 'unpublish'> = {
  publish: 'publish',
  published: 'publish',
  unpublish: 'unpublish',
  retract: 'unpublish',
  reject: 'unpublish',
  private: 'unpublish',
  draft: 'unpublish',
};

/** `context.api.content` for apps made for Rapido: Strapi's documents with Plone's names and the same rights. */
export function contentCalls(
  run: Run,
  documents: Documents,
): Pick<HostCallHandlers, 'contentFind' | 'contentCreate' | 'contentTransition'> {
  const { visit, services } = run;
  const { content } = services.sites;
  const typeNamed = (name: string): ContentTypeInfo => {
    const type = content.typeNamed(name);
    if (!type) throw new AppsError('BadRequestError', `There is no content type "${name}"`);
    return type;
  };
  const item = async ({ uid }: ContentTypeInfo, fields: Json, draft = false): Promise<ContentData> =>
    contentData((await content.describe(visit.site, uid, fields as Items, { draft })) as ContentItem);

  return {
    async contentFind({ type: name, filters, sort, limit }) {
      const type = typeNamed(name);
      const found = await documents(type.uid, 'findMany', {
        filters: filtersOf(type, filters),
        ...(sort === null ? {} : { sort: fieldOf(type, sort) }),
        ...(limit === null ? {} : { limit }),
      });
      return Promise.all((found as Json[]).map((fields) => item(type, fields)));
    },
    async contentCreate({ type: name, id, data }) {
      const type = typeNamed(name);
      const uid = uidAttribute(type);
      if (id !== null && uid === undefined)
        throw new AppsError('BadRequestError', `Content of the type "${type.uid}" has no field for an id`);
      const all = id === null ? data : { ...data, [uid as string]: id };
      return item(type, await documents(type.uid, 'create', { data: all, status: 'draft' }), true);
    },
    async contentTransition({ type: name, documentId, transition }) {
      const method = Object.hasOwn(transitions, transition) ? transitions[transition] : undefined;
      if (!method) {
        const known = Object.keys(transitions).join(', ');
        throw new AppsError('BadRequestError', `There is no transition "${transition}"; there are ${known}`);
      }
      await documents(typeNamed(name).uid, method, { documentId });
      return null;
    },
  };
}

/** Strapi's name of a field, by Plone's name or Strapi's own; a sort order after it (`created:desc`) is kept. */
function fieldOf(type: ContentTypeInfo, name: string): string {
  const [field = '', ...order] = name.split(':');
  const known = field === 'id' || field === 'getId' ? (uidAttribute(type) ?? 'documentId') : undefined;
  const own = known ?? (Object.hasOwn(fieldNames, field) ? (fieldNames[field] ?? field) : field);
  return [own, ...order].join(':');
}

/** Strapi's filters: a value becomes `$eq`, a list `$in`; an object holds Strapi's own operators. */
function filtersOf(type: ContentTypeInfo, given: Items): Items {
  const filters: Items = {};
  for (const [name, value] of Object.entries(given)) {
    // `contentFind` finds published content only.
    if (name === 'review_state' && value === 'published') continue;
    filters[fieldOf(type, name)] = isItems(value) ? value : { [Array.isArray(value) ? '$in' : '$eq']: value };
  }
  return filters;
}
