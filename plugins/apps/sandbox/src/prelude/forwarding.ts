import type { ForwardingMethod } from 'apps:host-functions';
import type { Items } from '../../../shared/json';
import { named } from './arguments';

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
