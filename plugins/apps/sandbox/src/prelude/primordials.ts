/**
 * The built-ins that the sandbox's output depends on, captured before any code of a theme has run, so that no change to a
 * built-in can affect it.
 */
export const { parse, stringify } = JSON;
export const { getOwnPropertyDescriptor, getOwnPropertyNames, defineProperty } = Object;
export const { getPrototypeOf, fromEntries, create, keys, hasOwn } = Object;
export const { get: reflectGet, has: reflectHas, ownKeys, apply: reflectApply } = Reflect;
export const text = String;
export const NativeError = Error;
export const NativeTypeError = TypeError;
export const NativeRangeError = RangeError;
export const NativeProxy = Proxy;
export const { next: resume, throw: resumeWithError } = Object.getPrototypeOf(function* () {}).prototype as Generator;
const { charCodeAt: charCodeAtMethod, slice: sliceMethod, toLowerCase: toLowerCaseMethod } = String.prototype;

/** `value.slice(start, end)` of a string. */
export function slice(value: string, start: number, end: number): string {
  return reflectApply(sliceMethod, value, [start, end]) as string;
}

export function lowerCase(value: string): string {
  return reflectApply(toLowerCaseMethod, value, []) as string;
}

/** Whether the string takes more than `limit` bytes as UTF-8. */
export function exceeds(value: string, limit: number): boolean {
  if (value.length > limit) return true;
  if (value.length * 3 <= limit) return false;
  let bytes = 0;
  for (let index = 0; index < value.length; index += 1) {
    const unit = reflectApply(charCodeAtMethod, value, [index]) as number;
    // Either half of a surrogate pair counts two of the pair's four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes > limit;
}
