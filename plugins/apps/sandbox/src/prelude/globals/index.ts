import { once } from '../each-session';
import { defineProperty, reflectGet } from '../primordials';
import { makeConsole, type WriteLog } from './console';
import { makeCrypto } from './crypto';
import { type CallRunner, createOwnCalls } from './own';
import { makeSearchParams } from './search-params';
import { makeClone } from './structured-clone';
import { makeBase64 } from './text';
import { makeTextDecoder, makeTextEncoder } from './text-coding';
import { makeUrl } from './url';

/**
 * The globals of other JavaScript environments that the engine lacks (docs/reference/logic.md#globals), and `more`. Each is
 * made when it is first used, so that a session without it pays for a property only.
 */
export function defineGlobals(runner: CallRunner, write: WriteLog, more: { [name: string]: () => unknown }): void {
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
    ...more,
  };
  const descriptors: PropertyDescriptorMap = {};
  for (const name of Object.keys(makers)) descriptors[name] = lazy(name, makers[name] as () => unknown);
  Object.defineProperties(globalThis, descriptors);
}

/** Also where logic has put something on Object.prototype. */
function define(holder: object, name: string, value: unknown, writable: boolean): void {
  defineProperty(holder, name, { __proto__: null, value, configurable: true, writable } as PropertyDescriptor);
}

/** A property whose value is made at its first use; it can be replaced, as everywhere. */
function lazy(name: string, make: () => unknown): PropertyDescriptor {
  const put = (value: unknown) => define(globalThis, name, value, true);
  return {
    configurable: true,
    enumerable: false,
    get() {
      const value = make();
      if (typeof value === 'function') define(value, 'name', name, false);
      put(value);
      return value;
    },
    set: put,
  };
}

/** These globals evade the memory limit, run code during another session, or have no effect. */
const removed = ['SharedArrayBuffer', 'WebAssembly', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'console'];

/** Removes from a fresh context the globals that a theme's code must not reach, and fixes the size of buffers. */
export function removeGlobals(): void {
  for (const name of removed) Reflect.deleteProperty(globalThis, name);
  fixArrayBuffer();
}

/** Buffers that can grow evade the memory limit: the constructor no longer takes `maxByteLength`. */
function fixArrayBuffer(): void {
  const Native = ArrayBuffer;
  function FixedArrayBuffer(length: number): ArrayBuffer {
    if (!new.target) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    return Reflect.construct(Native, [length], new.target) as ArrayBuffer;
  }
  Object.defineProperty(FixedArrayBuffer, 'name', { value: 'ArrayBuffer' });
  Object.defineProperty(FixedArrayBuffer, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(FixedArrayBuffer, 'isView', { value: reflectGet(Native, 'isView'), configurable: true });
  const species = Object.getOwnPropertyDescriptor(Native, Symbol.species);
  if (species) Object.defineProperty(FixedArrayBuffer, Symbol.species, species);
  Object.defineProperty(Native.prototype, 'constructor', { value: FixedArrayBuffer, configurable: true });
  Reflect.deleteProperty(Native.prototype, 'resize');
  Object.defineProperty(globalThis, 'ArrayBuffer', { value: FixedArrayBuffer, configurable: true, writable: true });
}
