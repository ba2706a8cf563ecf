import { isRange, sortRange } from './driver';
import type { Order } from './order';
import type { Selection } from './select';
import type { PlainCondition } from './terms';

/** Rows and index entries that a statement may look at and still be a short one: some ten milliseconds. */
export const mostLookups = 20_000;

/** Index entries that are looked at to test one record, at most; without a bound where a text must be read. */
function lookups(condition: PlainCondition): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.children.reduce((sum, child) => sum + lookups(child), 0);
    case 'not':
      return lookups(condition.child);
    case 'constant':
      return 0;
    case 'compare':
      return condition.value === null ? 2 : 1;
    case 'word':
      return 1;
    case 'oneOf':
    case 'keywords':
      return condition.values.length;
    case 'words':
      return condition.terms.length;
    case 'phrase':
      return Number.POSITIVE_INFINITY;
  }
}

/** The same to compute what a record is sorted by. */
function orderLookups(order: Order): number {
  if (order.kind === 'creation') return 0;
  if (order.kind === 'field') return order.long ? Number.POSITIVE_INFINITY : 1;
  return order.words.some(({ prefix }) => prefix) ? Number.POSITIVE_INFINITY : order.words.length;
}

/** Whether so many records can be tested and sorted by a short statement. */
export function isShortTest(count: number, condition: PlainCondition, order: Order): boolean {
  return count * (1 + lookups(condition) + orderLookups(order)) <= mostLookups;
}

/** Whether every row of a walk in the wanted order matches, and not too many are passed over: each that is visited is given. */
export function isShortWalk({ condition, order, limit, offset }: Selection): boolean {
  if (limit + offset > mostLookups) return false;
  if (condition.kind === 'constant') return order.kind !== 'field' || !order.long;
  switch (order.kind) {
    case 'creation':
      return false;
    case 'field':
      return !order.long && isRange(condition, order.index) && sortRange(condition, order.index)?.exact === true;
    case 'relevance':
      return condition.kind === 'word' && condition.index === order.index;
  }
}

/** Whether so many rows can be passed over, and given, by a short statement that looks at no others. */
export function isShortPage({ limit, offset }: { limit: number; offset: number }): boolean {
  return limit + offset <= mostLookups;
}
