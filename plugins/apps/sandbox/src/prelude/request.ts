import type { RequestData } from '../../../server/src/logic/types';
import type { Items, Json } from '../../../shared/json';
import { named } from './arguments';
import { hasOwn, text } from './primordials';

type Call = (name: string, args: Items) => Json;

const requests = new WeakSet<object>();

/** `context.request`, or `context.parent_request`, whose response is that of another request and cannot be changed. */
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
  if (call) requests.add(request);
  return request;
}

/** Whether it is `context.request`: what a form has sent, for a record to be saved with. */
export function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && requests.has(value);
}

function createResponse(call: Call): object {
  let status: number | null = null;
  return {
    get status() {
      return status;
    },
    set status(value: number | null) {
      call('respond', { changes: { status: value } });
      status = value;
    },
    set_header(...args: unknown[]): void {
      const { name, value } = named(args, ['name', 'value']);
      call('respond', { changes: { headers: { [text(name)]: text(value) } } });
    },
    redirect(...args: unknown[]): void {
      call('respond', { changes: { redirect: text(named(args, ['url']).url) } });
    },
  };
}

function isItems(value: Json): value is Items {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
