import type { OperatorName, operators } from '../../../../shared/query/operators';
import { marks } from '../../database';
import { encodeKey, encodeTerm, keySize, missingKey, type Scalar, typeRange, unorderedTerm } from '../keys';
import type { IndexType } from '../types';
import type { QueryCounts } from './limits';
import {
  always,
  balanced,
  bodySql,
  columnOf,
  concat,
  countedSql,
  type Fragment,
  fieldAccess,
  fragment,
  type IndexAccess,
  inRange,
  inSql,
  type KeyRange,
  never,
  type QueryTarget,
  termAccess,
  termSql,
  type Use,
} from './sql';
import { allTexts, anyText, phrase, type Text, word, words } from './words';

type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A comparison of a field index with one value. */
interface Compare {
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
const comparisons: Meanings<Comparator> = {
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
function compareSql(
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
function longSql(column: string, body: string, operator: string, bytes: Buffer, long: Buffer): Fragment {
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

/** A field index has one of the values. */
interface OneOf {
  kind: 'oneOf';
  index: string;
  values: Scalar[];
}

/** A keyword index holds any, or all, of the values. */
interface Keywords {
  kind: 'keywords';
  index: string;
  mode: 'any' | 'all';
  values: Scalar[];
}

const plain = (values: readonly Value[]): Scalar[] => values.map(({ value }) => value);

const keyword =
  (mode: 'any' | 'all'): Meaning =>
  (index, values) => ({ kind: 'keywords', index, mode, values: plain(values) });

/** The result of an empty list: `any` of no values is false, `all` is true. */
const unlessEmpty =
  (value: boolean, meaning: Meaning): Meaning =>
  (index, values, counts) =>
    values.length === 0 ? { kind: 'constant', value } : meaning(index, values, counts);

const memberships: Meanings<'in' | 'in any' | 'in all'> = {
  in: {
    on: { keyword: keyword('any'), text: anyText },
    instead: (index) => `use == or "${index} in any(…)"`,
  },
  'in any': {
    on: {
      field: unlessEmpty(false, (index, values) => ({ kind: 'oneOf', index, values: plain(values) })),
      keyword: unlessEmpty(false, keyword('any')),
      text: unlessEmpty(false, anyText),
    },
  },
  'in all': {
    on: {
      field: unlessEmpty(true, (index, values) => ({
        kind: 'and',
        children: plain(values).map((value) => ({ kind: 'compare', index, comparator: '==', value })),
      })),
      keyword: unlessEmpty(true, keyword('all')),
      text: unlessEmpty(true, allTexts),
    },
  },
};

const oneOf: ConditionKind<OneOf> = {
  sql(target, { index, values }, use) {
    const column = columnOf(target, index, use);
    const keys = values.filter((value) => value !== null).map(encodeKey);
    const short = keys.filter((key) => !key.long).map((key) => key.bytes);
    const long = keys.filter((key) => key.long);
    const parts = long.map((key) => longSql(column, bodySql(target, index), '=', key.bytes, key.long as Buffer));
    if (short.length) parts.push(fragment(`${column} in (${marks(short)})`, ...short));
    if (values.includes(null)) parts.push(compareSql(target, column, index, '==', null));
    return balanced('or', parts);
  },
  access(target, { index, values }) {
    const encoded = values.map(encodeKey);
    const keys = encoded.map(({ bytes }) => bytes);
    // Other values have the key of null, and the keys of long strings are cut.
    const exact = !values.includes(null) && encoded.every(({ long }) => !long);
    return fieldAccess(target, index, exact, keys);
  },
  lookups: ({ values }) => values.length,
};

const keywords: ConditionKind<Keywords> = {
  sql(target, { index, mode, values }, use) {
    const terms = termsOf(values);
    if (terms.length === 0 || (mode === 'all' && values.includes(null))) return never;
    if (mode === 'any' || terms.length === 1) return termSql(target, index, inSql(terms), use);
    return countedSql(target, index, terms);
  },
  access(target, { index, mode, values }) {
    const terms = termsOf(values).slice(0, mode === 'all' ? 1 : undefined);
    const exact = mode === 'any' || values.length === 1;
    return terms.length ? termAccess(target, index, inSql(terms), terms.length > 1, exact) : undefined;
  },
  lookups: ({ values }) => values.length,
};

/** Null is in no list. */
function termsOf(values: readonly Scalar[]): Buffer[] {
  const terms = values.filter((value) => value !== null).map(encodeTerm);
  return [...new Map(terms.map((term) => [term.toString('latin1'), term])).values()];
}

/** A value of a query, and its position for errors about values that the index does not accept. */
export interface Value {
  value: Scalar;
  position: number;
}

/**
 * Makes the condition of an operator on an index of one type. BadRequestError for a value that such an index does not accept.
 * @param values one value, or those of a list
 * @param counts the parts of the query so far
 */
export type Meaning = (index: string, values: readonly Value[], counts: QueryCounts) => QueryCondition;

/** What an operator means (its syntax is in shared/query/operators.ts). */
export interface OperatorMeaning {
  /** Its condition by the type of the index: a row for each type that its syntax accepts. */
  on: Partial<Record<IndexType, Meaning>>;
  /** The proposal of the error for indexes of other types. */
  instead?(index: string): string;
}

/** A row for each of the operators, with a meaning for each type of index that its syntax accepts. */
type Meanings<Name extends OperatorName = OperatorName> = {
  [N in Name]: OperatorMeaning & { on: Record<(typeof operators)[N]['on'][number], Meaning> };
};

/** A kind of condition on one index: its SQL, and data for the planner of a search. */
export interface ConditionKind<C> {
  /** The condition on a row `f` of the table of fields; never NULL. `target.dialect` has the differences between databases. */
  sql(target: QueryTarget, condition: C, use: Use): Fragment;
  /** The index entries that find and estimate its records; undefined when no index helps. */
  access?(target: QueryTarget, condition: C): IndexAccess | undefined;
  /** Conditions that this one implies: any of them finds its records. */
  implied?(condition: C): readonly PlainCondition[];
  /** The range of a field index that contains all matches; undefined without one. */
  range?(condition: C): KeyRange | undefined;
  /** Index entries that a test of one record reads at most; infinite where it must read a text. */
  lookups(condition: C): number;
}

/** All records, or none. */
interface Constant {
  kind: 'constant';
  value: boolean;
}

const constant: ConditionKind<Constant> = {
  sql: (_target, { value }) => (value ? always : never),
  lookups: () => 0,
};

/** Kinds of conditions that operators make. */
const asked = { constant, compare, oneOf, keywords };
/** Kinds of conditions to which search texts are lowered. */
const lowered = { word, words, phrase };
const kinds = { ...asked, ...lowered };

type ConditionOf<T> = { [K in keyof T]: T[K] extends ConditionKind<infer C> ? C : never }[keyof T];
type Asked = ConditionOf<typeof asked>;
type Leaf = ConditionOf<typeof kinds>;

/** A condition on declared indexes, with its values. Two-valued: `not` is exactly the complement. */
export type QueryCondition =
  | { kind: 'and' | 'or'; children: QueryCondition[] }
  | { kind: 'not'; child: QueryCondition }
  | Asked
  | Text;

/** Conditions that have SQL: texts are lowered to words and phrases. */
export type PlainCondition =
  | { kind: 'and' | 'or'; children: PlainCondition[] }
  | { kind: 'not'; child: PlainCondition }
  | Leaf;

/** The row of a condition's kind. */
export function kindOf<C extends Leaf>(condition: C): ConditionKind<C> {
  return kinds[condition.kind] as unknown as ConditionKind<C>;
}

/**
 * What the operators of the query language mean. A new one needs its row in shared/query/operators.ts, its meaning in a file of this
 * folder, and its row in testing/operators.ts; the parser, the checker, the admin panel and the reference page follow. A condition of
 * a new kind is a row of `asked` above, and a row of `tests` in search.ts.
 */
export const meanings: Meanings = { ...comparisons, ...memberships };
