import { MAX_LOOKUPS } from '../limits';
import { kindOf, type PlainCondition } from '../operators';
import { isRange, sortRange } from './access-path';
import type { Order } from './order';
import type { Selection } from './select';

/** Index entries that a test of one record reads at most; infinite where it must read a text. */
function lookups(condition: PlainCondition): number {
  if ('children' in condition) return condition.children.reduce((sum, child) => sum + lookups(child), 0);
  return condition.kind === 'not' ? lookups(condition.child) : kindOf(condition).lookups(condition);
}

/** Index entries that the sort key of one record reads at most. */
function orderLookups(order: Order): number {
  if (order.kind === 'creation') return 0;
  if (order.kind === 'field') return order.long ? Number.POSITIVE_INFINITY : 1;
  return order.words.some(({ prefix }) => prefix) ? Number.POSITIVE_INFINITY : order.words.length;
}

/** Whether a short statement can test and sort `count` records. */
export function isShortTest(count: number, condition: PlainCondition, order: Order): boolean {
  return count * (1 + lookups(condition) + orderLookups(order)) <= MAX_LOOKUPS;
}

/** Whether every row of a walk in the wanted order matches, and the offset is not too large. */
export function isShortWalk({ condition, order, limit, offset }: Selection): boolean {
  if (limit + offset > MAX_LOOKUPS) return false;
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

/** Whether a short statement can read the rows of the page and of its offset. */
export function isShortPage({ limit, offset }: { limit: number; offset: number }): boolean {
  return limit + offset <= MAX_LOOKUPS;
}
