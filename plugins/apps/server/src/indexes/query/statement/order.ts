import { missingKey } from '../../keys/keys';
import type { Condition } from '../operators';
import { concat, type Fragment, fragment, joined } from '../sql/fragment';
import { bodySql, columnOf, inSql, numberOf, type QueryTarget, rangeSql, type WordRange } from '../sql/target';
import { disjoint, relevantWords } from './lower';

/** The order of the matches; ties are ordered by creation. */
export type Order =
  | { kind: 'creation' }
  /** `long`: some strings of the index are longer than a key, so that keys alone do not order them. */
  | { kind: 'field'; index: string; long: boolean }
  | { kind: 'relevance'; index: string; words: WordRange[] };

/**
 * The order of a sort index. A text index orders by relevance for its words in the query.
 * `long`: whether some strings of a field index are longer than a key.
 */
export function orderBy(
  target: QueryTarget,
  condition: Condition,
  sortIndex: string | undefined,
  long: boolean,
): Order {
  const index = sortIndex === undefined ? undefined : target.layout.get(sortIndex);
  if (!index) return { kind: 'creation' };
  if (index.type === 'field') return { kind: 'field', index: index.name, long };
  const words = relevantWords(condition, index.name);
  return words.length ? { kind: 'relevance', index: index.name, words } : { kind: 'creation' };
}

export interface SortKey {
  sql: Fragment;
  descending: boolean;
}

/** The sort keys, most significant first; `walk`: rows are read in the order of the index, which may be used. */
export function sortKeys(target: QueryTarget, order: Order, reverse: boolean, walk: boolean): SortKey[] {
  if (order.kind === 'creation') return [];
  if (order.kind === 'relevance') return [{ sql: scoreSql(target, order.index, order.words), descending: reverse }];
  const column = columnOf(target, order.index, walk ? 'lookup' : 'probe');
  const keys: SortKey[] = [{ sql: fragment(column), descending: reverse }];
  if (reverse)
    keys.unshift({ sql: fragment(`case when ${column} = ? then 1 else 0 end`, missingKey), descending: false });
  if (order.long) keys.push({ sql: fragment(bodySql(target, order.index)), descending: reverse });
  return keys;
}

/** The keys as columns `s0`, `s1` …, each with a comma before it. */
export function sortColumns(keys: readonly SortKey[]): Fragment {
  return joined(
    keys.map((key, at) => concat(', ', key.sql, ` as s${at}`)),
    '',
  );
}

/** `order by` those columns, then by creation. */
export function sortText(keys: readonly SortKey[], order: Order, reverse: boolean): string {
  const record = order.kind === 'creation' && reverse ? 'record desc' : 'record';
  return [...keys.map((key, at) => `s${at}${key.descending ? ' desc' : ''}`), record].join(', ');
}

/** Sum of the (negative) weights of the words in the record's text. */
function scoreSql(target: QueryTarget, index: string, words: WordRange[]): Fragment {
  const from = `${target.tables.terms} t where t.record = f.record and t.ix = ${numberOf(target, index)}`;
  const sum = (range: Fragment) => concat(`(select coalesce(sum(t.weight), 0) from ${from} and `, range, ')');
  const ranges = disjoint(words);
  const whole = ranges.filter(({ prefix }) => !prefix).map(({ term }) => term);
  const sums = ranges.filter(({ prefix }) => prefix).map((range) => sum(rangeSql(range)));
  if (whole.length) sums.unshift(sum(inSql(whole)));
  return concat('(', joined(sums, ' + '), ')');
}
