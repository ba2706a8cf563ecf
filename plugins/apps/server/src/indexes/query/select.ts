import { missingKey } from '../keys';
import { isShortTest, isShortWalk } from './cost';
import { type Driver, sortRange } from './driver';
import { type Order, sortColumns, sortKeys, sortText } from './order';
import { inRange } from './ranges';
import {
  bodySql,
  columnOf,
  concat,
  conditionSql,
  type Fragment,
  fragment,
  joined,
  numberOf,
  type Place,
  termsByTerm,
  type Use,
} from './sql';
import type { PlainCondition } from './terms';

export interface Selection {
  condition: PlainCondition;
  driver: Driver | null;
  order: Order;
  reverse: boolean;
  limit: number;
  offset: number;
}

/** A select of `record` and sort keys of the wanted matches, and by which of its columns they are in order. */
export interface OrderedSelect {
  select: Fragment;
  order: string;
  /** Whether its plan bounds how many rows it looks at. */
  short: boolean;
}

/**
 * Few matches are looked through and sorted; of many, the sort index is walked until enough are found. By relevance
 * every match must be weighed, unless the order of a single word can be walked.
 */
export function selection(place: Place, wanted: Selection): OrderedSelect {
  const { order, reverse, condition } = wanted;
  const range = order.kind === 'field' ? sortRange(condition, order.index) : undefined;
  const bounds = range && inRange(columnOf(place, (order as { index: string }).index, 'lookup'), range);
  // What the sort index itself narrows down best comes from it in order: nothing is to be sorted.
  const sorted = bounds !== undefined && wanted.driver?.index === (order as { index: string }).index;
  const few = wanted.driver !== null && wanted.driver.count < place.few && !sorted;
  const short = few ? isShortTest(wanted.driver?.count ?? 0, condition, order) : isShortWalk(wanted);
  if (!few && order.kind === 'field' && reverse) return { ...missingLast(place, wanted, order, bounds), short };
  if (!few && walkable(wanted)) return { ...byWeight(place, wanted), short };
  // Records that are put together before they are tested cannot be counted while that goes on.
  const driver = few || (order.kind === 'relevance' && place.step === '') ? wanted.driver : null;
  const keys = sortKeys(place, order, reverse, driver === null);
  const text = sortText(keys, order, reverse);
  const from = fromSql(place, condition, driver, 'probe', driver ? undefined : bounds);
  return {
    select: limited(concat('select f.record as record', sortColumns(keys), ' ', from), text, wanted),
    order: text,
    short,
  };
}

/** A select of the number of matches, `n`; `short`: whether its plan bounds how many rows it looks at. */
export function countSql(
  place: Place,
  condition: PlainCondition,
  driver: Driver | null,
): { select: Fragment; short: boolean } {
  const few = driver !== null && driver.count < place.few;
  const use = place.step === '' ? 'lookup' : 'probe';
  return {
    select: concat('select count(*) as n ', fromSql(place, condition, few ? driver : null, use)),
    short: few && isShortTest(driver.count, condition, { kind: 'creation' }),
  };
}

function limited(select: Fragment, order: string, { limit, offset }: Selection): Fragment {
  return concat(select, fragment(` order by ${order} limit ? offset ?`, limit, offset));
}

function fromSql(
  place: Place,
  condition: PlainCondition,
  driver: Driver | null,
  use: Use,
  bounds?: Fragment,
): Fragment {
  const fields = place.tables.fields;
  const test = concat(place.step, conditionSql(place, condition, driver ? 'probe' : use));
  if (!driver) return concat(`from ${fields} f where `, ...(bounds ? [bounds, ' and '] : []), test);
  return concat('from (', driver.select, `) d ${place.dialect.join} ${fields} f where f.record = d.record and `, test);
}

/**
 * Null and missing come last in reverse, too: two walks of the sort index, one behind the other. One is enough in a range,
 * which holds nothing else, or none of them.
 */
function missingLast(
  place: Place,
  wanted: Selection,
  { index, long }: Order & { kind: 'field' },
  bounds: Fragment | undefined,
): Omit<OrderedSelect, 'short'> {
  const column = columnOf(place, index, 'lookup');
  const tail = long ? 's2 desc, record' : 'record';
  const body = long ? `, ${bodySql(place, index)} as s2` : '';
  const test = concat(place.step, conditionSql(place, wanted.condition, 'probe'));
  const present = concat(bounds ?? fragment(`${column} < ?`, missingKey), ' and ', test);
  const walk = (rank: number, found: Fragment, order: string): Fragment =>
    concat(
      `select * from (select f.record as record, ${rank} as s0, ${column} as s1${body} from ${place.tables.fields} f where `,
      found,
      fragment(` order by ${order} limit ?) w${rank}`, wanted.limit + wanted.offset),
    );
  const last = place.dialect.mixedOrder ? '' : concat(column, ' >= ', lastKey(place, column, present, wanted), ' and ');
  const walks = [walk(0, concat(last, present), `s1 desc, ${tail}`)];
  if (!bounds) walks.push(walk(1, concat(fragment(`${column} = ? and `, missingKey), test), 'record'));
  const order = `s0, s1 desc, ${tail}`;
  const select = concat('select * from (', joined(walks, ' union all '), ') u');
  return { select: limited(select, order, wanted), order };
}

/** The key of the last match that is wanted, walking the index backwards: only what is not below it needs to be sorted. */
function lastKey(place: Place, column: string, found: Fragment, { limit, offset }: Selection): Fragment {
  return concat(
    `coalesce((select ${column} from ${place.tables.fields} f where `,
    found,
    fragment(` order by ${column} desc limit 1 offset ?), '')`, Math.max(0, limit + offset - 1)),
  );
}

/** Whether all matches have one word in common whose weight alone is their order. */
function walkable({ order, condition, reverse }: Selection): boolean {
  const [word] = order.kind === 'relevance' && order.words.length === 1 && !reverse ? order.words : [];
  if (!word || word.prefix) return false;
  const held = (node: PlainCondition): boolean => {
    if (node.kind === 'phrase') return node.words.some(held);
    if (node.kind === 'and') return node.children.some(held);
    if (node.kind === 'or') return node.children.length > 0 && node.children.every(held);
    return (
      node.kind === 'word' &&
      !node.range.prefix &&
      node.range.term.equals(word.term) &&
      node.index === (order as { index: string }).index
    );
  };
  return held(condition);
}

function byWeight(place: Place, wanted: Selection): Omit<OrderedSelect, 'short'> {
  const { index, words } = wanted.order as Order & { kind: 'relevance' };
  const from = `from ${termsByTerm(place)} t ${place.dialect.join} ${place.tables.fields} f where f.record = t.record`;
  const term = fragment(` and t.ix = ${numberOf(place, index)} and t.term = ? and `, words[0]?.term);
  const test = concat(place.step, conditionSql(place, wanted.condition, 'probe'));
  const select = concat('select t.record as record, t.weight as s0 ', from, term, test);
  return { select: limited(select, 's0, record', wanted), order: 's0, record' };
}
