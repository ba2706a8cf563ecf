import { missingKey } from '../keys';
import type { Condition } from './check';
import {
  bodySql,
  columnOf,
  concat,
  type Fragment,
  fragment,
  inSql,
  joined,
  numberOf,
  type Place,
  rangeSql,
} from './sql';
import { disjoint, relevantWords, type WordRange } from './terms';

/** What orders the matches; ties, and everything without it, by creation. */
export type Order =
  | { kind: 'creation' }
  /** `long`: some strings of the index are longer than a key, so that keys alone do not order them. */
  | { kind: 'field'; index: string; long: boolean }
  | { kind: 'relevance'; index: string; words: WordRange[] };

/**
 * The order that a sort index gives. A text index orders by relevance for the words that the query asks it for.
 * `long`: whether some strings of a field index are longer than a key.
 */
export function orderBy(place: Place, condition: Condition, sortIndex: string | undefined, long: boolean): Order {
  const index = sortIndex === undefined ? undefined : place.layout.get(sortIndex);
  if (!index) return { kind: 'creation' };
  if (index.type === 'field') return { kind: 'field', index: index.name, long };
  const words = relevantWords(condition, index.name);
  return words.length ? { kind: 'relevance', index: index.name, words } : { kind: 'creation' };
}

export interface SortKey {
  sql: Fragment;
  descending: boolean;
}

/** What to sort by, most important first; `walk`: the rows come in the order of the index, so that it may be used. */
export function sortKeys(place: Place, order: Order, reverse: boolean, walk: boolean): SortKey[] {
  if (order.kind === 'creation') return [];
  if (order.kind === 'relevance') return [{ sql: scoreSql(place, order.index, order.words), descending: reverse }];
  const column = columnOf(place, order.index, walk ? 'lookup' : 'probe');
  const keys: SortKey[] = [{ sql: fragment(column), descending: reverse }];
  if (reverse)
    keys.unshift({ sql: fragment(`case when ${column} = ? then 1 else 0 end`, missingKey), descending: false });
  if (order.long) keys.push({ sql: fragment(bodySql(place, order.index)), descending: reverse });
  return keys;
}

/** The keys as columns `s0`, `s1` …, each with a comma before it. */
export function sortColumns(keys: readonly SortKey[]): Fragment {
  return joined(
    keys.map((key, at) => concat(', ', key.sql, ` as s${at}`)),
    '',
  );
}

/** The order by those columns, then by creation. */
export function sortText(keys: readonly SortKey[], order: Order, reverse: boolean): string {
  const record = order.kind === 'creation' && reverse ? 'record desc' : 'record';
  return [...keys.map((key, at) => `s${at}${key.descending ? ' desc' : ''}`), record].join(', ');
}

/** Sum of the (negative) weights of the words in the record's text. */
function scoreSql(place: Place, index: string, words: WordRange[]): Fragment {
  const from = `${place.tables.terms} t where t.record = f.record and t.ix = ${numberOf(place, index)}`;
  const sum = (range: Fragment) => concat(`(select coalesce(sum(t.weight), 0) from ${from} and `, range, ')');
  const ranges = disjoint(words);
  const whole = ranges.filter(({ prefix }) => !prefix).map(({ term }) => term);
  const sums = ranges.filter(({ prefix }) => prefix).map((range) => sum(rangeSql(range)));
  if (whole.length) sums.unshift(sum(inSql(whole)));
  return concat('(', joined(sums, ' + '), ')');
}
