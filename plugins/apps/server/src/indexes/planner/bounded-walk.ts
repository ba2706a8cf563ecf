import { missingKey } from '../keys';
import { ascending, columnOf, concat, type Fragment, fragment, type QueryTarget, rowTest } from '../query/sql';
import { creatorCondition, sortRange } from './access-path';
import { isShortTest, isShortWalk } from './estimate';
import { conditionSql, type OrderedSelect, ordered, type Selection } from './select';

/** Whether `boundedWalk` has SQL for this search, and may find its page. */
export function mayWalk({ maxWalk }: QueryTarget, wanted: Selection): boolean {
  const { condition, order, limit, offset, after } = wanted;
  if (after || limit === 0 || limit + offset > maxWalk || isShortWalk(wanted)) return false;
  // One's own records are walked in this order, and no others.
  if (order.kind === 'creation' && creatorCondition(condition)) return false;
  if (order.kind === 'relevance' || (order.kind === 'field' && order.long)) return false;
  return isShortTest(maxWalk, condition, order);
}

/**
 * The matches among the first `maxWalk` records in the wanted order: the first matches of all, perhaps fewer than wanted. It
 * needs no count. See docs/decisions/search-plans.md.
 */
export function boundedWalk(target: QueryTarget, wanted: Selection): OrderedSelect {
  const { condition, order, reverse } = wanted;
  const test = concat(rowTest(target), conditionSql(target, condition, 'probe'));
  const direction = reverse ? ' desc' : '';
  if (order.kind !== 'field') {
    const select = concat('select f.record as record from (', first(target, 'f.record', direction), ') f where ', test);
    return { ...ordered(target, select, [{ column: 'record', descending: reverse }], wanted), short: true };
  }
  const column = columnOf(target, order.index, 'lookup');
  const start = startSql(target, wanted, order.index);
  const rows = first(target, column, reverse ? ' desc' : ', record', start);
  // The walk in reverse has equal keys in reverse order of creation: the last key may lack the records that come first.
  const complete = reverse ? concat(column, ' > ', lastKey(target, column, start), ' and ') : '';
  const select = concat(`select f.record as record, ${column} as s0 from (`, rows, ') f where ', complete, test);
  const byKey = [{ column: 's0', descending: reverse }, ascending('record')];
  return { ...ordered(target, select, byKey, wanted), short: true };
}

/** The first rows of the table in the order of a column. */
function first(
  { tables, maxWalk }: QueryTarget,
  column: string,
  ending: string,
  start: Fragment | string = '',
): Fragment {
  return concat(`select f.* from ${tables.fields} f`, start, ` order by ${column}${ending} limit ${maxWalk}`);
}

/** The key of the last of these rows, or one below all others when there are fewer. */
function lastKey({ tables, maxWalk }: QueryTarget, column: string, start: Fragment): Fragment {
  const key = concat(`select ${column} from ${tables.fields} f`, start, ` order by ${column} desc limit 1`);
  return concat('coalesce((', key, ` offset ${maxWalk - 1}), '')`);
}

/**
 * Where the walk begins. Only that end of the range is a condition: for two, PostgreSQL expects so few rows that it would
 * rather sort them. Without any, MariaDB reads and sorts the whole table.
 */
function startSql(target: QueryTarget, { condition, reverse }: Selection, index: string): Fragment {
  const range = sortRange(condition, index);
  const column = columnOf(target, index, 'lookup');
  if (!reverse)
    return range
      ? fragment(` where ${column} ${range.fromOpen ? '>' : '>='} ?`, range.from)
      : fragment(` where ${column} >= ''`);
  // Null and missing are last in reverse too.
  const isBelow = range && Buffer.compare(range.to, missingKey) < 0;
  return isBelow
    ? fragment(` where ${column} ${range.toOpen ? '<' : '<='} ?`, range.to)
    : fragment(` where ${column} < ?`, missingKey);
}
