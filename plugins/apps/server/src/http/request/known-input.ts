import type { Context } from 'koa';
import { AppsError } from '../../common/errors';
import { unknownName } from '../../common/request-schema';
import type { AppTarget } from '../../sites/types';
import { hasBody } from './body';
import { parameterNames } from './body-schemas';

/** What an operation takes besides its address: names of query parameters, and whether it takes a body. */
interface Input {
  parameters: readonly string[];
  body?: true;
}

const nothing: Input = { parameters: [] };
const aBody: Input = { parameters: [], body: true };
const ofList: Input = { parameters: parameterNames.list };
const ofSearch: Input = { parameters: parameterNames.search };

/**
 * The input of the operations of the JSON interface (docs/reference/json-interface.md#unknown-names), by address and method.
 * What is not here is for logic, which reads any parameters and keys: elements and forms.
 */
const inputs: Partial<Record<AppTarget['kind'], Readonly<Record<string, Input>>>> = {
  root: { GET: nothing, POST: aBody },
  records: { GET: ofList, POST: aBody, DELETE: nothing },
  'records.csv': { GET: ofList },
  search: { GET: ofSearch, POST: aBody },
  'search.csv': { GET: ofSearch },
  refresh: { POST: aBody },
  record: { GET: nothing, POST: aBody, PUT: aBody, PATCH: aBody, DELETE: nothing },
};

/** The query parameters that an operation takes. */
export const parametersOf = (kind: AppTarget['kind'], method: string): readonly string[] =>
  inputs[kind]?.[method]?.parameters ?? [];

/** A parameter that every address takes (docs/reference/site.md#content-in-several-locales). */
const LOCALE = 'locale';

/**
 * BadRequestError for a query parameter that an operation of the JSON interface does not know, and for the keys of a body
 * that it does not take. Keys of bodies that it takes are checked by their schemas.
 * @param json false for the page of a record, whose parameters are for logic
 */
export function requireKnownInput(ctx: Context, { kind }: AppTarget, json: boolean): void {
  if (kind === 'record' && !json) return;
  const input = inputs[kind]?.[ctx.method === 'HEAD' ? 'GET' : ctx.method];
  if (!input) return;
  const unknown = Object.keys(ctx.query).find((name) => name !== LOCALE && !input.parameters.includes(name));
  if (unknown !== undefined) {
    const message = unknownName(`parameter "${unknown}"`, unknown, input.parameters);
    throw new AppsError('BadRequestError', message, { details: { parameter: unknown } });
  }
  if (input.body || !hasBody(ctx)) return;
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
