import { AppsError } from '../../common/errors';
import type { Items, Json, RecordChange } from '../types';

/** Items of a record: each request that touches the record copies, compares and shows all of them. */
const MAX_ITEMS = 10_000;

/**
 * Items in stored form: without `id`. Every other own key stays unchanged, `__proto__` too. BadRequestError for more than
 * a record may have.
 */
export function storable(items: Items): Items {
  return checkCount(Object.hasOwn(items, 'id') ? without(items, ['id']) : items);
}

function checkCount(items: Items): Items {
  if (Object.keys(items).length <= MAX_ITEMS) return items;
  throw new AppsError('BadRequestError', `A record has at most ${MAX_ITEMS} items`);
}

/**
 * Items after a change: `unset`, then `set`, then `inc`. BadRequestError when an item to be incremented is not a number,
 * missing or null, when JSON cannot hold the sum, or when there are more items than a record may have.
 */
export function applyChange(items: Items, { set = {}, unset = [], inc = {} }: RecordChange): Items {
  const changed = { ...without(items, unset), ...storable(set) };
  const added = Object.entries(inc).map(([name, by]): [string, Json] => [name, increment(changed, name, by)]);
  // Both forms define properties; an assignment would run the setter of `__proto__`.
  return checkCount({ ...changed, ...Object.fromEntries(added) });
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
