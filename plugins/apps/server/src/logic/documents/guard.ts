import type { Core, Schema } from '@strapi/strapi';
import { setCreatorFields } from '@strapi/utils';
import type { Items, Json } from '../../../../shared/json';
import type { Requester, StrapiAuth } from '../../auth/types';
import { AppsError, type ErrorName, isAppsError } from '../../common/errors';
import type { DocumentQuery, Need } from './types';

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
  /** The parts of entities that the requester may see, as plain JSON. */
  output(entities: unknown): Promise<Json>;
}

/** The rules that the Content Manager applies to an administrator. */
interface PermissionsManager {
  getQuery(action: string): object | null | undefined;
  validateQuery(query: object, options: object): Promise<unknown>;
  sanitizeQuery(query: object, options: object): Promise<DocumentQuery>;
  validateInput(data: object, options: object): Promise<unknown>;
  sanitizeOutput(data: object, options: object): Promise<unknown>;
}

const explorer = (action: Need['admin']): string =>
  `plugin::content-manager.explorer.${action === 'find' ? 'read' : action}`;

/** The permission that decides about a need, as Strapi's screens name it. */
export function permissionName(uid: string, { action, admin }: Need, { kind }: Requester): string {
  return kind === 'administrator' ? `${explorer(admin)} (${uid})` : `${uid}.${action}`;
}

/** The error for a missing right: UnauthorizedError for anonymous, who may still log in (docs/reference/rights.md#content). */
export function refused(requester: Requester, message: string): AppsError {
  return new AppsError(requester.kind === 'anonymous' ? 'UnauthorizedError' : 'ForbiddenError', message);
}

/** A deep copy as JSON: dates become strings, undefined disappears. */
const plain = <T>(value: unknown): T => JSON.parse(JSON.stringify(value ?? null)) as T;

export function createGuard(strapi: Core.Strapi, schema: Schema.ContentType, requester: Requester): Guard {
  const { uid } = schema;
  const auth = requester.auth as never;
  const isAdmin = requester.kind === 'administrator';
  const manager: PermissionsManager | null = isAdmin
    ? strapi.service('admin::permission').createPermissionsManager({
        ability: requester.auth.ability,
        action: explorer('find'),
        model: uid,
      })
    : null;

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
      if (manager === null) return clean;
      const options = { subject: uid, action: explorer('find') };
      // The original query: sanitizing has replaced `populate: '*'` by a list of all fields, some of which may be refused.
      await manager.validateQuery(query, options);
      const permitted = await manager.sanitizeQuery(clean, options);
      const filters = [...[permitted.filters ?? []].flat(), ...conditions('find')];
      return filters.length === 0 ? permitted : { ...permitted, filters: { $and: filters } };
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
      if (manager === null || seen === null || seen === undefined) return plain(seen);
      return plain(await manager.sanitizeOutput(seen as object, { subject: uid, action: explorer('find') }));
    },
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
export function translateError(error: unknown, isPrivate: (attribute: string) => boolean): unknown {
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
