import { encodeKey, missingKey } from '../keys';
import { kindOf, type PlainCondition, type QueryCondition } from '../query/operators';
import {
  ascending,
  balanced,
  bodySql,
  columnOf,
  concat,
  type Fragment,
  fragment,
  inRange,
  inSql,
  joined,
  numberOf,
  type OrderKey,
  orderSql,
  type QueryTarget,
  rangeSql,
  rowTest,
  termsByTerm,
  type Use,
  type WordRange,
} from '../query/sql';
import { byIndex, phrasesSql, wordsSql } from '../query/words';
import {
  type AccessPath,
  branchOf,
  type CreatorCondition,
  creatorCondition,
  isShortPage,
  isShortTest,
  isShortWalk,
  readsIndex,
  sortRange,
} from './estimate';
import { disjoint, relevantWords } from './lower';

/** The condition on a row `f` of the table of fields; never NULL. */
export function conditionSql(target: QueryTarget, condition: PlainCondition, use: Use): Fragment {
  switch (condition.kind) {
    case 'and':
      return allSql(target, condition.children, use);
    case 'or':
      return anySql(target, condition.children, use);
    case 'not':
      return concat('not (', conditionSql(target, condition.child, use), ')');
    default:
      return kindOf(condition).sql(target, condition, use);
  }
}

/**
 * A conjunction. One read of a text tests all its phrases, and only texts with the words of the first phrase are read.
 */
function allSql(target: QueryTarget, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = conditions.filter((one) => one.kind === 'phrase');
  const firsts = [...byIndex(phrases).values()].flatMap(([first]) => first?.words ?? []);
  const words = [...conditions.filter((one) => one.kind === 'word'), ...firsts];
  return balanced('and', [
    ...wordsSql(target, words, use),
    ...conditions
      .filter((one) => one.kind !== 'word' && one.kind !== 'phrase')
      .map((one) => conditionSql(target, one, use)),
    ...phrasesSql(target, 'and', phrases),
  ]);
}

/** A disjunction. One read of a text tests all its phrases. */
function anySql(target: QueryTarget, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = [...byIndex(conditions.filter((one) => one.kind === 'phrase')).values()];
  return balanced('or', [
    ...conditions.filter((one) => one.kind !== 'phrase').map((one) => conditionSql(target, one, use)),
    ...phrases.flatMap((list) => (list.length === 1 ? allSql(target, list, use) : phrasesSql(target, 'or', list))),
  ]);
}

/** The order of the matches; ties are ordered by creation. */
export type Order =
  | { kind: 'creation' }
  /** `long`: some strings of the index are longer than a key, so that keys alone do not order them. */
  | { kind: 'field'; index: string; long: boolean }
  | { kind: 'relevance'; index: string; words: WordRange[] };

/**
 * The order of a sort index. A text index orders by relevance for its words in the query.
 * `long`: whether some strings of a field index are longer than a key.
 */
export function orderBy(
  target: QueryTarget,
  condition: QueryCondition,
  sortIndex: string | undefined,
  long: boolean,
): Order {
  const index = sortIndex === undefined ? undefined : target.layout.get(sortIndex);
  if (!index) return { kind: 'creation' };
  if (index.type === 'field') return { kind: 'field', index: index.name, long };
  const words = relevantWords(condition, index.name);
  return words.length ? { kind: 'relevance', index: index.name, words } : { kind: 'creation' };
}

/** A key of the order, and the expression that the select has as its column. */
interface SortKey extends OrderKey {
  sql: Fragment;
}

/** The sort keys, most significant first; `walk`: rows are read in the order of the index, which may be used. */
function sortKeys(target: QueryTarget, order: Order, reverse: boolean, walk: boolean): SortKey[] {
  if (order.kind === 'creation') return [];
  const keys: Omit<SortKey, 'column'>[] = [];
  if (order.kind === 'relevance') keys.push({ sql: scoreSql(target, order.index, order.words), descending: reverse });
  else {
    const column = columnOf(target, order.index, walk ? 'lookup' : 'probe');
    if (reverse)
      keys.push({ sql: fragment(`case when ${column} = ? then 1 else 0 end`, missingKey), descending: false });
    keys.push({ sql: fragment(column), descending: reverse });
    if (order.long) keys.push({ sql: fragment(bodySql(target, order.index)), descending: reverse });
  }
  return keys.map((key, at) => ({ ...key, column: `s${at}` }));
}

/** The keys as columns of the select, each with a comma before it. */
function sortColumns(keys: readonly SortKey[]): Fragment {
  return joined(
    keys.map(({ sql, column }) => concat(', ', sql, ` as ${column}`)),
    '',
  );
}

/** Sum of the (negative) weights of the words in the record's text. */
function scoreSql(target: QueryTarget, index: string, words: WordRange[]): Fragment {
  const from = `${target.tables.terms} t where t.record = f.record and t.ix = ${numberOf(target, index)}`;
  const sum = (range: Fragment) => concat(`(select coalesce(sum(t.weight), 0) from ${from} and `, range, ')');
  const ranges = disjoint(words);
  const whole = ranges.filter(({ prefix }) => !prefix).map(({ term }) => term);
  const sums = ranges.filter(({ prefix }) => prefix).map((range) => sum(rangeSql(range)));
  if (whole.length) sums.unshift(sum(inSql(whole)));
  return concat('(', joined(sums, ' + '), ')');
}

export interface Selection {
  condition: PlainCondition;
  path: AccessPath | null;
  order: Order;
  reverse: boolean;
  limit: number;
  offset: number;
  /** `record` after which the matches begin, in order of creation; 0 or missing: all. */
  after?: number;
}

/** A select of `record` and sort keys of the wanted matches, and the columns that order them. */
export interface OrderedSelect {
  select: Fragment;
  order: readonly OrderKey[];
  /** Whether its plan bounds the number of rows that it reads. */
  short: boolean;
}

/**
 * Sorts all matches if they are few; otherwise walks the sort index until it has found enough. Relevance requires the
 * weight of every match, unless it is the order of a single word, which can be walked.
 */
export function selection(target: QueryTarget, wanted: Selection): OrderedSelect {
  const { order, reverse, condition } = wanted;
  const range = order.kind === 'field' ? sortRange(condition, order.index) : undefined;
  const bounds = range && inRange(columnOf(target, (order as { index: string }).index, 'lookup'), range);
  // When the sort index is the narrowest access path, its rows are in order: no sort is needed.
  const sorted = bounds !== undefined && readsIndex(wanted.path, (order as { index: string }).index);
  const isSmall = wanted.path !== null && wanted.path.count < target.maxSorted && !sorted;
  const short = isSmall ? isShortTest(wanted.path?.count ?? 0, condition, order) : isShortWalk(wanted);
  const own = order.kind === 'creation' ? creatorCondition(condition) : undefined;
  if (own && (!isSmall || wanted.path?.source?.node === own)) {
    const isWhole = condition === own && isShortPage(wanted);
    return { ...byCreator(target, wanted, own), short: short || isWhole };
  }
  if (!isSmall && order.kind === 'field' && reverse) return { ...missingLast(target, wanted, order, bounds), short };
  if (!isSmall && walkable(wanted)) return { ...byWeight(target, wanted), short };
  // A guard does not see the records that a union collects before they are tested.
  const path = isSmall || (order.kind === 'relevance' && target.guard === '') ? wanted.path : null;
  const keys = sortKeys(target, order, reverse, path === null);
  const columns = [...keys, { column: 'record', descending: order.kind === 'creation' && reverse }];
  const from = path
    ? fromPath(target, condition, path, order.kind !== 'field', createdAfter(target, wanted, 'probe'))
    : fromSql(target, condition, 'probe', bounds ?? createdAfter(target, wanted, 'lookup'));
  return {
    select: limited(
      target,
      concat('select f.record as record', sortColumns(keys), ' ', from),
      orderSql(columns, recordColumn(target, path)),
      wanted,
    ),
    order: columns,
    short,
  };
}

/**
 * Walks the records of one creator in order of creation, which the entries of one key have. For an equal key PostgreSQL leaves
 * the key out of the order: it would rather read all records in order, or sort all of the creator's.
 */
function byCreator(target: QueryTarget, wanted: Selection, own: CreatorCondition): Omit<OrderedSelect, 'short'> {
  const { condition, after, reverse } = wanted;
  const { bytes, long } = encodeKey(own.value);
  const column = columnOf(target, own.index, 'lookup');
  const byRecord = { column: 'record', descending: reverse };
  // Only the beginning of a long value is in its key.
  const rest = long ? condition : without(condition, own);
  if (!target.dialect.keysAsRanges) {
    const key = fragment(`${column} = ?`, bytes);
    const from = fromSql(target, rest, 'probe', after ? concat(key, fragment(' and f.record > ?', after)) : key);
    return ordered(target, concat('select f.record as record ', from), [byRecord], wanted);
  }
  const begin = after ? fragment(`(${column}, f.record) > (?, ?)`, bytes, after) : fragment(`${column} >= ?`, bytes);
  const from = fromSql(target, rest, 'probe', concat(begin, fragment(` and ${column} <= ?`, bytes)));
  const select = concat(`select f.record as record, ${column} as s0 `, from);
  return ordered(target, select, [{ column: 's0', descending: reverse }, byRecord], wanted);
}

/**
 * The columns of an order that is kept from choosing the plan: SQLite would rather read all records in order of creation than a range
 * of an index. One key of an index has its records in that order.
 */
function recordColumn({ dialect }: QueryTarget, path: AccessPath | null): (column: string) => string {
  const row = path?.source?.access.row;
  return (column) => (column === 'record' && row && !row.isOneKey ? dialect.unindexed(column) : column);
}

/** A select of the number of matches, `n`, and one more column; `short`: whether its plan bounds the number of rows that it reads. */
export function countSql(
  target: QueryTarget,
  condition: PlainCondition,
  path: AccessPath | null,
  column: Fragment | string,
): { select: Fragment; short: boolean } {
  const isSmall = path !== null && path.count < target.maxSorted;
  const use = target.guard === '' ? 'lookup' : 'probe';
  return {
    select: concat(
      'select count(*) as n',
      column,
      ' ',
      isSmall ? fromPath(target, condition, path, true) : fromSql(target, condition, use),
    ),
    short: isSmall && isShortTest(path.count, condition, { kind: 'creation' }),
  };
}

/** The wanted page of a select in the order of its columns. */
export function ordered(
  target: QueryTarget,
  select: Fragment,
  order: readonly OrderKey[],
  wanted: Pick<Selection, 'limit' | 'offset'>,
): Omit<OrderedSelect, 'short'> {
  return { select: limited(target, select, orderSql(order), wanted), order };
}

/** The rows of the wanted page. */
function limited(
  { dialect }: QueryTarget,
  select: Fragment,
  order: string,
  { limit, offset }: Pick<Selection, 'limit' | 'offset'>,
): Fragment {
  if (dialect.plansLimits) return concat(select, ` order by ${order} limit ${limit} offset ${offset}`);
  return concat(select, fragment(` order by ${order} limit ? offset ?`, limit, offset));
}

function fromSql(target: QueryTarget, condition: PlainCondition, use: Use, bounds?: Fragment): Fragment {
  const test = concat(rowTest(target), conditionSql(target, condition, use));
  return concat(`from ${target.tables.fields} f where `, ...(bounds ? [bounds, ' and '] : []), test);
}

function createdAfter({ dialect }: QueryTarget, { after }: Selection, use: Use): Fragment | undefined {
  return after ? fragment(`${use === 'probe' ? dialect.unindexed('f.record') : 'f.record'} > ?`, after) : undefined;
}

/** The matches among the records of an access path. @param keyless whether their order needs no keys */
function fromPath(
  target: QueryTarget,
  condition: PlainCondition,
  path: AccessPath,
  keyless: boolean,
  bounds?: Fragment,
): Fragment {
  const { dialect, tables } = target;
  const { fence = '' } = dialect;
  const { source } = path;
  const rest = source?.access.exact ? without(condition, source.node) : condition;
  const test = concat(rowTest(target), ...(bounds ? [bounds, ' and '] : []), conditionSql(target, rest, 'probe'));
  const row = source?.access.row?.sql;
  if (row && dialect.fence !== undefined)
    return concat(`from (select * from ${tables.fields} f where `, row, `${fence}) f where `, test);
  if (keyless && rest.kind === 'constant') return concat('from (', path.select, `${fence}) f where `, test);
  const join = `${dialect.join} ${tables.fields} f where f.record = d.record and `;
  return concat('from (', path.select, `${fence}) d ${join}`, test);
}

/** What is left to test of records that match `found`. */
function without(condition: PlainCondition, found: PlainCondition): PlainCondition {
  if (condition === found) return { kind: 'constant', value: true };
  if (condition.kind !== 'and') return condition;
  const children = condition.children.filter((child) => child !== found);
  return children.length ? { kind: 'and', children } : { kind: 'constant', value: true };
}

/**
 * Null and missing come last in reverse too: two walks of the sort index, one after the other. One walk is enough in a
 * range, which contains either only or none of them.
 */
function missingLast(
  target: QueryTarget,
  wanted: Selection,
  { index, long }: Order & { kind: 'field' },
  bounds: Fragment | undefined,
): Omit<OrderedSelect, 'short'> {
  const column = columnOf(target, index, 'lookup');
  const tail: OrderKey[] = [...(long ? [{ column: 's2', descending: true }] : []), ascending('record')];
  const byKey: OrderKey[] = [{ column: 's1', descending: true }, ...tail];
  const body = long ? `, ${bodySql(target, index)} as s2` : '';
  const test = concat(rowTest(target), conditionSql(target, wanted.condition, 'probe'));
  const present = concat(bounds ?? fragment(`${column} < ?`, missingKey), ' and ', test);
  const walk = (rank: number, found: Fragment, order: readonly OrderKey[]): Fragment =>
    concat(
      `select * from (select f.record as record, ${rank} as s0, ${column} as s1${body} from ${target.tables.fields} f where `,
      found,
      fragment(` order by ${orderSql(order)} limit ?) w${rank}`, wanted.limit + wanted.offset),
    );
  const last = target.dialect.mixedOrder
    ? ''
    : concat(column, ' >= ', lastKey(target, column, present, wanted), ' and ');
  const walks = [walk(0, concat(last, present), byKey)];
  if (!bounds) walks.push(walk(1, concat(fragment(`${column} = ? and `, missingKey), test), [ascending('record')]));
  const select = concat('select * from (', joined(walks, ' union all '), ') u');
  return ordered(target, select, [ascending('s0'), ...byKey], wanted);
}

/** The key of the last wanted match when walking the index backwards: only matches not below it need a sort. */
function lastKey(target: QueryTarget, column: string, found: Fragment, { limit, offset }: Selection): Fragment {
  return concat(
    `coalesce((select ${column} from ${target.tables.fields} f where `,
    found,
    fragment(` order by ${column} desc limit 1 offset ?), '')`, Math.max(0, limit + offset - 1)),
  );
}

/** Whether all matches contain one word whose weight alone is their order. */
function walkable({ order, condition, reverse }: Selection): boolean {
  const [word] = order.kind === 'relevance' && order.words.length === 1 && !reverse ? order.words : [];
  if (!word || word.prefix) return false;
  const held = (node: PlainCondition): boolean => {
    const branch = branchOf(node);
    if (branch?.kind === 'and') return branch.children.some(held);
    if (branch) return branch.children.length > 0 && branch.children.every(held);
    return (
      node.kind === 'word' &&
      !node.range.prefix &&
      node.range.term.equals(word.term) &&
      node.index === (order as { index: string }).index
    );
  };
  return held(condition);
}

function byWeight(target: QueryTarget, wanted: Selection): Omit<OrderedSelect, 'short'> {
  const { index, words } = wanted.order as Order & { kind: 'relevance' };
  const from = `from ${termsByTerm(target)} t ${target.dialect.join} ${target.tables.fields} f where f.record = t.record`;
  const term = fragment(` and t.ix = ${numberOf(target, index)} and t.term = ? and `, words[0]?.term);
  const test = concat(rowTest(target), conditionSql(target, wanted.condition, 'probe'));
  const select = concat('select t.record as record, t.weight as s0 ', from, term, test);
  return ordered(target, select, [ascending('s0'), ascending('record')], wanted);
}
