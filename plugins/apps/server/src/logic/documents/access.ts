import type { Core, Schema } from '@strapi/strapi';
import { contentTypes } from '@strapi/utils';
import type { Items, Json } from '../../../../shared/json';
import type { Requester } from '../../auth/types';
import { AppsError, isAppsError, notFound } from '../../common/errors';
import type { EntryRow } from '../types';
import { createGuard, type Guard, permissionName, refused, translateError } from './guard';
import { type Documents, methods, prepareCall, publishing } from './methods';
import { createSameIds, type SameIdsDatabase } from './output-pieces';
import { type PageLimits, readParams } from './params';
import { checkQueryCost } from './query-cost';
import type { CallParams, DocumentAccess, Need } from './types';

/** For hosts without `api.rest.maxLimit`: results of logic are bounded too. */
const MAX_DOCUMENTS = 1000;

/** Methods that may write a draft, like POST and PUT in REST. */
const draftMethods: ReadonlySet<string> = new Set(['create', 'update']);

/** Only administrators may read drafts: REST would show them to all requesters who may find published content. */
function refuseDrafts(method: string, { status }: CallParams, requester: Requester): void {
  if (status !== 'draft' || requester.kind === 'administrator' || draftMethods.has(method)) return;
  throw refused(requester, 'Drafts are open to administrators only.');
}

/** A single type's content API reads with `find` and creates with `update`. */
function needOf(schema: Schema.ContentType, need: Need): Need {
  if (schema.kind !== 'singleType') return need;
  const action = need.action === 'findOne' ? 'find' : need.action === 'create' ? 'update' : need.action;
  return { ...need, action };
}

/** Other types ignore a locale, as in REST. */
function isLocalized({ pluginOptions }: Schema.ContentType): boolean {
  return (pluginOptions as { i18n?: { localized?: boolean } } | undefined)?.i18n?.localized === true;
}

/** The row of an entry that was read. */
function rowOf(strapi: Core.Strapi, { uid }: Schema.ContentType, entry: object | null): EntryRow | null {
  const { id, documentId, updatedAt } = (entry ?? {}) as { id?: unknown; documentId?: unknown; updatedAt?: unknown };
  if (typeof id !== 'number' || typeof documentId !== 'string' || updatedAt === undefined) return null;
  const time = new Date(updatedAt as string).getTime();
  return { table: strapi.db.metadata.get(uid).tableName, id, documentId, updatedAt: time };
}

export function createDocumentAccess({ strapi }: { strapi: Core.Strapi }): DocumentAccess {
  const limits = (): PageLimits => ({
    defaultLimit: Number(strapi.config.get('api.rest.defaultLimit', 25)),
    maxLimit: Number(strapi.config.get('api.rest.maxLimit', null)) || MAX_DOCUMENTS,
  });

  /** Only the host's own types: users, files and administrators have other rules, and secrets. */
  const schemaOf = (uid: string): Schema.ContentType => {
    const known = typeof uid === 'string' && uid.startsWith('api::') && Object.hasOwn(strapi.contentTypes, uid);
    if (!known) throw notFound('There is no such content type, or logic cannot use it.');
    return strapi.contentTypes[uid as keyof typeof strapi.contentTypes] as Schema.ContentType;
  };

  const sameIds = createSameIds(strapi.db as unknown as SameIdsDatabase);

  const documentsOf = (schema: Schema.ContentType): Documents => strapi.documents(schema.uid as never) as never;

  /** Runs work on a type and makes its errors safe. */
  const guarded = async <T>(schema: Schema.ContentType, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw translateError(error, (attribute) => contentTypes.isPrivateAttribute(schema as never, attribute));
    }
  };

  const readOne = async (
    schema: Schema.ContentType,
    { guard, filters, locale }: { guard: Guard; filters: object; locale: string | null },
  ): Promise<Items | null> => {
    const query = await guard.query({ filters, populate: '*' });
    const version = { status: 'published', ...(locale !== null && isLocalized(schema) && { locale }) };
    const found: Json = await guard.output(await documentsOf(schema).findFirst({ ...query, ...version }));
    return found as Items | null;
  };

  return {
    async prepare(uid, method, params, requester) {
      const row = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (row === undefined) throw new AppsError('BadRequestError', 'There is no such method of documents().');
      const schema = schemaOf(uid);
      const { allowed, required, need } = row;
      const reads = need.action === 'find' || need.action === 'findOne';
      const { locale, ...rest } = readParams(params ?? {}, { method, allowed, required, limits: limits() });
      const checked = locale !== undefined && isLocalized(schema) ? { ...rest, locale } : rest;
      let entry: object | null = null;
      const noteEntry = (found: object | null) => {
        entry = found;
      };
      const { check, run } = await guarded(schema, async () => {
        const guard = createGuard(strapi, schema, requester);
        await guard.need(needOf(schema, need));
        refuseDrafts(method, checked, requester);
        checkQueryCost(checked.query, schema, (uid) => strapi.getModel(uid as never));
        return prepareCall(row, { ...checked, documents: documentsOf(schema), guard, noteEntry });
      });
      const safely = () => guarded(schema, run);
      return {
        reads,
        ...(check ? { check: () => guarded(schema, check) } : {}),
        run: reads ? safely : sameIds.repeatable(safely),
        row: () => rowOf(strapi, schema, entry),
      };
    },

    permissions(uid, method, requester) {
      const row = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (row === undefined) throw new AppsError('BadRequestError', 'There is no such method of documents().');
      const schema = schemaOf(uid);
      // What these two write is published, unless the call says otherwise.
      const publishes = draftMethods.has(method) && documentsOf(schema).publish !== undefined;
      const needs = [needOf(schema, row.need), ...(publishes ? [publishing] : [])];
      return [...new Set(needs.map((need) => permissionName(uid, need, requester)))];
    },

    types: () => Object.keys(strapi.contentTypes).filter((uid) => uid.startsWith('api::')),

    async readContent(uid, { documentId, slug }, requester, locale) {
      const schema = schemaOf(uid);
      const guard = createGuard(strapi, schema, requester);
      const readable =
        (await guard.may(needOf(schema, { action: 'findOne', admin: 'find' }))) ||
        (await guard.may({ action: 'find', admin: 'find' }));
      if (!readable) return null;
      const filters = slug
        ? { [slug.field]: { $eq: slug.value } }
        : documentId
          ? { documentId: { $eq: documentId } }
          : {};
      const found = await guarded(schema, () => readOne(schema, { guard, filters, locale })).catch((error: unknown) => {
        // The requester may not filter by the field of the address.
        if (isAppsError(error, 'BadRequestError')) return null;
        throw error;
      });
      // Some databases ignore case or trailing spaces in comparisons; an address belongs to exactly one item.
      return slug && String(found?.[slug.field]) !== slug.value ? null : found;
    },
  };
}
