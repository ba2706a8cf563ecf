import type { Items, Json } from '../../../shared/json';
import type { RequestData } from '../../../shared/logic-protocol';
import { named } from './arguments';
import { looked } from './looked';
import { notingItems, notingRequest } from './noting';
import { hasOwn, NativeTypeError, text } from './primordials';

type Call = (name: string, args: Items) => Json;

/** Requests, and whether they are the current one. */
const requests = new WeakMap<object, boolean>();

/**
 * `context.request`, or `context.parent_request`, whose response belongs to another request and cannot be changed.
 * @param part its name, under which is noted what logic looks at
 */
export function createRequest(data: RequestData, call: Call | null, part: 'request' | 'parent_request'): object {
  const { form, body, query, headers } = data;
  const has = (source: Json, key: string): source is Items => isItems(source) && hasOwn(source, key);
  /** Where the value is; only the places that come before it are looked at too. */
  const find = (key: string): Items | undefined => {
    looked.atOne(`${part}.form`, key);
    if (has(form, key)) return form;
    looked.at(`${part}.body`);
    if (has(body, key)) return body;
    looked.atOne(`${part}.query`, key);
    return has(query, key) ? query : undefined;
  };
  const request = notingRequest(part, {
    ...data,
    query: notingItems(`${part}.query`, query),
    form: notingItems(`${part}.form`, form),
    headers: notingItems(`${part}.headers`, headers),
    /** As in Rapido: without the query. */
    URL: data.url.split(/[?#]/, 1)[0],
    get(name: unknown, otherwise: unknown = null) {
      const key = text(name);
      return find(key)?.[key] ?? otherwise;
    },
    has: (name: unknown) => find(text(name)) !== undefined,
    ...(call ? { response: createResponse(call) } : {}),
  });
  requests.set(request, call !== null);
  return request;
}

/** Whether this is `context.request`, with whose form a record can be saved. TypeError for the page's request. */
export function isRequest(value: unknown): boolean {
  const isCurrent = typeof value === 'object' && value !== null ? requests.get(value) : undefined;
  if (isCurrent === false) throw new NativeTypeError('save: a record is saved with context.request');
  if (isCurrent) looked.at('request.form');
  return isCurrent === true;
}

function createResponse(call: Call): object {
  let status: number | null = null;
  const setStatus = (value: number | null): void => {
    call('respond', { changes: { status: value } });
    status = value;
  };
  const setHeader = (...args: unknown[]): void => {
    const { name, value } = named(args, ['name', 'value']);
    call('respond', { changes: { headers: { [text(name)]: text(value) } } });
  };
  return {
    get status() {
      return status;
    },
    set status(value: number | null) {
      setStatus(value);
    },
    set_header: setHeader,
    setHeader,
    setStatus,
    redirect(...args: unknown[]): void {
      call('respond', { changes: { redirect: text(named(args, ['url']).url) } });
    },
  };
}

export function isItems(value: Json): value is Items {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
