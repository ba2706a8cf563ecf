/** Any JSON value, as it crosses between programs. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A record's items, or any other JSON object. */
export type Items = { [name: string]: Json };

/** Whether a value is an object with names, not null and not a list. */
export function isItems(value: unknown): value is Items {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object's own item; null for a missing one. */
export function itemOf(items: Items, name: string): Json {
  return Object.getOwnPropertyDescriptor(items, name)?.value ?? null;
}
