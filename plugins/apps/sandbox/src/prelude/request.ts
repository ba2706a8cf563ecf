import type { Items, Json } from '../../../shared/json';
import type { RequestData } from '../../../shared/logic-protocol';
import { named } from './arguments';
import { hasOwn, NativeTypeError, text } from './primordials';

type Call = (name: string, args: Items) => Json;

/** Requests, and whether they are the current one. */
const requests = new WeakMap<object, boolean>();

/** `context.request`, or `context.parent_request`, whose response belongs to another request and cannot be changed. */
export function createRequest(data: RequestData, call: Call | null): object {
  const sources = [data.form, data.body, data.query].filter(isItems);
  const find = (name: unknown) => sources.find((source) => hasOwn(source, text(name)));
  const request = {
    ...data,
    /** As in Rapido: without the query. */
    URL: data.url.split(/[?#]/, 1)[0],
    get: (name: unknown, otherwise: unknown = null) => find(name)?.[text(name)] ?? otherwise,
    has: (name: unknown) => find(name) !== undefined,
    ...(call ? { response: createResponse(call) } : {}),
  };
  requests.set(request, call !== null);
  return request;
}

/** Whether this is `context.request`, with whose form a record can be saved. TypeError for the page's request. */
export function isRequest(value: unknown): boolean {
  const isCurrent = typeof value === 'object' && value !== null ? requests.get(value) : undefined;
  if (isCurrent === false) throw new NativeTypeError('save: a record is saved with context.request');
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

function isItems(value: Json): value is Items {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
