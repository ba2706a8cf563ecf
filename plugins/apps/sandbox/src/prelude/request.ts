import type { Items, Json } from '../../../shared/json';
import type { RequestData } from '../../../shared/logic-protocol';
import { named } from './arguments';
import { looked } from './looked';
import {
  getOwnPropertyDescriptor,
  hasOwn,
  lowerCase,
  NativeProxy,
  NativeTypeError,
  ownKeys,
  reflectGet,
  reflectHas,
  text,
} from './primordials';

/**
 * Views of a request's data that are used as the plain objects behind them, and note what logic looks at
 * (docs/decisions/exact-renderings.md). Their handlers have no prototype: what logic puts on Object.prototype must not
 * become a trap.
 */

/** Parts of a request that are noted when they are read; the others are views, or tell nothing. */
const parts = { __proto__: null, method: 'method', url: 'url', URL: 'url', path: 'path', body: 'body' } as unknown as {
  [property: PropertyKey]: string | undefined;
};

/** A view of a request. @param name `request` or `parent_request` */
function notingRequest<Target extends object>(name: string, request: Target): Target {
  const note = (property: PropertyKey) => {
    const part = parts[property];
    if (part !== undefined) looked.at(`${name}.${part}`);
  };
  return new NativeProxy(request, {
    __proto__: null,
    get(target, property, receiver) {
      note(property);
      return reflectGet(target, property, receiver);
    },
    getOwnPropertyDescriptor(target, property) {
      note(property);
      return getOwnPropertyDescriptor(target, property);
    },
  } as ProxyHandler<Target>);
}

/** A view of the query, the form or the headers: `name` is that of the whole, `request.query` for instance. */
function notingItems<Target extends object>(name: string, items: Target): Target {
  const isHeaders = name === 'request.headers' || name === 'parent_request.headers';
  const note = (property: PropertyKey) => {
    if (typeof property !== 'string') return;
    // JSON.stringify asks for it, before it takes all.
    if (property === 'toJSON') looked.at(name);
    else looked.atOne(name, isHeaders ? lowerCase(property) : property);
  };
  return new NativeProxy(items, {
    __proto__: null,
    get(target, property, receiver) {
      note(property);
      return reflectGet(target, property, receiver);
    },
    has(target, property) {
      note(property);
      return reflectHas(target, property);
    },
    getOwnPropertyDescriptor(target, property) {
      note(property);
      return getOwnPropertyDescriptor(target, property);
    },
    ownKeys(target) {
      looked.at(name);
      return ownKeys(target);
    },
  } as ProxyHandler<Target>);
}

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
      const source = find(key);
      return source ? source[key] : otherwise;
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
