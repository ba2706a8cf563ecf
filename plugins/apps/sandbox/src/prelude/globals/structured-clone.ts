import { NativeError } from '../primordials';

type Copier = (value: never, copy: (inner: unknown) => unknown, seen: Map<object, object>) => object;

const errors: Record<string, ErrorConstructor> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as never;

const tagOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

/** How objects are copied, by the class that their `toString` names; typed arrays and plain objects are besides. */
const copiers: Record<string, Copier> = {
  Boolean: (value: object) => Object(Boolean.prototype.valueOf.call(value)),
  Number: (value: object) => Object(Number.prototype.valueOf.call(value)),
  String: (value: object) => Object(String.prototype.valueOf.call(value)),
  BigInt: (value: object) => Object(BigInt.prototype.valueOf.call(value)),
  Date: (value: Date) => new Date(value.getTime()),
  RegExp: (value: RegExp) => new RegExp(value.source, value.flags),
  ArrayBuffer: (value: ArrayBuffer) => value.slice(0),
  Array(value: unknown[], copy, seen) {
    const made: unknown[] = new Array(value.length);
    seen.set(value, made);
    for (const key of Object.keys(value)) made[key as never] = copy(value[key as never]) as never;
    return made;
  },
  Map(value: Map<unknown, unknown>, copy, seen) {
    const made = new Map<unknown, unknown>();
    seen.set(value, made);
    for (const [key, entry] of [...value]) made.set(copy(key), copy(entry));
    return made;
  },
  Set(value: Set<unknown>, copy, seen) {
    const made = new Set<unknown>();
    seen.set(value, made);
    for (const entry of [...value]) made.add(copy(entry));
    return made;
  },
  Error(value: Error, copy, seen) {
    const made = new (errors[String(value.name)] ?? NativeError)(String(value.message));
    seen.set(value, made);
    const { stack, cause } = value;
    Object.defineProperty(made, 'stack', { value: String(stack), configurable: true, writable: true });
    if (Object.hasOwn(value, 'cause'))
      Object.defineProperty(made, 'cause', { value: copy(cause), configurable: true, writable: true });
    return made;
  },
  Object(value: Record<string, unknown>, copy, seen) {
    const made: Record<string, unknown> = {};
    seen.set(value, made);
    for (const key of Object.keys(value)) {
      const entry = { value: copy(value[key]), enumerable: true, configurable: true, writable: true };
      Object.defineProperty(made, key, entry);
    }
    return made;
  },
};

/** `structuredClone` of what has no prototype of its own; nothing can be transferred. */
export function makeClone(): (value: unknown) => unknown {
  return function structuredClone(value: unknown): unknown {
    const seen = new Map<object, object>();
    const copy = (inner: unknown): unknown => {
      if (typeof inner === 'symbol' || typeof inner === 'function') throw notCloneable(`a ${typeof inner}`);
      if (typeof inner !== 'object' || inner === null) return inner;
      const known = seen.get(inner);
      if (known) return known;
      const made = copyOf(inner, copy, seen);
      seen.set(inner, made);
      return made;
    };
    return copy(value);
  };
}

function copyOf(value: object, copy: (inner: unknown) => unknown, seen: Map<object, object>): object {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength, constructor: make } = value as Uint8Array;
    const length = value instanceof DataView ? byteLength : (value as Uint8Array).length;
    return Reflect.construct(make as never, [copy(buffer), byteOffset, length]) as object;
  }
  // An instance of a class is copied as a plain object, as everywhere.
  const tag = tagOf(value);
  const copier = copiers[tag] ?? (value instanceof Error ? copiers.Error : undefined);
  if (!copier) {
    if (['Promise', 'WeakMap', 'WeakSet', 'Generator', 'Arguments'].includes(tag)) throw notCloneable(`a ${tag}`);
    return (copiers.Object as Copier)(value as never, copy, seen);
  }
  return copier(value as never, copy, seen);
}

function notCloneable(what: string): Error {
  const error = new NativeError(`structuredClone: ${what} cannot be cloned`);
  return Object.defineProperty(error, 'name', { value: 'DataCloneError', configurable: true });
}
