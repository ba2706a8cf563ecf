import { type Dialect, marks, type ScanGuard } from '../../database';
import { type IndexLayout, sortedTable, type Tables } from '../tables';

/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string;
  values: unknown[];
}

export const fragment = (sql: string, ...values: unknown[]): Fragment => ({ sql, values });
export function concat(...parts: (Fragment | string)[]): Fragment {
  const fragments = parts.map((part) => (typeof part === 'string' ? fragment(part) : part));
  return { sql: fragments.map((part) => part.sql).join(''), values: fragments.flatMap((part) => part.values) };
}

export function joined(parts: readonly Fragment[], separator: string): Fragment {
  return concat(...parts.flatMap((part, at) => (at ? [separator, part] : [part])));
}

export const never = fragment('1 = 0');
export const always = fragment('1 = 1');

/** Joins as a balanced tree: SQLite accepts expressions up to a depth of 1,000. */
export function balanced(operator: 'and' | 'or', parts: Fragment[]): Fragment {
  if (parts.length === 0) return operator === 'and' ? always : never;
  if (parts.length === 1) return parts[0] as Fragment;
  const middle = parts.length >> 1;
  const [left, right] = [balanced(operator, parts.slice(0, middle)), balanced(operator, parts.slice(middle))];
  return concat('(', left, ` ${operator} `, right, ')');
}

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

/** Whether the range has one key. */
const isPoint = ({ from, fromOpen, to, toOpen }: KeyRange): boolean => from.equals(to) && !fromOpen && !toOpen;

/** The condition that a column's key is in the range. */
export function inRange(column: string, range: KeyRange): Fragment {
  const { from, fromOpen, to, toOpen } = range;
  if (isPoint(range)) return fragment(`${column} = ?`, from);
  return fragment(`${column} ${fromOpen ? '>' : '>='} ? and ${column} ${toOpen ? '<' : '<='} ?`, from, to);
}

/** An access path to the records of a condition by an index. */
export interface IndexAccess {
  /** A select of the distinct `record`s. */
  records: Fragment;
  /** The same select with repetitions of a record: a bounded part of it can be counted. */
  repeated?: Fragment;
  /** Whether it finds the matches and nothing else, so that they need no test. */
  exact: boolean;
  /** The same as a condition on a row `f` of the table of fields; undefined for terms. */
  row?: RowTest;
}

/** A condition on a row of the table of fields; `isOneKey`: its rows have one key of the index, and so are in order of creation. */
export interface RowTest {
  sql: Fragment;
  isOneKey: boolean;
}

/** A key of an ORDER BY: a column of the select, which has `record` and the sort keys `s0`, `s1` … */
export interface OrderKey {
  column: string;
  descending: boolean;
}

export const ascending = (column: string): OrderKey => ({ column, descending: false });

/** The keys as SQL, most significant first. @param write the SQL of a column, where it is another than its name */
export const orderSql = (keys: readonly OrderKey[], write = (column: string): string => column): string =>
  keys.map(({ column, descending }) => `${write(column)}${descending ? ' desc' : ''}`).join(', ');

/** A range of terms: one word, or all words with that prefix. */
export interface WordRange {
  term: Buffer;
  prefix: boolean;
}

/** The tables and layout of a generation, for which conditions are compiled. */
export interface QueryTarget {
  dialect: Dialect;
  layout: IndexLayout;
  tables: Tables;
  /**
   * Up to this many matches are faster to read and sort than to find by walking the sort index; with more, walking soon
   * finds enough. The databases' own estimates are wrong by orders of magnitude where statistics are missing.
   */
  maxSorted: number;
  /** Records that are read at most in the wanted order (`boundedWalk` of ../planner/planner.ts) before the matches are counted and sorted. */
  maxWalk: number;
  guard: ScanGuard;
}

/**
 * `lookup`: the database may find records by the condition. `probe`: it only tests records, because the planner must not
 * choose again.
 */
export type Use = 'lookup' | 'probe';

/** The table that finds records by their terms. */
export function termsByTerm({ dialect, tables }: QueryTarget): string {
  return dialect.sortedTerms ? sortedTable(tables.terms) : tables.terms;
}

/** Begins the test of each row `f`: its guard, and that it is no record of a pending batch. */
export const rowTest = ({ dialect, guard }: QueryTarget): string => `${guard}${dialect.visible('f.record')}`;

export function numberOf(target: QueryTarget, index: string): number {
  return (target.layout.get(index) as { number: number }).number;
}

export function columnOf(target: QueryTarget, index: string, use: Use): string {
  const column = `f.k${numberOf(target, index)}`;
  return use === 'probe' ? target.dialect.unindexed(column) : column;
}

/** All bytes of the record's long string; NULL when its key contains the whole string. */
export function bodySql(target: QueryTarget, index: string): string {
  return `(select b.body from ${target.tables.bodies} b where b.record = f.record and b.ix = ${numberOf(target, index)})`;
}

/** The range of entries with one of the terms. */
export function inSql(terms: readonly Buffer[]): Fragment {
  return fragment(`t.term in (${marks(terms)})`, ...terms);
}

/** The range of entries of a word, or of all words that begin with it. @param key placeholder of a whole word */
export function rangeSql({ term, prefix }: WordRange, key = '?'): Fragment {
  // No byte of a term is 0xff: all terms with this prefix are below it.
  if (prefix) return fragment('(t.term >= ? and t.term < ?)', term, Buffer.concat([term, Buffer.from([0xff])]));
  return fragment(`t.term = ${key}`, term);
}

/** The condition that a record has an entry of the index in the range. */
export function termSql(target: QueryTarget, index: string, range: Fragment, use: Use): Fragment {
  const ofIndex = `t where t.ix = ${numberOf(target, index)}`;
  if (use === 'lookup')
    return concat(`f.record in (select t.record from ${termsByTerm(target)} ${ofIndex} and `, range, ')');
  const from = `from ${target.tables.terms} ${ofIndex}`;
  // Unary plus also keeps SQLite 3.51 from turning `exists` into a join, in which OFFSET counts a record once for each match.
  return concat(target.dialect.unindexed(`exists (select 1 ${from} and t.record = f.record and `), range, ')');
}

/** The condition that a record has all of the terms, which must be distinct. */
export function countedSql(target: QueryTarget, index: string, terms: readonly Buffer[]): Fragment {
  const from = `${target.tables.terms} t where t.record = f.record and t.ix = ${numberOf(target, index)}`;
  return concat(`(select count(*) from ${from} and `, inSql(terms), `) = ${terms.length}`);
}

/** An access path by the entries of terms; `repeated`: a record may have several of them in the range. */
export function termAccess(
  target: QueryTarget,
  index: string,
  range: Fragment,
  repeated: boolean,
  exact = true,
): IndexAccess {
  const entries = concat(`t.record from ${termsByTerm(target)} t where t.ix = ${numberOf(target, index)} and `, range);
  const records = concat(repeated ? 'select distinct ' : 'select ', entries);
  return repeated ? { records, exact, repeated: concat('select ', entries) } : { records, exact };
}

/** An access path by the keys of a field index: a range of them, or a list. */
export function fieldAccess(
  target: QueryTarget,
  index: string,
  exact: boolean,
  keys: KeyRange | readonly Buffer[],
): IndexAccess {
  const isRange = 'from' in keys;
  const test = (column: string) =>
    isRange ? inRange(column, keys) : fragment(`${column} in (${marks(keys)})`, ...keys);
  const column = `k${numberOf(target, index)}`;
  const records = concat(`select d.record from ${target.tables.fields} d where `, test(`d.${column}`));
  return { records, exact, row: { sql: test(`f.${column}`), isOneKey: isRange && isPoint(keys) } };
}
