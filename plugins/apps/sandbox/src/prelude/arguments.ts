import type { ForwardingMethod } from 'apps:host-functions';
import type { Items } from '../../../shared/json';
import { NativeTypeError } from './primordials';

/** Whether the value is an object literal: arguments by name, as Python's keyword arguments are written in JavaScript. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Arguments by name, from each way of giving them: `('x', true)`, `({ id: 'x' })` or `('x', { reverse: true })`.
 * `undefined` and `null` count as not given.
 */
export function named(args: readonly unknown[], names: readonly string[]): Record<string, unknown> {
  const found = namedOrNull(args, names);
  for (const name of Object.keys(found)) if (found[name] === null) delete found[name];
  return found;
}

/** As `named`, for arguments that may be null: only `undefined` counts as not given. */
export function namedOrNull(args: readonly unknown[], names: readonly string[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  args.forEach((value, index) => {
    const name = names[index];
    if (isPlain(value)) Object.assign(found, value);
    else if (name !== undefined) found[name] = value;
  });
  for (const name of Object.keys(found)) if (found[name] === undefined) delete found[name];
  return found;
}

/** An id given as text or number; undefined when not given. */
export function idText(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new NativeTypeError(`${what}: an id is a string`);
}

/** An id that must be given. */
export function requiredId(value: unknown, what: string): string {
  const id = idText(value, what);
  if (id === undefined) throw new NativeTypeError(`${what}: an id is needed`);
  return id;
}

/** The arguments of a method that passes them on unchanged: the server checks them. */
export function forwardedArguments({ positional, names, defaults }: ForwardingMethod, args: unknown[]): Items {
  const given = named(args, positional) as Items;
  const forwarded: Items = {};
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    forwarded[name] = given[name] ?? defaults[index];
  }
  return forwarded;
}
