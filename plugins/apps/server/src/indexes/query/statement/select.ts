import { missingKey } from '../../keys/keys';
import type { PlainCondition } from '../operators';
import { concat, type Fragment, fragment, joined } from '../sql/fragment';
import { inRange } from '../sql/ranges';
import { bodySql, columnOf, numberOf, type QueryTarget, termsByTerm, type Use } from '../sql/target';
import { type AccessPath, branchOf, sortRange } from './access-path';
import { conditionSql } from './condition-sql';
import { isShortTest, isShortWalk } from './cost';
import { type Order, sortColumns, sortKeys, sortText } from './order';

export interface Selection {
  condition: PlainCondition;
  path: AccessPath | null;
  order: Order;
  reverse: boolean;
  limit: number;
  offset: number;
}

/** A select of `record` and sort keys of the wanted matches, and the columns that order them. */
export interface OrderedSelect {
  select: Fragment;
  order: string;
  /** Whether its plan bounds the number of rows that it reads. */
  short: boolean;
}

/**
 * Sorts all matches if they are few; otherwise walks the sort index until it has found enough. Relevance requires the
 * weight of every match, unless it is the order of a single word, which can be walked.
 */
export function selection(target: QueryTarget, wanted: Selection): OrderedSelect {
  const { order, reverse, condition } = wanted;
  const range = order.kind === 'field' ? sortRange(condition, order.index) : undefined;
  const bounds = range && inRange(columnOf(target, (order as { index: string }).index, 'lookup'), range);
  // When the sort index is the narrowest access path, its rows are in order: no sort is needed.
  const sorted = bounds !== undefined && wanted.path?.index === (order as { index: string }).index;
  const isSmall = wanted.path !== null && wanted.path.count < target.maxSorted && !sorted;
  const short = isSmall ? isShortTest(wanted.path?.count ?? 0, condition, order) : isShortWalk(wanted);
  if (!isSmall && order.kind === 'field' && reverse) return { ...missingLast(target, wanted, order, bounds), short };
  if (!isSmall && walkable(wanted)) return { ...byWeight(target, wanted), short };
  // Steps cannot count records that a union collects before they are tested.
  const path = isSmall || (order.kind === 'relevance' && target.step === '') ? wanted.path : null;
  const keys = sortKeys(target, order, reverse, path === null);
  const text = sortText(keys, order, reverse);
  const from = fromSql(target, condition, path, 'probe', path ? undefined : bounds);
  return {
    select: limited(concat('select f.record as record', sortColumns(keys), ' ', from), text, wanted),
    order: text,
    short,
  };
}

/** A select of the number of matches, `n`; `short`: whether its plan bounds the number of rows that it reads. */
export function countSql(
  target: QueryTarget,
  condition: PlainCondition,
  path: AccessPath | null,
): { select: Fragment; short: boolean } {
  const isSmall = path !== null && path.count < target.maxSorted;
  const use = target.step === '' ? 'lookup' : 'probe';
  return {
    select: concat('select count(*) as n ', fromSql(target, condition, isSmall ? path : null, use)),
    short: isSmall && isShortTest(path.count, condition, { kind: 'creation' }),
  };
}

function limited(select: Fragment, order: string, { limit, offset }: Selection): Fragment {
  return concat(select, fragment(` order by ${order} limit ? offset ?`, limit, offset));
}

function fromSql(
  target: QueryTarget,
  condition: PlainCondition,
  path: AccessPath | null,
  use: Use,
  bounds?: Fragment,
): Fragment {
  const fields = target.tables.fields;
  const test = concat(target.step, conditionSql(target, condition, path ? 'probe' : use));
  if (!path) return concat(`from ${fields} f where `, ...(bounds ? [bounds, ' and '] : []), test);
  return concat('from (', path.select, `) d ${target.dialect.join} ${fields} f where f.record = d.record and `, test);
}

/**
 * Null and missing come last in reverse too: two walks of the sort index, one after the other. One walk is enough in a
 * range, which contains either only or none of them.
 */
function missingLast(
  target: QueryTarget,
  wanted: Selection,
  { index, long }: Order & { kind: 'field' },
  bounds: Fragment | undefined,
): Omit<OrderedSelect, 'short'> {
  const column = columnOf(target, index, 'lookup');
  const tail = long ? 's2 desc, record' : 'record';
  const body = long ? `, ${bodySql(target, index)} as s2` : '';
  const test = concat(target.step, conditionSql(target, wanted.condition, 'probe'));
  const present = concat(bounds ?? fragment(`${column} < ?`, missingKey), ' and ', test);
  const walk = (rank: number, found: Fragment, order: string): Fragment =>
    concat(
      `select * from (select f.record as record, ${rank} as s0, ${column} as s1${body} from ${target.tables.fields} f where `,
      found,
      fragment(` order by ${order} limit ?) w${rank}`, wanted.limit + wanted.offset),
    );
  const last = target.dialect.mixedOrder
    ? ''
    : concat(column, ' >= ', lastKey(target, column, present, wanted), ' and ');
  const walks = [walk(0, concat(last, present), `s1 desc, ${tail}`)];
  if (!bounds) walks.push(walk(1, concat(fragment(`${column} = ? and `, missingKey), test), 'record'));
  const order = `s0, s1 desc, ${tail}`;
  const select = concat('select * from (', joined(walks, ' union all '), ') u');
  return { select: limited(select, order, wanted), order };
}

/** The key of the last wanted match when walking the index backwards: only matches not below it need a sort. */
function lastKey(target: QueryTarget, column: string, found: Fragment, { limit, offset }: Selection): Fragment {
  return concat(
    `coalesce((select ${column} from ${target.tables.fields} f where `,
    found,
    fragment(` order by ${column} desc limit 1 offset ?), '')`, Math.max(0, limit + offset - 1)),
  );
}

/** Whether all matches contain one word whose weight alone is their order. */
function walkable({ order, condition, reverse }: Selection): boolean {
  const [word] = order.kind === 'relevance' && order.words.length === 1 && !reverse ? order.words : [];
  if (!word || word.prefix) return false;
  const held = (node: PlainCondition): boolean => {
    const branch = branchOf(node);
    if (branch?.kind === 'and') return branch.children.some(held);
    if (branch) return branch.children.length > 0 && branch.children.every(held);
    return (
      node.kind === 'word' &&
      !node.range.prefix &&
      node.range.term.equals(word.term) &&
      node.index === (order as { index: string }).index
    );
  };
  return held(condition);
}

function byWeight(target: QueryTarget, wanted: Selection): Omit<OrderedSelect, 'short'> {
  const { index, words } = wanted.order as Order & { kind: 'relevance' };
  const from = `from ${termsByTerm(target)} t ${target.dialect.join} ${target.tables.fields} f where f.record = t.record`;
  const term = fragment(` and t.ix = ${numberOf(target, index)} and t.term = ? and `, words[0]?.term);
  const test = concat(target.step, conditionSql(target, wanted.condition, 'probe'));
  const select = concat('select t.record as record, t.weight as s0 ', from, term, test);
  return { select: limited(select, 's0, record', wanted), order: 's0, record' };
}
