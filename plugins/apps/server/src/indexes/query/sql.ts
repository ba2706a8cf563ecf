import { marks } from '../database';
import type { Dialect } from '../dialects';
import { encodeKey, encodeTerm, missingKey, type Scalar, typeRange } from '../keys';
import type { Layout, Tables } from '../layout';
import type { PlainCondition, WordRange } from './terms';
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
    case 'or':
      return balanced(
        condition.kind,
        condition.children.map((child) => conditionSql(place, child, use)),
      );
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
    case 'phrase':
      return phraseSql(place, condition.index, condition.text);
  }
}

/** Joins as a balanced tree: SQLite takes expressions up to a depth of 1,000. */
export function balanced(operator: 'and' | 'or', parts: Fragment[]): Fragment {
  if (parts.length === 0) return operator === 'and' ? always : never;
  if (parts.length === 1) return parts[0] as Fragment;
  const middle = parts.length >> 1;
  const [left, right] = [balanced(operator, parts.slice(0, middle)), balanced(operator, parts.slice(middle))];
  return concat('(', left, ` ${operator} `, right, ')');
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

/** A comparison; matches values of the same type only. Null equals null and missing, and is neither less nor greater. */
function compareSql(place: Place, column: string, index: string, comparator: Comparator, value: Scalar): Fragment {
  if (value === null) {
    if (comparator !== '==' && comparator !== '!=') return never;
    return fragment(`${column} ${comparator === '==' ? '=' : '<>'} ?`, missingKey);
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
  const keys = values.map(encodeKey);
  const short = keys.filter((key) => !key.long).map((key) => key.bytes);
  const long = keys.filter((key) => key.long);
  const parts = long.map((key) => longSql(column, bodySql(place, index), '=', key.bytes, key.long as Buffer));
  if (short.length) parts.push(fragment(`${column} in (${marks(short)})`, ...short));
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
  const range = fragment(`t.term in (${marks(terms)})`, ...terms);
  if (mode === 'any' || terms.length === 1) return termSql(place, index, range, use);
  const from = `${place.tables.terms} t where t.record = f.record and t.ix = ${numberOf(place, index)}`;
  return concat(`(select count(*) from ${from} and `, range, `) = ${terms.length}`);
}

export function rangeSql({ term, prefix }: WordRange): Fragment {
  // No byte of a term is 0xff: what begins with the term is below it.
  if (prefix) return fragment('(t.term >= ? and t.term < ?)', term, Buffer.concat([term, Buffer.from([0xff])]));
  return fragment('t.term = ?', term);
}

function termSql(place: Place, index: string, range: Fragment, use: Use): Fragment {
  const from = `from ${place.tables.terms} t where t.ix = ${numberOf(place, index)}`;
  if (use === 'lookup') return concat(`f.record in (select t.record ${from} and `, range, ')');
  // Unary plus also keeps SQLite 3.51 from turning `exists` into a join, in which OFFSET counts a record once for each match.
  return concat(place.dialect.unindexed(`exists (select 1 ${from} and t.record = f.record and `), range, ')');
}

function phraseSql(place: Place, index: string, text: Buffer): Fragment {
  const from = `${place.tables.bodies} b where b.record = f.record and b.ix = ${numberOf(place, index)}`;
  return fragment(
    place.dialect.unindexed(`exists (select 1 from ${from} and ${place.dialect.contains('b.body', '?')})`),
    text,
  );
}
