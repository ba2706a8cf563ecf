import type { Core, Schema } from '@strapi/strapi';
import { contentTypes, setCreatorFields } from '@strapi/utils';
import type { Items, Json } from '../../../../shared/json';
import type { Requester, StrapiAuth } from '../../auth/types';
import { AppsError, type ErrorName, isAppsError, notFound } from '../../common/errors';
import type { EntryRow, PreparedCall } from '../types';
import { type Documents, methods, prepareCall, publishing } from './methods';
import { createSameIds, type SameIdsDatabase } from './output-pieces';
import { checkQueryCost, type PageLimits, readParams } from './params';
import { PermittedContent } from './permitted-content';

/** Host content with exactly the requester's rights (docs/reference/rights.md#content). */
export interface DocumentAccess {
  /**
   * `context.api.documents(uid).<method>(params)`. Reads return published content unless an administrator sets
   * `status: 'draft'`; `create` and `update` publish, like REST, unless `status` is `'draft'`.
   * NotFoundError: no such content type; ForbiddenError: missing right (UnauthorizedError for anonymous); BadRequestError:
   * bad parameters or data. The prepared call has the same errors, with NotFoundError for a missing document. Other errors
   * (of the database) are rethrown unchanged.
   */
  prepare(uid: string, method: string, params: Items, requester: Requester): Promise<PreparedCall>;
  /**
   * The permissions that decide about a method, all of which are needed: actions of the content API, or for administrators
   * those of the Content Manager with their subject. NotFoundError: no such content type.
   */
  permissions(uid: string, method: string, requester: Requester): string[];
  /** Uids of the types that logic may use. */
  types(): string[];
  /**
   * The published item of an address with all fields that the requester may read, one level populated, or null.
   * @param locale of a localized type; null: the default one
   */
  readContent(
    uid: string,
    where: { documentId?: string; slug?: { field: string; value: string } },
    requester: Requester,
    locale: string | null,
  ): Promise<Items | null>;
}

/** The parts of a query for Strapi's validators and sanitizers. */
export interface DocumentQuery {
  filters?: unknown;
  sort?: unknown;
  fields?: unknown;
  populate?: unknown;
}

/** A call's parameters, checked for shape. */
export interface CallParams {
  query: DocumentQuery;
  documentId: string;
  data: Items;
  locale?: string;
  status: 'draft' | 'published';
  page: { start: number; limit: number };
}

/** The right that a method needs: an action of the content API, or of the Content Manager for administrators. */
export interface Need {
  action: 'find' | 'findOne' | 'create' | 'update' | 'delete';
  admin: 'find' | 'create' | 'update' | 'delete' | 'publish';
}

/** One requester's rights to one content type: Strapi's content API, and for administrators also the Content Manager's rules. */
export interface Guard {
  /** Whether the content API offers the action and the requester may use it. */
  may(need: Need): Promise<boolean>;
  /** ForbiddenError unless the requester may; UnauthorizedError for anonymous. */
  need(need: Need): Promise<void>;
  /** The validated query, without fields that the requester may not see, narrowed to documents that an administrator may read. */
  query(query: DocumentQuery): Promise<DocumentQuery>;
  /** Filters for the documents to which an administrator may do all of these actions; empty for all documents. */
  conditions(...actions: Need['admin'][]): object[];
  /** The validated data to write. */
  input(data: Items, action: 'create' | 'update'): Promise<Items>;
  /** BadRequestError for a field that an administrator may change in other documents only. @param draft reads what is stored of it */
  requireChange(data: Items, draft: () => Promise<object | null>): Promise<void>;
  /** The parts of entities that the requester may see, as plain JSON. */
  output(entities: unknown): Promise<Json>;
}

const explorer = (action: Need['admin']): string =>
  `plugin::content-manager.explorer.${action === 'find' ? 'read' : action}`;

/** The permission that decides about a need, as Strapi's screens name it. */
function permissionName(uid: string, { action, admin }: Need, { kind }: Requester): string {
  return kind === 'administrator' ? `${explorer(admin)} (${uid})` : `${uid}.${action}`;
}

/** The error for a missing right: UnauthorizedError for anonymous, who may still log in (docs/reference/rights.md#content). */
function refused(requester: Requester, message: string): AppsError {
  return new AppsError(requester.kind === 'anonymous' ? 'UnauthorizedError' : 'ForbiddenError', message);
}

/** A deep copy as JSON: dates become strings, undefined disappears. */
const plain = <T>(value: unknown): T => JSON.parse(JSON.stringify(value ?? null)) as T;

function createGuard(strapi: Core.Strapi, schema: Schema.ContentType, requester: Requester): Guard {
  const { uid } = schema;
  const auth = requester.auth as never;
  const isAdmin = requester.kind === 'administrator';
  const permitted = isAdmin ? new PermittedContent(strapi, requester.auth.ability as never) : null;
  const manager = permitted?.managerOf(uid) ?? null;

  const may = async ({ action, admin }: Need): Promise<boolean> => {
    // The action belongs to the content API only if the type has a route for it.
    if (!strapi.contentAPI.permissions.providers.action.has(`${uid}.${action}`)) return false;
    try {
      await strapi.get('auth').verify(requester.auth as StrapiAuth, { scope: `${uid}.${isAdmin ? admin : action}` });
      return true;
    } catch {
      return false;
    }
  };

  const conditions = (...actions: Need['admin'][]): object[] =>
    actions.map((action) => manager?.getQuery(explorer(action))).filter((part) => part !== null && part !== undefined);

  return {
    may,
    conditions,
    async need(need) {
      // Every method returns its result: an administrator without the right to read would get no fields.
      if ((await may(need)) && (!isAdmin || (await may({ action: 'find', admin: 'find' })))) return;
      const action = isAdmin ? need.admin : need.action;
      throw refused(requester, `You may not use "${action}" on content of the type "${uid}".`);
    },
    async query(query) {
      await strapi.contentAPI.validate.query(query as never, schema, { auth, strictParams: true });
      const clean = (await strapi.contentAPI.sanitize.query(query as never, schema, {
        auth,
        strictParams: true,
      })) as DocumentQuery;
      if (permitted === null || manager === null) return clean;
      await permitted.requireQuery(uid, query);
      const options = { subject: uid, action: explorer('find') };
      // The original query: sanitizing has replaced `populate: '*'` by a list of all fields, some of which may be refused.
      await manager.validateQuery(query, options);
      const allowed = await manager.sanitizeQuery(clean, options);
      const filters = [...[allowed.filters ?? []].flat(), ...conditions('find')];
      return filters.length === 0 ? allowed : { ...allowed, filters: { $and: filters } };
    },
    async input(data, action) {
      await strapi.contentAPI.validate.input(data, schema, { auth, strictParams: true });
      const clean = (await strapi.contentAPI.sanitize.input(data, schema, { auth, strictParams: true })) as Items;
      if (manager === null) return clean;
      await manager.validateInput({ ...clean }, { subject: uid, action: explorer(action) });
      return setCreatorFields({ user: requester.auth.credentials as never, isEdition: action === 'update' })(
        clean,
      ) as Items;
    },
    async output(entities) {
      const seen = await strapi.contentAPI.sanitize.output(entities as never, schema, { auth });
      if (permitted === null || seen === null || seen === undefined) return plain(seen);
      return plain(await permitted.output(uid, seen));
    },
    requireChange: async (data, draft) => permitted?.requireChange(uid, data, draft),
  };
}

/** Strapi's errors about the arguments or rights of a call; all others are rethrown unchanged. */
const names: Record<string, ErrorName> = {
  ValidationError: 'BadRequestError',
  YupValidationError: 'BadRequestError',
  PaginationError: 'BadRequestError',
  ApplicationError: 'BadRequestError',
  NotFoundError: 'NotFoundError',
  ForbiddenError: 'ForbiddenError',
  UnauthorizedError: 'ForbiddenError',
  PolicyError: 'ForbiddenError',
};

interface StrapiError extends Error {
  details?: { key?: unknown; param?: unknown; source?: unknown; errors?: { path?: unknown[] }[] };
}

/**
 * Translates an error of Strapi to one with a safe message. A field that does not exist and one that the requester may
 * not use get the same message, which thus reveals nothing about private fields.
 * @param isPrivate whether an attribute of the content type is private
 */
export function translateStrapiError(error: unknown, isPrivate: (attribute: string) => boolean): unknown {
  if (isAppsError(error) || !(error instanceof Error)) return error;
  const name = names[error.name];
  if (name === undefined) return error;
  const { details } = error as StrapiError;
  if (typeof details?.key === 'string') {
    const location =
      typeof details.param === 'string' ? details.param : details.source === 'body' ? 'data' : 'the parameters';
    return new AppsError(name, `"${details.key}" cannot be used in ${location}.`, { cause: error });
  }
  const touched = details?.errors?.flatMap(({ path }) => path ?? []) ?? [];
  const secret = touched.some((part) => typeof part === 'string' && isPrivate(part));
  return new AppsError(name, secret ? 'The data is not valid.' : error.message, { cause: error });
}

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
      throw translateStrapiError(error, (attribute) => contentTypes.isPrivateAttribute(schema as never, attribute));
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
