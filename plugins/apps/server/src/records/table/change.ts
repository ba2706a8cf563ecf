import { AppsError } from '../../common/errors';
import type { Items, Json, RecordChange } from '../types';

/** Items of a record: each request that touches the record copies, compares and shows all of them. A definition has half as many. */
const MAX_ITEMS = 1_000;
/** Characters of an item's name: as many as a key of a definition has. */
const MAX_NAME = 1_000;

/**
 * Items in stored form: without `id`. Every other own key stays unchanged, `__proto__` too. BadRequestError for more than
 * a record may have, and for a name that is too long.
 */
export function storable(items: Items): Items {
  return checkNames(withoutId(items), {});
}

/** Items of an export in stored form: a record that was stored under larger limits is restored with all its items. */
export function withoutId(items: Items): Items {
  return Object.hasOwn(items, 'id') ? without(items, ['id']) : items;
}

/** @param before the items that are stored: they may be more, and have longer names, and the record may not grow then */
function checkNames(items: Items, before: Items): Items {
  const names = Object.keys(items);
  if (names.length > MAX_ITEMS && names.length > Object.keys(before).length)
    throw new AppsError('BadRequestError', `A record has at most ${MAX_ITEMS} items`);
  if (names.some((name) => name.length > MAX_NAME && !Object.hasOwn(before, name)))
    throw new AppsError('BadRequestError', `The name of an item has at most ${MAX_NAME} characters`);
  return items;
}

/**
 * Items after a change: `unset`, then `set`, then `inc`. BadRequestError when an item to be incremented is not a number,
 * missing or null, when JSON cannot hold the sum, or when there are more items, or longer names, than a record may have.
 */
export function applyChange(items: Items, { set = {}, unset = [], inc = {} }: RecordChange): Items {
  const changed = { ...without(items, unset), ...withoutId(set) };
  const added = Object.entries(inc).map(([name, by]): [string, Json] => [name, increment(changed, name, by)]);
  // Both forms define properties; an assignment would run the setter of `__proto__`.
  return checkNames({ ...changed, ...Object.fromEntries(added) }, items);
}

function without(items: Items, names: readonly string[]): Items {
  if (names.length === 0) return items;
  const left = new Set(names);
  return Object.fromEntries(Object.entries(items).filter(([name]) => !left.has(name)));
}

function increment(items: Items, name: string, by: number): number {
  const value = Object.hasOwn(items, name) ? items[name] : null;
  const refuse = (reason: string) =>
    new AppsError('BadRequestError', `Cannot increment ${JSON.stringify(name)}: ${reason}`, {
      details: { item: name },
    });
  if (name === 'id') throw refuse('it is the record id');
  if (typeof by !== 'number' || !Number.isFinite(by)) throw refuse('the increment is not a number');
  if (value !== null && typeof value !== 'number') throw refuse('its value is not a number');
  const sum = (value ?? 0) + by;
  if (!Number.isFinite(sum)) throw refuse('the result is too large');
  return sum;
}
