import { reflectGet } from './primordials';

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
