import { marks, type Sql } from '../database';
import { encodeKey, missingKey, typeRange } from '../keys';
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

/** The narrowest way into the matches, or null when there is none (a negation, an open disjunction). */
export async function chooseDriver(sql: Sql, place: Place, condition: PlainCondition): Promise<Driver | null> {
  let counts = 0;
  const visit = async (node: PlainCondition): Promise<Driver | null> => {
    if (node.kind === 'and') {
      let best: Driver | null = null;
      for (const child of node.children) {
        const driver = await visit(child);
        if (driver && (!best || driver.count < best.count)) best = driver;
      }
      return best;
    }
    if (node.kind === 'or') return union(node.children, visit);
    const select = leafSelect(place, node);
    if (!select || ++counts > maxCounts) return null;
    return { select, count: await countUpTo(sql, select, place.few), index: 'index' in node ? node.index : undefined };
  };
  return visit(condition);
}

async function union(
  children: PlainCondition[],
  visit: (node: PlainCondition) => Promise<Driver | null>,
): Promise<Driver | null> {
  const drivers: Driver[] = [];
  for (const child of children) {
    const driver = await visit(child);
    if (!driver) return null;
    drivers.push(driver);
  }
  if (drivers.length === 0) return null;
  return {
    select: joined(
      drivers.map(({ select }) => select),
      ' union ',
    ),
    count: drivers.reduce((sum, driver) => sum + driver.count, 0),
  };
}

async function countUpTo(sql: Sql, select: Fragment, most: number): Promise<number> {
  const [row] = await sql.rows(`select count(*) as n from (${select.sql} limit ${most}) d`, select.values);
  return Number(row?.n);
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
