import type { Items } from '../../../../shared/json';
import { type ErrorName, errorStatuses } from '../../common/errors';

export type ErrorStatus = (typeof errorStatuses)[ErrorName];

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

export const errorSchemas: Items = {
  Error: anyError,
  ...Object.fromEntries(statuses.map((status) => [`Error${status}`, errorOf(status)])),
};

export const errorResponses: Items = Object.fromEntries(
  statuses.map((status) => [
    `Error${status}`,
    {
      description: meanings[status],
      content: { 'application/json': { schema: { $ref: `#/components/schemas/Error${status}` } } },
    },
  ]),
);
