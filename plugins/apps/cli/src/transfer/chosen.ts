import { CannotRun } from '../exit';

/** The value of an option that is one of some names; undefined without the option. Throws CannotRun for another. */
export function chosen<Name extends string>(option: string, value: unknown, names: readonly Name[]): Name | undefined {
  if (value === undefined) return undefined;
  const found = names.find((name) => name === value);
  if (found === undefined) throw new CannotRun(`${option} is one of ${names.join(', ')}`);
  return found;
}
