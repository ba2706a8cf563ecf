import { lastMatchMessage } from '../../replies';
import { NativeError, NativeTypeError } from '../primordials';
import { hiddenObjects } from './hidden';

const { freeze, seal, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { ownKeys } = Reflect;

/** Properties of `Error` that the engine reads: any session may set them, and the next one has them as they were. */
const reset = ['stackTraceLimit', 'prepareStackTrace'] as const;

/**
 * Makes what the sessions of one context share unchangeable: all that can be reached from the global object, from syntax, and from
 * `shared`.
 *  - Frozen: nothing can change.
 *  - Sealed: nothing can be added, removed or made an accessor, but values can be assigned, because an inherited read-only
 *    property would forbid `this.name = …` in objects made from it (the "override mistake"). Their values are compared.
 * @param shared what the prelude hands to logic, or to built-ins that logic may have replaced
 * @returns whether everything is as it was; asked between two sessions. It runs no code of a theme
 */
export function harden(shared: readonly unknown[]): () => boolean {
  // What is made at its first use is made now.
  for (const name of ownKeys(globalThis)) Reflect.get(globalThis, name);
  refuseLastMatch();
  for (const name of reset) {
    const value = name === 'stackTraceLimit' ? (NativeError as never)[name] : undefined;
    defineProperty(NativeError, name, {
      value,
      writable: true,
      enumerable: name === 'stackTraceLimit',
      configurable: false,
    });
  }
  const objects = reachable([globalThis, ...hiddenObjects(), ...shared]);
  const assignable = sealedObjects();
  const intact = comparison(objects.filter((one) => assignable.has(one)));
  // As a whole: to change properties one by one makes the engine keep an object as a table, and code that uses it slow.
  for (const one of objects) assignable.has(one) ? seal(one) : freeze(one);
  return intact;
}

function sealedObjects(): Set<unknown> {
  const found = new Set<unknown>([Object.prototype, Function.prototype, Array.prototype, Promise.prototype]);
  for (const one of [NativeError, NativeError.prototype, Date, Date.prototype, Math, JSON, console]) found.add(one);
  for (const name of ownKeys(globalThis)) {
    const value: unknown = getOwnPropertyDescriptor(globalThis, name)?.value;
    if (typeof value === 'function' && value.prototype instanceof NativeError) found.add(value.prototype);
  }
  return found;
}

/** The roots, and all that properties, accessors and prototypes lead to. */
function reachable(roots: readonly unknown[]): object[] {
  const seen = new Set<object>();
  const waiting: object[] = [];
  const visit = (value: unknown) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
    waiting.push(value);
  };
  roots.forEach(visit);
  for (let object = waiting.pop(); object; object = waiting.pop()) {
    visit(getPrototypeOf(object));
    for (const key of ownKeys(object)) {
      const { value, get, set } = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      [value, get, set].forEach(visit);
    }
  }
  return [...seen];
}

/** `RegExp.$1` and the like tell the text of the last match, which may be one of an earlier session. */
function refuseLastMatch(): void {
  const refuse = () => {
    throw new NativeTypeError(lastMatchMessage);
  };
  for (const name of ownKeys(RegExp)) {
    const { get } = getOwnPropertyDescriptor(RegExp, name) as PropertyDescriptor;
    if (typeof name === 'string' && get) defineProperty(RegExp, name, { get: refuse, set: refuse });
  }
}

/**
 * One function of plain comparisons: a loop over names takes ten times as long. Each value is assigned too: that fails where a
 * session has made the property read-only.
 */
function comparison(objects: readonly object[]): () => boolean {
  const values: unknown[] = [];
  const symbols: symbol[] = [];
  let text = '';
  objects.forEach((object, index) => {
    for (const key of ownKeys(object)) {
      const { value, writable } = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      if (!writable || (object === NativeError && reset.includes(key as never))) continue;
      const name = typeof key === 'symbol' ? `s[${symbols.push(key) - 1}]` : JSON.stringify(key);
      const [property, kept] = [`o[${index}][${name}]`, `v[${values.push(value) - 1}]`];
      text += `if(${property}!==${kept})return false;${property}=${kept};`;
    }
  });
  const { stackTraceLimit } = NativeError as unknown as { stackTraceLimit: number };
  const compare = new Function(
    ...['o', 'v', 's', 'E', 'l'],
    `"use strict";return()=>{try{E.prepareStackTrace=undefined;E.stackTraceLimit=l;${text}return true}catch{return false}}`,
  );
  return compare(objects, values, symbols, NativeError, stackTraceLimit) as () => boolean;
}
