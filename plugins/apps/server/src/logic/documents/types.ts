import type { Items } from '../../../../shared/json';
import type { Requester } from '../../requester/types';
import type { PreparedCall } from '../types';

/** Host content with exactly the requester's rights (contract, section 8, "Permissions"). */
export interface DocumentAccess {
  /**
   * `context.api.documents(uid).<method>(params)`. Reads give published content unless an administrator asks for
   * `status: 'draft'`; `create` and `update` publish, as REST does, unless `status` is `'draft'`.
   * NotFoundError: no such content type; ForbiddenError: the requester may not (UnauthorizedError for anonymous); BadRequestError: bad parameters or data.
   * The prepared call's own errors are these too, NotFoundError for a document that is not there. Errors that are none of
   * these (the database's) are thrown on as they are.
   */
  prepare(uid: string, method: string, params: Items, requester: Requester): Promise<PreparedCall>;
  /**
   * The published item of an address with all that the requester may read of it, one level populated, or null.
   * @param locale of a localized type; null: the default one
   */
  readContent(
    uid: string,
    where: { documentId?: string; slug?: { field: string; value: string } },
    requester: Requester,
    locale: string | null,
  ): Promise<Items | null>;
}

/** The parts of a query that Strapi's validators and sanitisers know. */
export interface Query {
  filters?: unknown;
  sort?: unknown;
  fields?: unknown;
  populate?: unknown;
}

/** A call's parameters, checked for shape. */
export interface CallParams {
  query: Query;
  documentId: string;
  data: Items;
  locale?: string;
  status: 'draft' | 'published';
  page: { start: number; limit: number };
}

/** What a method needs: the content-API action, and the Content Manager's where an administrator asks. */
export interface Need {
  action: 'find' | 'findOne' | 'create' | 'update' | 'delete';
  admin: 'find' | 'create' | 'update' | 'delete' | 'publish';
}
