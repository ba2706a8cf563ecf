import type { Items } from '../../../../shared/json';
import type { Requester } from '../../auth/types';
import type { PreparedCall } from '../types';

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
