import { encodeKey, keySize, missingKey, type Scalar, typeRange, unorderedTerm } from '../../keys';
import {
  bodySql,
  columnOf,
  concat,
  type Fragment,
  fieldAccess,
  fragment,
  inRange,
  inSql,
  type KeyRange,
  never,
  type QueryTarget,
  termSql,
} from '../sql';
import type { ConditionKind, Meaning, Meanings } from './types';
import { anyText } from './words';

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A comparison of a field index with one value. */
export interface Compare {
  kind: 'compare';
  index: string;
  comparator: Comparator;
  value: Scalar;
}

const field =
  (comparator: Comparator): Meaning =>
  (index, values) => ({ kind: 'compare', index, comparator, value: (values[0] as { value: Scalar }).value });

const instead = (comparator: Comparator) => (index: string) => `use "value in ${index}", not ${comparator}`;

/** Comparisons by order, which fields have alone. */
const ordering = (comparator: Comparator) => ({ on: { field: field(comparator) }, instead: instead(comparator) });

/** As in Rapido: a text index holds the words of a text, so that equality means "contains these words". */
export const comparisons: Meanings<Comparator> = {
  '==': { on: { field: field('=='), text: anyText }, instead: instead('==') },
  '!=': {
    on: { field: field('!='), text: (...args) => ({ kind: 'not', child: anyText(...args) }) },
    instead: instead('!='),
  },
  '<': ordering('<'),
  '<=': ordering('<='),
  '>': ordering('>'),
  '>=': ordering('>='),
};

export const compare: ConditionKind<Compare> = {
  sql: (target, { index, comparator, value }, use) =>
    compareSql(target, columnOf(target, index, use), index, comparator, value),
  access(target, condition) {
    const range = rangeOf(condition);
    return range && fieldAccess(target, condition.index, range.exact, range);
  },
  range: rangeOf,
  lookups: ({ value }) => (value === null ? 2 : 1),
};

/**
 * A comparison matches only values of the same type. Null equals null and missing, not lists and objects, and has no
 * order.
 */
export function compareSql(
  target: QueryTarget,
  column: string,
  index: string,
  comparator: Comparator,
  value: Scalar,
): Fragment {
  if (value === null) {
    if (comparator !== '==' && comparator !== '!=') return never;
    const unordered = termSql(target, index, inSql([unorderedTerm]), 'probe');
    if (comparator === '==') return concat(fragment(`(${column} = ? and not `, missingKey), unordered, ')');
    return concat(fragment(`(${column} <> ? or `, missingKey), unordered, ')');
  }
  const range = rangeOf({ comparator, value });
  if (range?.exact) return concat('(', inRange(column, range), ')');
  const { bytes, long } = encodeKey(value);
  const operator = { '==': '=', '!=': '<>' }[comparator as string] ?? comparator;
  const test = long
    ? longSql(column, bodySql(target, index), operator, bytes, long)
    : fragment(`${column} ${operator} ?`, bytes);
  if (operator === '=') return test;
  const [low, high] = typeRange(typeof value as 'boolean' | 'number' | 'string');
  return fragment(`(${column} >= ? and ${column} < ? and ${test.sql})`, low, high, ...test.values);
}

/** Long strings with the same beginning have equal keys: then the whole strings decide. */
export function longSql(column: string, body: string, operator: string, bytes: Buffer, long: Buffer): Fragment {
  if (operator === '=') return fragment(`(${column} = ? and ${body} = ?)`, bytes, long);
  const strict = operator === '<>' ? '<>' : operator.charAt(0);
  return fragment(`(${column} ${strict} ? or (${column} = ? and ${body} ${operator} ?))`, bytes, bytes, long);
}

/** The range of keys that contains the matches of a comparison; undefined without one (`!=`, or an order of null). */
function rangeOf({ comparator, value }: Pick<Compare, 'comparator' | 'value'>): KeyRange | undefined {
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
