import { once } from '../once';
import { makeConsole, type WriteLog } from './console';
import { makeCrypto } from './crypto';
import { type CallRunner, createOwnCalls } from './own';
import { makeSearchParams } from './search-params';
import { makeClone } from './structured-clone';
import { makeBase64 } from './text';
import { makeTextDecoder, makeTextEncoder } from './text-coding';
import { makeUrl } from './url';

/**
 * The globals of other JavaScript environments that the engine lacks (docs/reference/logic.md#globals). Each is made
 * when it is first used, so that a session without it pays for a property only.
 */
export function defineGlobals(runner: CallRunner, write: WriteLog): void {
  const own = createOwnCalls(runner);
  const base64 = once(makeBase64);
  const searchParams = once(makeSearchParams);
  const makers: Record<string, () => unknown> = {
    console: () => makeConsole(write),
    URL: () => makeUrl(own, searchParams()),
    URLSearchParams: () => searchParams().URLSearchParams,
    TextEncoder: makeTextEncoder,
    TextDecoder: makeTextDecoder,
    atob: () => base64().atob,
    btoa: () => base64().btoa,
    structuredClone: makeClone,
    crypto: () => makeCrypto(own, base64()),
  };
  const descriptors: PropertyDescriptorMap = {};
  for (const name of Object.keys(makers)) descriptors[name] = lazy(name, makers[name] as () => unknown);
  Object.defineProperties(globalThis, descriptors);
}

/** A property whose value is made at its first use; it can be replaced, as everywhere. */
function lazy(name: string, make: () => unknown): PropertyDescriptor {
  const put = (value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false });
  return {
    configurable: true,
    enumerable: false,
    get() {
      const value = make();
      if (typeof value === 'function') Object.defineProperty(value, 'name', { value: name, configurable: true });
      put(value);
      return value;
    },
    set: put,
  };
}
