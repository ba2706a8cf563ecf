import { marks, type Sql } from '../database';
import { encodeKey, missingKey, typeRange } from '../keys';
import type { Remembered } from '../readiness';
import { stateSelect } from '../state';
import { concat, type Fragment, fragment, joined, keywordTerms, numberOf, type Place, rangeSql } from './sql';
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
  sql: Sql,
  place: Place,
  condition: PlainCondition | null,
  { index, remembered }: { index?: string | undefined; remembered?: Remembered | undefined } = {},
): Promise<Look> {
  const counted = [...((condition && ways(place, condition)) ?? [])].slice(0, maxCounts);
  const asked = counted.map(([, select], at) =>
    concat('(select count(*) from (', select, ` limit ${place.few}) d) as n${at}`),
  );
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

/** Whether the sort index alone leads to the matches: every condition is a range of it. Nothing needs counting then. */
export function isRange(place: Place, condition: PlainCondition, index: string): boolean {
  const nodes = condition.kind === 'and' ? condition.children : [condition];
  return nodes.every((node) =>
    node.kind === 'and'
      ? isRange(place, node, index)
      : node.kind === 'compare' && node.index === index && boundsSql('', node) !== undefined,
  );
}

/** Selects by the conditions that they are for, any of which may lead to the matches; null when there is none. */
function ways(place: Place, node: PlainCondition): [PlainCondition, Fragment][] | null {
  if (node.kind === 'and' || node.kind === 'or') {
    const all = node.children.map((child) => ways(place, child));
    const found = all.filter((way) => way !== null);
    return found.length === 0 || (node.kind === 'or' && found.length < all.length) ? null : found.flat();
  }
  const select = leafSelect(place, node);
  return select ? [[node, select]] : null;
}

function narrowest(node: PlainCondition, drivers: ReadonlyMap<PlainCondition, Driver>): Driver | null {
  if (node.kind !== 'and' && node.kind !== 'or') return drivers.get(node) ?? null;
  const all = node.children.map((child) => narrowest(child, drivers));
  const found = all.filter((driver) => driver !== null);
  if (found.length === 0 || (node.kind === 'or' && found.length < all.length)) return null;
  if (node.kind === 'and') return found.reduce((best, driver) => (driver.count < best.count ? driver : best));
  const selects = found.map(({ select }) => select);
  return { select: joined(selects, ' union '), count: found.reduce((sum, { count }) => sum + count, 0) };
}

/** A select of the distinct records of one condition, by an index; undefined when no index helps. */
function leafSelect(place: Place, node: PlainCondition): Fragment | undefined {
  switch (node.kind) {
    case 'compare':
      return compareSelect(place, node);
    case 'oneOf': {
      const keys = node.values.map((value) => encodeKey(value).bytes);
      return fieldSelect(place, node.index, (column) => fragment(`${column} in (${marks(keys)})`, ...keys));
    }
    case 'keywords': {
      const terms = keywordTerms(node.values).slice(0, node.mode === 'all' ? 1 : undefined);
      if (terms.length === 0) return undefined;
      return termSelect(place, node.index, fragment(`t.term in (${marks(terms)})`, ...terms), terms.length > 1);
    }
    case 'word':
      return termSelect(place, node.index, rangeSql(node.range), node.range.prefix);
    default:
      return undefined;
  }
}

/**
 * The range of the sort index in which all matches are; undefined when the condition leaves it open. For long strings a
 * superset, as keys are cut.
 */
export function sortBounds(place: Place, condition: PlainCondition, index: string): Fragment | undefined {
  const nodes = condition.kind === 'and' ? condition.children : [condition];
  const column = `f.k${numberOf(place, index)}`;
  const bounds = nodes.flatMap((node) => {
    if (node.kind === 'and') return sortBounds(place, node, index) ?? [];
    return node.kind === 'compare' && node.index === index ? (boundsSql(column, node) ?? []) : [];
  });
  return bounds.length ? joined(bounds, ' and ') : undefined;
}

function boundsSql(column: string, { comparator, value }: PlainCondition & { kind: 'compare' }): Fragment | undefined {
  if (comparator === '!=') return undefined;
  if (value === null) return comparator === '==' ? fragment(`${column} = ?`, missingKey) : undefined;
  const { bytes } = encodeKey(value);
  const [low, high] = typeRange(typeof value as 'boolean' | 'number' | 'string');
  if (comparator === '==') return fragment(`${column} = ?`, bytes);
  const ranges = { '<': [low, bytes], '<=': [low, bytes], '>': [bytes, high], '>=': [bytes, high] };
  const [from, to] = ranges[comparator] as [Buffer, Buffer];
  const end = comparator.startsWith('<') ? '<=' : '<';
  return fragment(`${column} >= ? and ${column} ${end} ?`, from, to);
}

function compareSelect(place: Place, node: PlainCondition & { kind: 'compare' }): Fragment | undefined {
  const bounds = boundsSql(`d.k${numberOf(place, node.index)}`, node);
  return bounds && fieldSelect(place, node.index, () => bounds);
}

function fieldSelect(place: Place, index: string, test: (column: string) => Fragment): Fragment {
  return concat(`select d.record from ${place.tables.fields} d where `, test(`d.k${numberOf(place, index)}`));
}

function termSelect(place: Place, index: string, range: Fragment, repeated: boolean): Fragment {
  const select = repeated ? 'select distinct' : 'select';
  return concat(`${select} t.record from ${place.tables.terms} t where t.ix = ${numberOf(place, index)} and `, range);
}
