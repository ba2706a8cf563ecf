import { encodeKey, keySize, missingKey, typeRange } from '../keys';
import { type Fragment, fragment } from './sql';
import type { PlainCondition } from './terms';

type Compare = PlainCondition & { kind: 'compare' };

/** A range of keys, its ends included or not. */
export interface KeyRange {
  from: Buffer;
  fromOpen: boolean;
  to: Buffer;
  toOpen: boolean;
  /** Whether every key in it matches: keys of long strings are cut, and lists have the key of null. */
  exact: boolean;
}

/** The range of keys in which the matches of a comparison are; undefined when it is none (`!=`, or an order of null). */
export function rangeOf({ comparator, value }: Compare): KeyRange | undefined {
  if (comparator === '!=' || (value === null && comparator !== '==')) return undefined;
  const bytes = value === null ? missingKey : encodeKey(value).bytes;
  const exact = value !== null && bytes.length < keySize;
  const point = { from: bytes, fromOpen: false, to: bytes, toOpen: false, exact };
  if (value === null || comparator === '==') return point;
  const [low, high] = typeRange(typeof value as 'boolean' | 'number' | 'string');
  return comparator.startsWith('<')
    ? { ...point, from: low, toOpen: exact && comparator === '<' }
    : { ...point, to: high, toOpen: true, fromOpen: exact && comparator === '>' };
}

/** The keys that are in both. */
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
