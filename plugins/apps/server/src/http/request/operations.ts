import type { Context } from 'koa';
import type { RecordRight } from '../../auth';
import { AppsError } from '../../common/errors';
import { unknownName } from '../../common/validation';
import type { AppTarget } from '../../sites/types';
import { hasBody } from './body';
import { parameterNames } from './body-schemas';
import { fileFormat } from './negotiate';

/** An operation of the JSON interface on an app or its records. */
export interface Operation {
  /** The right to records that it needs; absent where it needs none, or only managers have it. */
  right?: RecordRight;
  /** Names of its query parameters. */
  parameters: readonly string[];
  /** Those of a body that is a table. */
  tableParameters?: readonly string[];
  /** Whether it takes a body. */
  body: boolean;
}

const reads = (parameters: readonly string[] = []): Operation => ({ right: 'view', parameters, body: false });
const takes = (right: RecordRight): Operation => ({ right, parameters: [], body: true });
const deletes = (right: RecordRight): Operation => ({ right, parameters: [], body: false });

/**
 * The operations whose names are all known (docs/reference/json-interface.md#unknown-names), by address and method. Elements and
 * forms are not here: logic reads any parameters and keys.
 */
const operations: Partial<Record<AppTarget['kind'], Readonly<Record<string, Operation>>>> = {
  root: { GET: { parameters: [], body: false }, POST: takes('create') },
  records: {
    GET: reads(parameterNames.list),
    POST: { ...takes('create'), tableParameters: parameterNames.table },
    DELETE: deletes('deleteAll'),
  },
  'records.csv': { GET: reads(parameterNames.list) },
  'records.xlsx': { GET: reads(parameterNames.list) },
  search: { GET: reads(parameterNames.search), POST: takes('view') },
  'search.csv': { GET: reads(parameterNames.search) },
  'search.xlsx': { GET: reads(parameterNames.search) },
  refresh: { POST: { parameters: [], body: true } },
  history: { GET: reads(parameterNames.history), POST: takes('edit') },
  record: {
    GET: reads(),
    POST: takes('edit'),
    PUT: takes('create'),
    PATCH: takes('edit'),
    DELETE: deletes('delete'),
  },
};

/** The operation of a method of an address; HEAD is GET. Undefined for pages and what else is not in the table. */
export function operationOf(kind: AppTarget['kind'], method: string, json: boolean): Operation | undefined {
  // The page of a record is for logic.
  if (kind === 'record' && !json) return undefined;
  return operations[kind]?.[method === 'HEAD' ? 'GET' : method];
}

/** The query parameter that marks a record's address after a visitor without the right to read has saved it. */
export const SAVED = 'saved';

/** Parameters that are never unknown: the site's locale (docs/reference/site.md#content-in-several-locales), and our own mark. */
const everywhere = new Set(['locale', SAVED]);

/**
 * BadRequestError for a query parameter that an operation of the JSON interface does not know, and for the keys of a body
 * that it does not take. Keys of bodies that it takes are checked by their schemas.
 */
export function requireKnownInput(ctx: Context, { body, ...operation }: Operation): void {
  const format = fileFormat(ctx);
  const isTable = format !== undefined && format !== 'ndjson';
  const parameters = (isTable && operation.tableParameters) || operation.parameters;
  const unknown = Object.keys(ctx.query).find((name) => !everywhere.has(name) && !parameters.includes(name));
  if (unknown !== undefined) {
    const message = unknownName(`parameter "${unknown}"`, unknown, parameters);
    throw new AppsError('BadRequestError', message, { details: { parameter: unknown } });
  }
  if (body || !hasBody(ctx)) return;
  const [key] = Object.keys((ctx.request as { body?: object }).body ?? {});
  if (key === undefined) return;
  const message = `Unknown key "${key}" in the body; ${ctx.method} takes no body here`;
  throw new AppsError('BadRequestError', message, { details: { key } });
}

/**
 * BadRequestError for a key of operation 10 that begins with `$` and is none of its operators: it would be stored as an item,
 * where a change was meant.
 */
export function requireKnownOperators(change: object): void {
  const unknown = Object.keys(change).find((name) => name.startsWith('$') && name !== '$inc');
  if (unknown === undefined) return;
  const message = unknownName(`operator "${unknown}" in the body`, unknown, ['$inc']);
  throw new AppsError('BadRequestError', message, { details: { key: unknown } });
}
