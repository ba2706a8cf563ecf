import { marks, type Sql } from '../database';
import { encodeKey } from '../keys';
import type { Remembered } from '../readiness';
import { stateSelect } from '../state';
import { inRange, intersection, type KeyRange, rangeOf } from './ranges';
import {
  concat,
  type Fragment,
  fragment,
  inSql,
  joined,
  keywordTerms,
  numberOf,
  type Place,
  rangeSql,
  termsByTerm,
} from './sql';
import type { PlainCondition } from './terms';

/** A select of all `record`s among which the matches are, and how many those are (up to the place's `few`). */
export interface Driver {
  select: Fragment;
  count: number;
  /** The one index that the matches are found by. */
  index?: string;
}

/** Conditions that are counted for one search, at most. */
const maxCounts = 8;

/** What a search must know of the data before it is put into SQL. */
export interface Look {
  /** The narrowest way into the matches, or null when there is none (a negation, an open disjunction). */
  driver: Driver | null;
  /** Whether some strings of the looked-at index are longer than a key. */
  long: boolean;
}

/** The generation of a search is no longer the app's: another one is to be chosen. */
export class Outdated extends Error {}

/**
 * Counts, in one statement, what each condition finds; null: nothing is to be counted.
 * @param index the field index whose long strings are asked about
 * @param remembered what the app's state must be; Outdated when it is another
 */
export async function look(
  sql: Pick<Sql, 'rows'>,
  place: Place,
  condition: PlainCondition | null,
  { index, remembered }: { index?: string | undefined; remembered?: Remembered | undefined } = {},
): Promise<Look> {
  const counted = [...((condition && ways(place, condition)) ?? [])].slice(0, maxCounts);
  const asked = counted.map(([node, select], at) => concat(countOf(place, node, select), ` as n${at}`));
  if (index !== undefined)
    asked.push(fragment(`(select 1 from ${place.tables.bodies} where ix = ? limit 1) as body`, numberOf(place, index)));
  if (remembered) asked.push(fragment(`(${stateSelect}) as state`, remembered.scope));
  if (asked.length === 0) return { driver: null, long: false };
  const { sql: text, values } = joined(asked, ', ');
  const [row] = await sql.rows(`select ${text}`, values);
  if (remembered && row?.state !== remembered.text) throw new Outdated();
  const drivers = new Map(
    counted.map(([node, select], at): [PlainCondition, Driver] => [
      node,
      { select, count: Number(row?.[`n${at}`]), index: 'index' in node ? node.index : undefined },
    ]),
  );
  return { driver: condition && narrowest(condition, drivers), long: (row?.body ?? null) !== null };
}

/** How many records a condition finds, up to `few`; a bounded number of entries is counted for it. */
function countOf(place: Place, node: PlainCondition, select: Fragment): Fragment {
  const entries = entriesSql(place, node);
  if (!entries?.repeated) return concat('(select count(*) from (', select, ` limit ${place.few}) d)`);
  const most = 2 * place.few;
  const count = `case when count(*) = ${most} then ${place.few} else count(distinct d.record) end`;
  return concat(`(select ${count} from (select t.record `, entries.sql, ` limit ${most}) d)`);
}

/** Whether the sort index alone leads to the matches: every condition is a range of it. Nothing needs counting then. */
export function isRange(condition: PlainCondition, index: string): boolean {
  if (condition.kind === 'and') return condition.children.every((child) => isRange(child, index));
  return condition.kind === 'compare' && condition.index === index && rangeOf(condition) !== undefined;
}

/** Selects by the conditions that they are for, any of which may lead to the matches; null when there is none. */
function ways(place: Place, node: PlainCondition): [PlainCondition, Fragment][] | null {
  const branch = branchOf(node);
  if (branch) {
    const all = branch.children.map((child) => ways(place, child));
    const found = all.filter((way) => way !== null);
    return found.length === 0 || (branch.kind === 'or' && found.length < all.length) ? null : found.flat();
  }
  const select = leafSelect(place, node);
  return select ? [[node, select]] : null;
}

function narrowest(node: PlainCondition, drivers: ReadonlyMap<PlainCondition, Driver>): Driver | null {
  const branch = branchOf(node);
  if (!branch) return drivers.get(node) ?? null;
  const all = branch.children.map((child) => narrowest(child, drivers));
  const found = all.filter((driver) => driver !== null);
  if (found.length === 0 || (branch.kind === 'or' && found.length < all.length)) return null;
  if (branch.kind === 'and') return found.reduce((best, driver) => (driver.count < best.count ? driver : best));
  const selects = found.map(({ select }) => select);
  return { select: joined(selects, ' union '), count: found.reduce((sum, { count }) => sum + count, 0) };
}

/** A condition that consists of others; a phrase is found by all of its words. */
function branchOf(node: PlainCondition): { kind: 'and' | 'or'; children: readonly PlainCondition[] } | undefined {
  if (node.kind === 'phrase') return { kind: 'and', children: node.words };
  return node.kind === 'and' || node.kind === 'or' ? node : undefined;
}

/** A select of the distinct records of one condition, by an index; undefined when no index helps. */
function leafSelect(place: Place, node: PlainCondition): Fragment | undefined {
  switch (node.kind) {
    case 'compare': {
      const range = rangeOf(node);
      return range && fieldSelect(place, node.index, (column) => inRange(column, range));
    }
    case 'oneOf': {
      const keys = node.values.map((value) => encodeKey(value).bytes);
      return fieldSelect(place, node.index, (column) => fragment(`${column} in (${marks(keys)})`, ...keys));
    }
    default: {
      const entries = entriesSql(place, node);
      return entries && concat(`select ${entries.repeated ? 'distinct ' : ''}t.record `, entries.sql);
    }
  }
}

/** The entries of terms by which a condition is found; `repeated`: a record may have several of them. */
function entriesSql(place: Place, node: PlainCondition): { sql: Fragment; repeated: boolean } | undefined {
  const entries = (index: string, range: Fragment, repeated: boolean) => ({
    sql: concat(`from ${termsByTerm(place)} t where t.ix = ${numberOf(place, index)} and `, range),
    repeated,
  });
  switch (node.kind) {
    case 'keywords': {
      const terms = keywordTerms(node.values).slice(0, node.mode === 'all' ? 1 : undefined);
      return terms.length ? entries(node.index, inSql(terms), terms.length > 1) : undefined;
    }
    case 'word':
      return entries(node.index, rangeSql(node.range), node.range.prefix);
    case 'words':
      return entries(node.index, inSql(node.terms), true);
    default:
      return undefined;
  }
}

/**
 * The range of the sort index in which all matches are; undefined when the condition leaves it open. For long strings a
 * superset, as keys are cut.
 */
export function sortRange(condition: PlainCondition, index: string): KeyRange | undefined {
  if (condition.kind === 'compare') return condition.index === index ? rangeOf(condition) : undefined;
  if (condition.kind !== 'and') return undefined;
  const ranges = condition.children.flatMap((node) => sortRange(node, index) ?? []);
  return ranges.length ? ranges.reduce(intersection) : undefined;
}

function fieldSelect(place: Place, index: string, test: (column: string) => Fragment): Fragment {
  return concat(`select d.record from ${place.tables.fields} d where `, test(`d.k${numberOf(place, index)}`));
}
