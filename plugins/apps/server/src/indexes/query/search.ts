import { LRUCache } from 'lru-cache';
import type { Items, Json } from '../../../../shared/json';
import { AppsError, isAppsError } from '../../common/errors';
import { encodeText, encodeWord, isCutWord, type TextCondition } from '../keys';
import { type IndexedRecord, itemValue, keywordsOf, type Place, type UnconfirmedAs, wordsOf } from '../rows';
import { BLOCK_INDEX, CREATOR_INDEX, FILES_INDEX, UNCONFIRMED_INDEX } from '../tables';
import type { IndexDeclarations, IndexType, SearchAfter } from '../types';
import { checkQuery, indexType, parseQuery, unknownIndex } from './check';
import { queryLimits } from './limits';
import type { QueryCondition } from './operators';

type Leaf = Exclude<QueryCondition, { kind: 'and' | 'or' | 'not' | 'constant' }>;
type Tests = { [K in Leaf['kind']]: (item: Json | undefined, condition: Leaf & { kind: K }, text: Texts) => boolean };

/** The words of an item. */
interface Words {
  list: readonly string[];
  set: ReadonlySet<string>;
}

/** The words of the items of one record: a condition may search a text hundreds of times. */
type Texts = (item: Json | undefined) => Words;

/**
 * Whether a record matches a condition, computed from the record alone: the answer of the SQL of every database
 * (docs/reference/search.md), which the property tests of searches compare with it.
 */
export function matches(
  record: Omit<IndexedRecord, 'seq'>,
  condition: QueryCondition,
  texts = textsOfRecord(),
): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.children.every((child) => matches(record, child, texts));
    case 'or':
      return condition.children.some((child) => matches(record, child, texts));
    case 'not':
      return !matches(record, condition.child, texts);
    case 'constant':
      return condition.value;
    default:
      return tests[condition.kind](itemValue(record, condition.index), condition as never, texts);
  }
}

function textsOfRecord(): Texts {
  const known = new Map<Json | undefined, Words>();
  return (item) => {
    let found = known.get(item);
    if (!found) {
      const list = wordsOf(item);
      found = { list, set: new Set(list) };
      known.set(item, found);
    }
    return found;
  };
}

/** Whether an item matches: a row for each kind of condition. */
const tests: Tests = {
  compare: (item, { comparator, value }) => compares(item, comparator, value),
  oneOf: (item, { values }) => values.some((value) => compares(item, '==', value)),
  keywords(item, { mode, values }) {
    const held = keywordsOf(item);
    const has = (value: Json) => held.some((one) => one === value);
    return mode === 'any' ? values.some(has) : values.every(has);
  },
  text(item, { query }, texts) {
    const text = texts(item);
    return query.some((parts) => parts.every((part) => holds(text, part) !== part.negated));
  },
};

/** The order of two items of one type. */
export function compareSame(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(encodeText(a), encodeText(b));
  return Number(a) - Number(b);
}

function compares(item: Json | undefined, comparator: string, value: Json): boolean {
  if (value === null) {
    const missing = item === undefined || item === null;
    return comparator === '==' ? missing : comparator === '!=' && !missing;
  }
  if (typeof item !== typeof value) return false;
  const difference = compareSame(item, value);
  const results: Record<string, boolean> = {
    '==': difference === 0,
    '!=': difference !== 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return results[comparator] as boolean;
}

/** Whether the words of a text contain those of a part of a search text, one after the other. */
function holds({ list, set }: Words, { words: wanted, prefix }: TextCondition): boolean {
  const [only] = wanted;
  if (wanted.length === 1 && only !== undefined) {
    if (isCutWord(only)) return holdsCut(list, only);
    return prefix ? list.some((word) => word.startsWith(only)) : set.has(only);
  }
  return list.some((_, start) =>
    wanted.every((word, at) => {
      const held = list[start + at];
      return held !== undefined && (prefix && at === wanted.length - 1 ? held.startsWith(word) : held === word);
    }),
  );
}

/** The index cuts long words: those that begin alike are one word. */
function holdsCut(list: readonly string[], wanted: string): boolean {
  const term = encodeWord(wanted);
  // Fewer characters have fewer bytes than the term.
  return list.some((word) => word.length > 60 && encodeWord(word).equals(term));
}

/** A query with its names and the plugin's own conditions, checked. The planner keeps what it finds out about one by this object. */
export interface CheckedQuery {
  readonly condition: QueryCondition | null;
  /** The indexes of the condition. */
  readonly needed: IndexDeclarations;
}

/** A search whose query, names and numbers were checked (docs/reference/search.md). */
export interface CheckedSearch {
  query: CheckedQuery;
  sortIndex: string | undefined;
  reverse: boolean;
  limit: number;
  offset: number;
  /** `seq` after which the matches begin; 0: all. */
  after: number;
  withTotal: boolean;
  /** The indexes that it needs; empty when the records table is enough. */
  needed: IndexDeclarations;
}

/** Checked queries by the declared indexes of an app and by their text: pages ask for the same ones again and again. */
const checked = new WeakMap<IndexDeclarations, LRUCache<string, CheckedQuery>>();
const MAX_CHECKED = 500;
/** Characters of a query and its values, and of all that are kept of an app: a query and its statements are many times larger. */
const MAX_KEY = 2_000;
const MAX_KEYS = 50_000;

/** Checks a search before any statement; BadRequestError for every mistake in it. */
export function checkSearch(declared: IndexDeclarations, options: SearchAfter): CheckedSearch {
  const { reverse = false, limit = queryLimits.limit, offset = 0, after = 0, withTotal = false } = options;
  checkNumber('limit', limit, queryLimits.limit);
  checkNumber('offset', offset, Number.MAX_SAFE_INTEGER - queryLimits.limit);
  const query = checkedQuery(declared, options);
  const { sortIndex, needed } = withOrder(declared, query, options.sortIndex);
  return { query, sortIndex, reverse, limit, offset, after, withTotal, needed };
}

function checkedQuery(declared: IndexDeclarations, options: SearchAfter): CheckedQuery {
  const { query = '', names, creator, block, place, confirmed } = options;
  // A search for files comes once: it must not displace those that are kept.
  if (query.length > MAX_KEY || options.files) return newQuery(declared, options);
  const known = checked.get(declared) ?? new LRUCache<string, CheckedQuery>({ max: MAX_CHECKED, maxSize: MAX_KEYS });
  checked.set(declared, known);
  const key = JSON.stringify([query, names, creator, block, place, confirmed]);
  const found = known.get(key) ?? newQuery(declared, options);
  if (key.length <= MAX_KEY) known.set(key, found, { size: key.length });
  return found;
}

/** The sort index where it orders anything, and the indexes that the query needs with it. */
function withOrder(
  declared: IndexDeclarations,
  { needed }: CheckedQuery,
  sortIndex: string | undefined,
): Pick<CheckedSearch, 'sortIndex' | 'needed'> {
  if (sortIndex === undefined) return { sortIndex, needed };
  const type = sortType(declared, sortIndex);
  if (needed.has(sortIndex)) return { sortIndex, needed };
  // A text index orders by the words of the query.
  return type === 'text'
    ? { sortIndex: undefined, needed }
    : { sortIndex, needed: new Map(needed).set(sortIndex, type) };
}

/**
 * A test whether a record is a match of a search, computed from the record alone. BadRequestError for every mistake in the
 * search.
 */
export function searchMatcher(
  declared: IndexDeclarations,
  options: SearchAfter,
): (record: Omit<IndexedRecord, 'seq'>) => boolean {
  if (options.creator === '') return () => false;
  const { condition } = checkSearch(declared, options).query;
  return condition === null ? () => true : (record) => matches(record, condition);
}

/**
 * Why a search with these texts fails in an app with the declared indexes; null where it does not, or may not.
 * @param mayHaveNames whether the values of names in the query may be given: what depends on them is then not checked
 */
export function searchProblem(
  declared: IndexDeclarations,
  { query, sortIndex }: Pick<SearchAfter, 'query' | 'sortIndex'>,
  mayHaveNames: boolean,
): string | null {
  const wrong = refusalOf(() => parseQuery(query ?? ''));
  if (wrong) return wrong.reason;
  const tree = parseQuery(query ?? '');
  const refused = tree && refusalOf(() => checkQuery(tree, declared, mayHaveNames ? anyValue : {}));
  if (refused && (!mayHaveNames || refused.index !== undefined)) return refused.reason;
  return sortIndex === undefined ? null : (refusalOf(() => sortType(declared, sortIndex))?.reason ?? null);
}

/** A value for each name. */
const anyValue: Items = new Proxy(
  {},
  { get: () => '', getOwnPropertyDescriptor: () => ({ value: '', configurable: true, enumerable: true }) },
);

/** The reason and the index of the BadRequestError that `work` throws; null where it throws none. */
function refusalOf(work: () => unknown): { reason: string; index?: string } | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!isAppsError(error, 'BadRequestError')) throw error;
    return error.details as { reason: string; index?: string };
  }
}

function newQuery(declared: IndexDeclarations, asks: SearchAfter): CheckedQuery {
  const { query, names, creator, block, files, place, confirmed } = asks;
  const asked = checkCondition(declared, query, names);
  const needed = new Map<string, IndexType>();
  for (const name of asked ? indexesOf(asked) : []) needed.set(name, indexType(declared, name, 1));
  if (creator) needed.set(CREATOR_INDEX, 'field');
  if (block !== undefined) needed.set(BLOCK_INDEX, 'field');
  if (files) needed.set(FILES_INDEX, 'keyword');
  if (place) needed.set(place.index, 'keyword');
  if (confirmed) needed.set(UNCONFIRMED_INDEX, 'keyword');
  const own = [
    ...(creator ? [equal(CREATOR_INDEX, creator)] : []),
    ...(block === undefined ? [] : [equal(BLOCK_INDEX, block)]),
    ...(files ? [naming(files)] : []),
    ...(place ? [inPlace(place)] : []),
    ...(confirmed ? [notUnconfirmed] : []),
  ];
  return { condition: together(own, asked), needed };
}

/** Names of the indexes of a condition. */
function indexesOf(condition: QueryCondition): string[] {
  if ('children' in condition) return condition.children.flatMap(indexesOf);
  if (condition.kind === 'not') return indexesOf(condition.child);
  return condition.kind === 'constant' ? [] : [condition.index];
}

function checkCondition(
  declared: IndexDeclarations,
  query: string | undefined,
  names: Items | undefined,
): QueryCondition | null {
  const tree = parseQuery(query ?? '');
  return tree && checkQuery(tree, declared, names);
}

/** Records whose value of one of the plugin's own indexes is this one. */
const equal = (index: string, value: string): QueryCondition => ({ kind: 'compare', index, comparator: '==', value });

/** Records that name one of these files. */
const naming = (files: readonly string[]): QueryCondition =>
  files.length === 0
    ? { kind: 'constant', value: false }
    : { kind: 'keywords', index: FILES_INDEX, mode: 'any', values: [...files] };

const inPlace = ({ index, value }: Place): QueryCondition => ({
  kind: 'keywords',
  index,
  mode: 'any',
  values: [value],
});

const unconfirmed: readonly UnconfirmedAs[] = ['held', 'lapsed'];

const notUnconfirmed: QueryCondition = {
  kind: 'not',
  child: { kind: 'keywords', index: UNCONFIRMED_INDEX, mode: 'any', values: [...unconfirmed] },
};

/** A condition with those of the plugin before it. */
function together(own: readonly QueryCondition[], asked: QueryCondition | null): QueryCondition | null {
  const children = asked ? [...own, asked] : own;
  const [first = null, ...others] = children;
  return others.length > 0 ? { kind: 'and', children: [...children] } : first;
}

function checkNumber(name: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
  throw new AppsError('BadRequestError', `${name} must be a whole number from 0 to ${max}`, {
    details: { parameter: name },
  });
}

function sortType(declared: IndexDeclarations, name: string): IndexType {
  const type = name === 'id' ? 'field' : declared.get(name);
  const reason = !type
    ? unknownIndex(declared, name)
    : type === 'keyword'
      ? `${name} is a keyword index, which has no order`
      : null;
  if (reason)
    throw new AppsError('BadRequestError', `Bad sort_index: ${reason}`, {
      details: { parameter: 'sort_index', index: name, reason },
    });
  return type as IndexType;
}
