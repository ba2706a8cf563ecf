import { z } from 'zod';
import { separatorNames } from '../../../../shared/cells';
import type { Items } from '../../../../shared/json';
import type { JsonSchema } from '../../apps';
import { type ErrorName, errorStatuses } from '../../common/errors';
import { throughs } from '../../records';
import { refreshBody, restoreBody, searchBody } from '../request/operations';

type ErrorStatus = (typeof errorStatuses)[ErrorName];

/** The statuses of errors in words (docs/errors.md#names-and-statuses). */
const meanings: Record<ErrorStatus, string> = {
  400: 'The request is malformed; the message says which part',
  401: 'Credentials are missing or wrong',
  403: 'The requester lacks the right, or the CSRF token is missing or wrong',
  404: 'There is no such site, content, app, block, element or record',
  405: 'The address does not take the method',
  406: 'The address offers none of the media types in Accept',
  409: 'The record id is taken, its block has no place for it, the request collided with others too often, or the first request with its Idempotency-Key is still running',
  412: 'If-Match does not name the version of the record',
  413: 'The body is too large',
  415: 'The body is of a type that the address does not take',
  422: 'Fields of the form, or items of the record, are wrong, or the Idempotency-Key was sent with another request',
  429: 'Too many failed logins, saved forms, mails or live connections; Retry-After says when to send the request again',
  500: 'The logic or definition of a block failed, or something unforeseen happened',
  502: 'A host that the logic calls cannot be reached, or does not answer well',
  503: 'The database or the sandbox is not available; Retry-After says when to send the request again. Without that header it is not known whether the change was stored',
  504: 'The logic ran too long',
};

const names = Object.entries(errorStatuses) as [ErrorName, ErrorStatus][];

/** Errors in Strapi's form. */
const anyError: Items = {
  type: 'object',
  required: ['data', 'error'],
  properties: {
    data: { type: 'null' },
    error: {
      type: 'object',
      required: ['status', 'name', 'message', 'details'],
      properties: {
        status: { type: 'integer', minimum: 400, maximum: 599 },
        name: { type: 'string', enum: names.map(([name]) => name) },
        message: { type: 'string' },
        details: { type: 'object', additionalProperties: true },
      },
    },
  },
};

/** `details` of a form whose fields are wrong. */
const fieldErrors: Items = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'array', items: { type: 'string' } }, message: { type: 'string' } },
      },
    },
  },
};

const statuses = [...new Set(names.map(([, status]) => status))];

function errorOf(status: ErrorStatus): Items {
  const own = names.filter(([, one]) => one === status).map(([name]) => name);
  const properties = {
    status: { const: status },
    name: { type: 'string', enum: own },
    ...(status === 422 && { details: fieldErrors }),
  };
  return {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      { type: 'object', properties: { error: { type: 'object', properties } } },
    ],
  };
}

const errorSchemas: Items = {
  Error: anyError,
  ...Object.fromEntries(statuses.map((status) => [`Error${status}`, errorOf(status)])),
};

const errorResponses: Items = Object.fromEntries(
  statuses.map((status) => [
    `Error${status}`,
    {
      description: meanings[status],
      content: { 'application/json': { schema: { $ref: `#/components/schemas/Error${status}` } } },
    },
  ]),
);

const string = { type: 'string' };
const url = { type: 'string', format: 'uri' };

/** JSON Schema of a body that the server reads with zod. */
function bodySchema(schema: z.ZodType): Items {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // Zod writes the refusal of other keys as a schema that nothing matches.
  return { ...(shape as Items), additionalProperties: false };
}

const done = (success: string, more: Items = {}, optional: Items = {}): Items => ({
  type: 'object',
  required: [...Object.keys(more), 'success'],
  properties: { ...more, ...optional, success: { const: success } },
});

/** Schemas that every document has; those of blocks are added to them. */
export const schemas: Items = {
  ...errorSchemas,
  Items: {
    description: 'Items of a record: any JSON values by their names',
    type: 'object',
    additionalProperties: true,
  },
  Record: {
    description: 'The items of a stored record, with its id',
    type: 'object',
    required: ['id'],
    properties: { id: { $ref: '#/components/schemas/RecordId' } },
    additionalProperties: true,
  },
  RecordId: { type: 'string', minLength: 1, maxLength: 255 },
  Change: {
    description: 'Items to set; others stay. Items in $inc are numbers to add',
    type: 'object',
    properties: { $inc: { type: 'object', additionalProperties: { type: 'number' } } },
    additionalProperties: true,
  },
  Settings: {
    description: 'The settings.yaml of the app; acl is shown to managers only',
    type: 'object',
    properties: { no_settings: { type: 'object' } },
    additionalProperties: true,
  },
  Definition: {
    description: 'The definition of the block, each element a mapping with its type',
    type: 'object',
    required: ['elements'],
    properties: {
      elements: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          required: ['type'],
          properties: { type: string },
          additionalProperties: true,
        },
      },
    },
    additionalProperties: true,
  },
  Created: done(
    'created',
    { path: url, id: { $ref: '#/components/schemas/RecordId' } },
    { link: url, state: { const: 'unconfirmed' } },
  ),
  SavedDraft: {
    description: 'A draft was saved; its link opens it without an account',
    type: 'object',
    required: ['link', 'until', 'success'],
    properties: {
      link: url,
      until: { type: 'string', format: 'date-time' },
      mailed: { description: 'Whether the link is sent to the address in _draft_email', type: 'boolean' },
      success: { enum: ['created', 'updated'] },
    },
  },
  CreatedMany: done('created', { total: { type: 'integer', minimum: 0 } }),
  Version: {
    description: 'What a change has made of a record; items are null where it was deleted',
    type: 'object',
    required: ['version', 'at', 'by', 'through', 'items'],
    properties: {
      version: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
      by: { type: ['string', 'null'] },
      through: { enum: [...throughs] },
      items: { anyOf: [{ $ref: '#/components/schemas/Record' }, { type: 'null' }] },
    },
  },
  Restore: bodySchema(restoreBody),
  Restored: {
    type: 'object',
    required: ['path', 'id', 'success'],
    properties: {
      path: url,
      id: { $ref: '#/components/schemas/RecordId' },
      success: { enum: ['created', 'updated'] },
    },
  },
  Updated: done('updated'),
  Deleted: done('deleted'),
  Refreshed: done('refresh', { indexes: { type: 'array', items: string } }),
  Shown: {
    description: 'The form of the block, shown again',
    type: 'object',
    required: ['html'],
    properties: { html: string },
  },
  Search: bodySchema(searchBody),
  Refresh: bodySchema(refreshBody),
};

const query = (name: string, description: string, schema: Items): Items => ({ name, in: 'query', description, schema });

export const parameters: Items = {
  RecordId: {
    name: 'record_id',
    in: 'path',
    required: true,
    description: 'The id of the record, percent-encoded, its slashes too',
    schema: { $ref: '#/components/schemas/RecordId' },
  },
  Limit: query('limit', 'Records of a page; without it all are streamed', {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
  }),
  Offset: query('offset', 'Records to skip', { type: 'integer', minimum: 0 }),
  Cursor: query('cursor', 'Where the page begins, from the Link header of the page before', string),
  Before: query('before', 'Only older versions than this one', { type: 'integer', minimum: 1 }),
  Versions: query('limit', 'Versions of an answer', { type: 'integer', minimum: 1, maximum: 100, default: 100 }),
  Query: query('query', 'The search; all records without it', string),
  Names: query('names', 'Values of the bound names of the query, as JSON', string),
  SortIndex: query('sort_index', 'The index to sort by', string),
  Reverse: query('reverse', 'Whether the order is reversed', { type: 'boolean' }),
  Block: query('block', 'Of a table: the block of the records that name none', { type: 'string' }),
  Language: query('language', 'Of a table: how numbers and dates are written, such as de', { type: 'string' }),
  Separator: query('separator', 'Of CSV: what stands between the cells', { enum: [...separatorNames] }),
  Sheet: query('sheet', 'Of XLSX: the name of the sheet', { type: 'string' }),
  WithTotal: query('with_total', 'Whether X-Total-Count is sent', { type: 'boolean' }),
  IfMatch: { name: 'If-Match', in: 'header', description: 'The ETag that the record must have', schema: string },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Text that the client chooses for this request: sent again with the same key and body, it gets the first answer and is not carried out again',
    schema: { type: 'string', minLength: 1, maxLength: 257 },
  },
  IfNoneMatch: { name: 'If-None-Match', in: 'header', description: 'The ETag that is known', schema: string },
};

const header = (description: string, schema: Items = string): Items => ({ description, schema });

export const headers: Items = {
  'x-csrf-token': header('The CSRF token of the requester'),
  'X-Index-Progress': header('Records indexed and to index, while indexes are being built; for managers'),
  ETag: header('The version of the record'),
  Location: header('The address of the record', url),
  Link: header('The next page, with rel="next"'),
  'X-Total-Count': header('Records that the query matches', { type: 'integer', minimum: 0 }),
};

/** @param cookie name of the session cookie */
export const securitySchemes = (cookie: string): Items => ({
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of a user, a content API token, or the token of an administrator',
  },
  basic: { type: 'http', scheme: 'basic', description: 'Username or e-mail and password of a user' },
  session: { type: 'apiKey', in: 'cookie', name: cookie, description: 'The cookie of the login form of the site' },
  csrfToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-TOKEN',
    description:
      'The header x-csrf-token of GET on the address of the app, with the same credentials. Not needed with a bearer token',
  },
});

export const responses = errorResponses;

export const JSON_TYPE = 'application/json';

/** What a row of the tables of operations says; `operation` makes an OpenAPI operation of it. */
interface OperationRow {
  id: string;
  summary: string;
  description?: string;
  /** It needs a CSRF token; else a token is needed only where logic writes records. */
  changes?: boolean;
  /** References of parameters besides those of its path. */
  parameters?: string[];
  body?: Items;
  answers: Items;
  /** Errors besides those of every operation. */
  errors?: ErrorStatus[];
}

/** Errors of every operation. */
const everywhere: ErrorStatus[] = [400, 401, 403, 404, 406, 415, 429, 500, 503];

/** Errors of every operation with a body. */
const ofBodies: ErrorStatus[] = [413, 415];

/** Errors of every operation that runs logic or writes in a transaction. */
export const ofRuns: ErrorStatus[] = [409, 422, 502, 504];

export const reference = (kind: string, name: string): Items => ({ $ref: `#/components/${kind}/${name}` });

/** A credential of each kind, or none; with the CSRF token besides, where it is needed (docs/reference/http.md#csrf-tokens). */
export function security(changes: boolean): Items[] {
  const token: Items = changes ? { csrfToken: [] } : {};
  return [{ ...token }, { bearer: [] }, ...['basic', 'session'].map((scheme) => ({ [scheme]: [], ...token }))];
}

/** An OpenAPI operation with its errors and credentials. */
export function operation(tag: string, row: OperationRow): Items {
  const { id, summary, description, changes = false, parameters = [], body, answers, errors = [] } = row;
  // What runs in a transaction is carried out once under a key.
  const named = changes && errors.includes(409) ? [...parameters, 'IdempotencyKey'] : parameters;
  const statuses = [...new Set([...everywhere, ...(body ? ofBodies : []), ...errors])].sort((a, b) => a - b);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(changes && { security: security(true) }),
    ...(named.length > 0 && { parameters: named.map((name) => reference('parameters', name)) }),
    ...(body && { requestBody: body }),
    responses: {
      ...answers,
      ...Object.fromEntries(statuses.map((status) => [String(status), reference('responses', `Error${status}`)])),
    },
  };
}

/** A body or answer of JSON. */
export const json = (schema: JsonSchema): Items => ({ content: { [JSON_TYPE]: { schema } } });

/** An answer of JSON with its headers, named in the components. */
export function answer(description: string, schema: JsonSchema, headers: string[] = []): Items {
  const named = Object.fromEntries(headers.map((name) => [name, reference('headers', name)]));
  return { description, ...(headers.length > 0 && { headers: named }), ...json(schema) };
}
