import type { WireError } from '../../../shared/logic-protocol';
import { isRefusal } from '../replies';
import { eachSession } from './each-session';
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  NativeError,
  reflectApply,
  slice,
  stringify,
  text,
} from './primordials';

/** Numbers of the host's errors, by the error object that logic saw. */
const hostErrors = new WeakMap<object, number>();
const { get: getNumber, set: setNumber, has: hasNumber } = WeakMap.prototype;

/** How far up an error's classes its name is looked for. */
const MAX_CLASS_DEPTH = 8;
/** Characters of an error's message and of its stack. */
const MAX_MESSAGE_SIZE = 2000;
const MAX_STACK_SIZE = 4000;

/** In newer engines `stack` is an accessor; it is read only if it is the engine's own. */
const stackGetter = getOwnPropertyDescriptor(new NativeError(), 'stack')?.get;

/** The error that logic sees when a host call failed. */
export function hostError(error: { name: string; message: string; host: number }): Error {
  const made = new NativeError(error.message);
  Object.defineProperty(made, 'name', { value: error.name, configurable: true, writable: true });
  reflectApply(setNumber, hostErrors, [made, error.host]);
  return made;
}

/** Describes anything that was thrown, without running code of its own except traps of a proxy. Never throws. */
export function describe(thrown: unknown): WireError {
  try {
    return isObject(thrown) ? describeObject(thrown) : { name: 'Error', message: primitive(thrown), stack: '' };
  } catch {
    return { name: 'Error', message: 'an unreadable value was thrown', stack: '' };
  }
}

function describeObject(thrown: object): WireError {
  const message = data(thrown, 'message');
  const described: WireError = {
    name: textOr(inherited(thrown, 'name'), 'Error', 100),
    message: textOr(message, typeof message === 'undefined' ? '' : 'an unreadable message', MAX_MESSAGE_SIZE),
    stack: textOr(data(thrown, 'stack'), '', MAX_STACK_SIZE),
  };
  if (reflectApply(hasNumber, hostErrors, [thrown])) {
    described.host = reflectApply(getNumber, hostErrors, [thrown]) as number;
  }
  return described;
}

function data(holder: object, name: string): unknown {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (descriptor?.get && descriptor.get === stackGetter) return reflectApply(descriptor.get, holder, []);
  return descriptor?.value;
}

function inherited(holder: object, name: string): unknown {
  let level: object | null = holder;
  for (let depth = 0; level && depth < MAX_CLASS_DEPTH; depth += 1) {
    const found = data(level, name);
    if (found !== undefined) return found;
    level = getPrototypeOf(level) as object | null;
  }
  return undefined;
}

function textOr(value: unknown, otherwise: string, limit: number): string {
  return typeof value === 'string' ? slice(value, 0, limit) : otherwise;
}

function primitive(value: unknown): string {
  return slice(typeof value === 'string' ? value : text(value), 0, MAX_MESSAGE_SIZE);
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** The engine's stack frames at this position, for the line of a log entry. */
export function stackHere(): string {
  return textOr(data(new NativeError(), 'stack'), '', MAX_STACK_SIZE);
}

/** Whether an error of this session may be one of its context, which serves several (`isRefusal`). */
export const refused = eachSession(() => ({ met: false }));

/** JSON text of an answer's error. */
export function errorText(thrown: unknown): string {
  const described = describe(thrown);
  if (described.name === 'TypeError' && isRefusal(described.message)) refused().met = true;
  return stringify(described);
}
