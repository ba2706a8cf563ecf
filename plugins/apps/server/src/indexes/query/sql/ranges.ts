import { type Fragment, fragment } from './fragment';

/** A range of keys with open or closed ends. */
export interface KeyRange {
  from: Buffer;
  fromOpen: boolean;
  to: Buffer;
  toOpen: boolean;
  /** Whether every key in it matches: not so for cut keys of long strings, and for null, whose key lists have too. */
  exact: boolean;
}

/** The keys of both ranges. */
export function intersection(one: KeyRange, other: KeyRange): KeyRange {
  const low = Buffer.compare(one.from, other.from);
  const high = Buffer.compare(one.to, other.to);
  return {
    from: low < 0 ? other.from : one.from,
    fromOpen: low === 0 ? one.fromOpen || other.fromOpen : low < 0 ? other.fromOpen : one.fromOpen,
    to: high > 0 ? other.to : one.to,
    toOpen: high === 0 ? one.toOpen || other.toOpen : high > 0 ? other.toOpen : one.toOpen,
    exact: one.exact && other.exact,
  };
}

/** The condition that a column's key is in the range. */
export function inRange(column: string, { from, fromOpen, to, toOpen }: KeyRange): Fragment {
  if (from.equals(to) && !fromOpen && !toOpen) return fragment(`${column} = ?`, from);
  return fragment(`${column} ${fromOpen ? '>' : '>='} ? and ${column} ${toOpen ? '<' : '<='} ?`, from, to);
}
