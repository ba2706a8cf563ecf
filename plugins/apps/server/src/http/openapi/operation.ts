import type { Items } from '../../../../shared/json';
import type { JsonSchema } from '../../apps';
import type { ErrorStatus } from './components';

export const JSON_TYPE = 'application/json';

/** What a row of the tables of operations says; `operation` makes an OpenAPI operation of it. */
export interface OperationRow {
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
const everywhere: ErrorStatus[] = [400, 401, 403, 404, 406, 429, 500, 503];

/** Errors of every operation with a body. */
const ofBodies: ErrorStatus[] = [413, 415];

/** Errors of every operation that runs logic or writes in a transaction. */
export const ofRuns: ErrorStatus[] = [409, 422, 504];

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
