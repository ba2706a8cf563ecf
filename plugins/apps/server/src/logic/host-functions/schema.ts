import type { Items } from '../../../../shared/json';
import { AppsError } from '../../errors';

/** Checks one argument that came out of the sandbox; BadRequestError that names it. `about` is shown in the docs. */
export interface Schema<T> {
  check(value: unknown, name: string): T;
  about: string;
}

export type Checked<Shape> = { [Key in keyof Shape]: Shape[Key] extends Schema<infer T> ? T : never };

function schema<T>(about: string, accepts: (value: unknown) => boolean): Schema<T> {
  return {
    about,
    check(value, name) {
      return accepts(value) ? (value as T) : nothing(name, about);
    },
  };
}

/** The error of a wrong value. */
export function nothing(name: string, about: string): never {
  throw new AppsError('BadRequestError', `${name} must be ${about}`);
}

export const string = schema<string>('a string', (value) => typeof value === 'string');
export const boolean = schema<boolean>('a boolean', (value) => typeof value === 'boolean');
export const number = schema<number>('a number', (value) => typeof value === 'number' && Number.isFinite(value));
export const count = schema<number>(
  'a whole number, 0 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
export const status = schema<number>(
  'an HTTP status from 200 to 599',
  (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
);
export const items = schema<Items>('an object', isItems);

export function nullable<T>(inner: Schema<T>): Schema<T | null> {
  return {
    about: `${inner.about}, or null`,
    check: (value, name) => (value === null || value === undefined ? null : inner.check(value, name)),
  };
}

export function list<T>(inner: Schema<T>): Schema<T[]> {
  return {
    about: `a list, each ${inner.about}`,
    check(value, name) {
      if (!Array.isArray(value)) return nothing(name, 'a list');
      return value.map((entry, index) => inner.check(entry, `${name}[${index}]`));
    },
  };
}

/** An object of any names whose values are all of one kind. */
export function dictionary<T>(inner: Schema<T>): Schema<Record<string, T>> {
  return {
    about: `an object, each value ${inner.about}`,
    check(value, name) {
      const entries = Object.entries(items.check(value, name));
      return Object.fromEntries(entries.map(([key, entry]) => [key, inner.check(entry, `${name}.${key}`)]));
    },
  };
}

/** An object of the named keys, every one optional (null counts as missing); others are refused by name. */
export function options<Shape extends Record<string, Schema<unknown>>>(shape: Shape): Schema<Partial<Checked<Shape>>> {
  return {
    about: `an object with ${Object.keys(shape).join(', ')}`,
    check(value, name) {
      const given = Object.entries(items.check(value, name)).filter(([, entry]) => entry !== null);
      const checked = given.map(([key, entry]) => {
        if (!Object.hasOwn(shape, key)) throw new AppsError('BadRequestError', `${name} has no option ${key}`);
        return [key, shape[key].check(entry, `${name}.${key}`)];
      });
      return Object.fromEntries(checked) as Partial<Checked<Shape>>;
    },
  };
}

function isItems(value: unknown): value is Items {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
