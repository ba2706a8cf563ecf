import { looked } from './looked';
import { getOwnPropertyDescriptor, lowerCase, NativeProxy, ownKeys, reflectGet, reflectHas } from './primordials';

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
export function notingRequest<Target extends object>(name: string, request: Target): Target {
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
export function notingItems<Target extends object>(name: string, items: Target): Target {
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
