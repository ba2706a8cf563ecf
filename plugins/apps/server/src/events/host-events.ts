import type { Core } from '@strapi/strapi';
import type { RuleEvent as Event } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import type { Requester } from '../auth/types';
import type { ContentItem, Site, Sites } from '../sites/types';

/** A call of the document service, as its middlewares see it. */
export interface Action {
  action: string;
  uid: string;
  contentType: {
    options?: { draftAndPublish?: boolean };
    pluginOptions?: { i18n?: { localized?: boolean } };
  };
  params: { documentId?: string; status?: string; locale?: unknown };
}

/** An event of one version of a document. `locale` is null if the type is not localized. */
export interface ContentEvent {
  event: Event;
  uid: string;
  documentId: string;
  locale: string | null;
  /** Whether the version is the published one, or the only one of a type without drafts; else it is the draft. */
  published: boolean;
}

/**
 * The possible events of each action of the document service. Discarding a draft is no event: public content stays the same.
 */
const events: Record<string, readonly Event[]> = {
  create: ['create'],
  clone: ['create'],
  // An update in a new locale creates the document's version in it.
  update: ['update', 'create'],
  delete: ['delete'],
  publish: ['publish'],
  unpublish: ['unpublish'],
};

const hasDrafts = ({ contentType }: Action): boolean => contentType.options?.draftAndPublish === true;
const isLocalized = ({ contentType }: Action): boolean => contentType.pluginOptions?.i18n?.localized === true;

/** Whether a created or updated version is published by the same call. */
const publishesToo = (action: Action): boolean => hasDrafts(action) && action.params.status === 'published';

/** The possible events of an action, in their order; only the host's own content has events. */
export function eventsOf(action: Action): readonly Event[] {
  const possible = Object.hasOwn(events, action.action) ? (events[action.action] ?? []) : [];
  if (!action.uid.startsWith('api::')) return [];
  const first = action.action === 'create' || action.action === 'update';
  return first && publishesToo(action) ? [...possible, 'publish'] : possible;
}

interface Row {
  locale?: string | null;
  publishedAt?: unknown;
}

/** Finds the versions of a document that an action changes: one call may change several locales. */
export function createContentEvents(strapi: Core.Strapi) {
  /** The locales of a call: the default one without the parameter, null (all) for `*`. */
  async function wantedLocales(action: Action): Promise<readonly string[] | null> {
    const { locale } = action.params;
    if (!isLocalized(action) || locale === '*') return null;
    const named = [locale].flat().filter((one): one is string => typeof one === 'string' && one !== '');
    if (named.length > 0) return named;
    return [String(await strapi.plugin('i18n').service('locales').getDefaultLocale())];
  }

  async function rowsOf(action: Action, documentId: string): Promise<Row[]> {
    const locales = await wantedLocales(action);
    const where = { documentId, ...(locales && { locale: { $in: locales } }) };
    const select = ['locale', 'publishedAt'];
    return strapi.db.query(action.uid as never).findMany({ where, select, orderBy: { id: 'asc' } });
  }

  const localesOf = (action: Action, rows: readonly Row[]): (string | null)[] => [
    ...new Set(rows.map(({ locale = null }) => (isLocalized(action) ? locale : null))),
  ];

  return {
    /** The versions before the action: those it deletes cannot be read afterwards. */
    async before(action: Action): Promise<Row[]> {
      const { documentId } = action.params;
      return documentId && action.action !== 'clone' ? rowsOf(action, documentId) : [];
    },

    /** The events of an action, after it or (`delete`) before it. @param result of the action; null if it found nothing */
    async of(action: Action, before: readonly Row[], result: unknown): Promise<ContentEvent[]> {
      const documentId = (result as { documentId?: string } | null)?.documentId;
      if (!documentId) return [];
      const { uid } = action;
      const make = (event: Event, published: boolean, locales: (string | null)[]): ContentEvent[] =>
        locales.map((locale) => ({ event, uid, documentId, locale, published }));
      const isPublished = ({ publishedAt }: Row) => publishedAt != null;
      if (action.action === 'delete') return make('delete', true, localesOf(action, before));
      if (action.action === 'unpublish') return make('unpublish', false, localesOf(action, before.filter(isPublished)));
      const rows = await rowsOf(action.action === 'clone' ? allLocales(action) : action, documentId);
      if (action.action === 'publish') return make('publish', true, localesOf(action, rows.filter(isPublished)));
      const had = localesOf(action, before);
      const publishes = publishesToo(action);
      return localesOf(action, rows).flatMap((locale) => [
        ...make(had.includes(locale) ? 'update' : 'create', publishes || !hasDrafts(action), [locale]),
        ...(publishes ? make('publish', true, [locale]) : []),
      ]);
    },
  };
}

/** A copy of a document has all of its locales. */
const allLocales = (action: Action): Action => ({ ...action, params: { ...action.params, locale: '*' } });

/** Types that no rendering reads, some of which change all the time. */
const ignored = /^(?:plugin::apps\.|strapi::|admin::session)/;

const afterChanges: ReadonlySet<string> = new Set([
  'afterCreate',
  'afterCreateMany',
  'afterUpdate',
  'afterUpdateMany',
  'afterDelete',
  'afterDeleteMany',
]);

/**
 * Calls `note` for each change of content by Strapi's services, in its transaction, before the call that changes it ends. Code that
 * writes SQL itself is not seen.
 */
export function watchContent(
  { db: { lifecycles } }: { db: Pick<Core.Strapi['db'], 'lifecycles'> },
  note: (uids: readonly string[]) => Promise<void>,
): void {
  // A subscriber is not called where a hook before it fails, or hooks are switched off, though content has changed.
  const run = lifecycles.run.bind(lifecycles);
  lifecycles.run = async (action, uid, ...rest) => {
    if (afterChanges.has(action) && !ignored.test(uid)) await note([uid]);
    return run(action, uid, ...rest);
  };
}

/** Reads the item of an event. It may be a draft, which has no address yet: the actor is editing it. */
export function createItems(strapi: Core.Strapi, sites: Sites) {
  async function fieldsOf(
    { uid, documentId, locale }: ContentEvent,
    status: 'draft' | 'published',
    requester: Requester,
  ): Promise<Items | null> {
    const documents = strapi.documents(uid as never) as unknown as { findOne(params: object): Promise<object | null> };
    const found = await documents.findOne({ documentId, status, populate: '*', ...(locale !== null && { locale }) });
    if (!found) return null;
    // The admin strategy cannot be asked about relations: without an `auth` private fields are still taken out.
    const auth = requester.kind === 'administrator' ? undefined : requester.auth;
    const schema = strapi.getModel(uid as never) as never;
    const shown = await strapi.contentAPI.sanitize.output(found, schema, { auth: auth as never });
    return JSON.parse(JSON.stringify(shown)) as Items;
  }

  return {
    /**
     * The version of the event, else the document's other one in the same locale (a deleted draft was never published), with
     * the address that it has when it is published; null if neither exists any more.
     */
    async read(site: Site, contentEvent: ContentEvent, requester: Requester): Promise<ContentItem | null> {
      const versions = contentEvent.published ? (['published', 'draft'] as const) : (['draft', 'published'] as const);
      for (const version of versions) {
        const fields = await fieldsOf(contentEvent, version, requester);
        if (fields) return sites.content.describe(site, contentEvent.uid, fields, { draft: version === 'draft' });
      }
      return null;
    },
  };
}
