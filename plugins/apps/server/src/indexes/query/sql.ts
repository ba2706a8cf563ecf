import { marks } from '../database';
import type { Dialect } from '../dialects';
import { encodeKey, encodeTerm, missingKey, type Scalar, typeRange, unorderedTerm } from '../keys';
import type { Layout, Tables } from '../layout';
import { sortedTable } from '../sorted-terms';
import { byIndex, type Phrase, type PlainCondition, type Word, type WordRange } from './terms';
import type { Comparator } from './tree';

/** A piece of SQL with the values of its marks. */
export interface Fragment {
  sql: string;
  values: unknown[];
}

export const fragment = (sql: string, ...values: unknown[]): Fragment => ({ sql, values });
/** One fragment behind the other. */
export function concat(...parts: (Fragment | string)[]): Fragment {
  const fragments = parts.map((part) => (typeof part === 'string' ? fragment(part) : part));
  return { sql: fragments.map((part) => part.sql).join(''), values: fragments.flatMap((part) => part.values) };
}

/** Fragments with a separator between them. */
export function joined(parts: readonly Fragment[], separator: string): Fragment {
  return concat(...parts.flatMap((part, at) => (at ? [separator, part] : [part])));
}

const never = fragment('1 = 0');
const always = fragment('1 = 1');

/** Where a generation's indexes are; what compiling a condition needs to know. */
export interface Place {
  dialect: Dialect;
  layout: Layout;
  tables: Tables;
  /**
   * Below this many records it is faster to look at each of them than to walk the sort index; above, walking soon
   * finds enough matches. The databases' own guesses are wrong by orders of magnitude where statistics are missing.
   */
  few: number;
  /**
   * A condition that is asked for each row that a long statement looks at, and ends it when it takes too long; '' where
   * the statement is ended from outside.
   */
  step: string;
}

/**
 * `lookup`: the database may find records by the condition. `probe`: it tests records that are found otherwise, for the
 * planner is not to choose again.
 */
export type Use = 'lookup' | 'probe';

/** The condition on a row `f` of the table of fields; never NULL. */
export function conditionSql(place: Place, condition: PlainCondition, use: Use): Fragment {
  switch (condition.kind) {
    case 'and':
      return allSql(place, condition.children, use);
    case 'or':
      return anySql(place, condition.children, use);
    case 'not':
      return concat('not (', conditionSql(place, condition.child, use), ')');
    case 'constant':
      return condition.value ? always : never;
    case 'compare':
      return compareSql(
        place,
        columnOf(place, condition.index, use),
        condition.index,
        condition.comparator,
        condition.value,
      );
    case 'oneOf':
      return oneOfSql(place, condition, use);
    case 'keywords':
      return keywordsSql(place, condition, use);
    case 'word':
      return termSql(place, condition.index, rangeSql(condition.range), use);
    case 'words':
      return termSql(place, condition.index, inSql(condition.terms), use);
    case 'phrase':
      return allSql(place, [condition], use);
  }
}

/** Words of one text that are looked up one by one, until one is missing. */
const fewWords = 3;

/**
 * All of the conditions. The phrases of a text are looked for in one reading of it, and only in texts that hold the words
 * of the first; of many words, all but the first are counted at once.
 */
function allSql(place: Place, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = [...byIndex(conditions.filter((one) => one.kind === 'phrase'))];
  const words = byIndex([
    ...conditions.filter((one) => one.kind === 'word'),
    ...phrases.flatMap(([, [first]]) => first?.words ?? []),
  ]);
  return balanced('and', [
    ...[...words].flatMap(([index, list]) => wordsSql(place, index, list, use)),
    ...conditions
      .filter((one) => one.kind !== 'word' && one.kind !== 'phrase')
      .map((one) => conditionSql(place, one, use)),
    ...phrases.map(([index, list]) => bodyContains(place, index, 'and', list)),
  ]);
}

/** Any of the conditions. Several phrases of a text are looked for in one reading of it. */
function anySql(place: Place, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = [...byIndex(conditions.filter((one) => one.kind === 'phrase'))];
  return balanced('or', [
    ...conditions.filter((one) => one.kind !== 'phrase').map((one) => conditionSql(place, one, use)),
    ...phrases.map(([index, list]) =>
      list.length === 1 ? allSql(place, list, use) : bodyContains(place, index, 'or', list),
    ),
  ]);
}

function wordsSql(place: Place, index: string, words: readonly Word[], use: Use): Fragment[] {
  const whole = words.filter(({ range }) => !range.prefix);
  const counted = whole.slice(fewWords);
  const single = words.filter((word) => counted.length < 2 || !counted.includes(word));
  const parts = single.map(({ range }) => termSql(place, index, rangeSql(range), use));
  if (counted.length < 2) return parts;
  return [...parts, countedSql(place, index, termsOf(counted))];
}

function termsOf(words: readonly Word[]): Buffer[] {
  return [...new Map(words.map(({ range }) => [range.term.toString('latin1'), range.term])).values()];
}

/** All of the terms, none of which is twice in the list. */
function countedSql(place: Place, index: string, terms: readonly Buffer[]): Fragment {
  const from = `${place.tables.terms} t where t.record = f.record and t.ix = ${numberOf(place, index)}`;
  return concat(`(select count(*) from ${from} and `, inSql(terms), `) = ${terms.length}`);
}

/** Joins as a balanced tree: SQLite takes expressions up to a depth of 1,000. */
export function balanced(operator: 'and' | 'or', parts: Fragment[]): Fragment {
  if (parts.length === 0) return operator === 'and' ? always : never;
  if (parts.length === 1) return parts[0] as Fragment;
  const middle = parts.length >> 1;
  const [left, right] = [balanced(operator, parts.slice(0, middle)), balanced(operator, parts.slice(middle))];
  return concat('(', left, ` ${operator} `, right, ')');
}

/** The table in which records are found by their terms. */
export function termsByTerm({ dialect, tables }: Place): string {
  return dialect.sortedTerms ? sortedTable(tables.terms) : tables.terms;
}

export function numberOf(place: Place, index: string): number {
  return (place.layout.get(index) as { number: number }).number;
}

export function columnOf(place: Place, index: string, use: Use): string {
  const column = `f.k${numberOf(place, index)}`;
  return use === 'probe' ? place.dialect.unindexed(column) : column;
}

/** All bytes of the record's long string; NULL when its key says everything. */
export function bodySql(place: Place, index: string): string {
  return `(select b.body from ${place.tables.bodies} b where b.record = f.record and b.ix = ${numberOf(place, index)})`;
}

/**
 * A comparison; matches values of the same type only. Null equals null and missing, not lists and objects, and is neither
 * less nor greater.
 */
function compareSql(place: Place, column: string, index: string, comparator: Comparator, value: Scalar): Fragment {
  if (value === null) {
    if (comparator !== '==' && comparator !== '!=') return never;
    const unordered = termSql(place, index, inSql([unorderedTerm]), 'probe');
    if (comparator === '==') return concat(fragment(`(${column} = ? and not `, missingKey), unordered, ')');
    return concat(fragment(`(${column} <> ? or `, missingKey), unordered, ')');
  }
  const { bytes, long } = encodeKey(value);
  const operator = { '==': '=', '!=': '<>' }[comparator as string] ?? comparator;
  const test = long
    ? longSql(column, bodySql(place, index), operator, bytes, long)
    : fragment(`${column} ${operator} ?`, bytes);
  if (operator === '=') return test;
  const [low, high] = typeRange(typeof value as 'boolean' | 'number' | 'string');
  return fragment(`(${column} >= ? and ${column} < ? and ${test.sql})`, low, high, ...test.values);
}

/** Keys are equal for strings that begin alike: then the whole strings decide. */
function longSql(column: string, body: string, operator: string, bytes: Buffer, long: Buffer): Fragment {
  if (operator === '=') return fragment(`(${column} = ? and ${body} = ?)`, bytes, long);
  const strict = operator === '<>' ? '<>' : operator.charAt(0);
  return fragment(`(${column} ${strict} ? or (${column} = ? and ${body} ${operator} ?))`, bytes, bytes, long);
}

function oneOfSql(place: Place, { index, values }: PlainCondition & { kind: 'oneOf' }, use: Use): Fragment {
  const column = columnOf(place, index, use);
  const keys = values.filter((value) => value !== null).map(encodeKey);
  const short = keys.filter((key) => !key.long).map((key) => key.bytes);
  const long = keys.filter((key) => key.long);
  const parts = long.map((key) => longSql(column, bodySql(place, index), '=', key.bytes, key.long as Buffer));
  if (short.length) parts.push(fragment(`${column} in (${marks(short)})`, ...short));
  if (values.includes(null)) parts.push(compareSql(place, column, index, '==', null));
  return balanced('or', parts);
}

/** Null is in no list. */
export function keywordTerms(values: readonly Scalar[]): Buffer[] {
  const terms = values.filter((value) => value !== null).map(encodeTerm);
  return [...new Map(terms.map((term) => [term.toString('latin1'), term])).values()];
}

function keywordsSql(place: Place, { index, mode, values }: PlainCondition & { kind: 'keywords' }, use: Use): Fragment {
  const terms = keywordTerms(values);
  if (terms.length === 0 || (mode === 'all' && values.includes(null))) return never;
  if (mode === 'any' || terms.length === 1) return termSql(place, index, inSql(terms), use);
  return countedSql(place, index, terms);
}

export function inSql(terms: readonly Buffer[]): Fragment {
  return fragment(`t.term in (${marks(terms)})`, ...terms);
}

export function rangeSql({ term, prefix }: WordRange): Fragment {
  // No byte of a term is 0xff: what begins with the term is below it.
  if (prefix) return fragment('(t.term >= ? and t.term < ?)', term, Buffer.concat([term, Buffer.from([0xff])]));
  return fragment('t.term = ?', term);
}

function termSql(place: Place, index: string, range: Fragment, use: Use): Fragment {
  const ofIndex = `t where t.ix = ${numberOf(place, index)}`;
  if (use === 'lookup')
    return concat(`f.record in (select t.record from ${termsByTerm(place)} ${ofIndex} and `, range, ')');
  const from = `from ${place.tables.terms} ${ofIndex}`;
  // Unary plus also keeps SQLite 3.51 from turning `exists` into a join, in which OFFSET counts a record once for each match.
  return concat(place.dialect.unindexed(`exists (select 1 ${from} and t.record = f.record and `), range, ')');
}

/** Whether the record's text holds all, or any, of the phrases. */
function bodyContains(place: Place, index: string, operator: 'and' | 'or', phrases: readonly Phrase[]): Fragment {
  const from = `${place.tables.bodies} b where b.record = f.record and b.ix = ${numberOf(place, index)}`;
  const found = phrases.map(({ text }) => fragment(place.dialect.contains('b.body', '?'), text));
  const text = concat(`exists (select 1 from ${from} and `, balanced(operator, found), ')');
  return { ...text, sql: place.dialect.unindexed(text.sql) };
}
