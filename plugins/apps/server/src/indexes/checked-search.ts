import { LRUCache } from 'lru-cache';
import type { Items } from '../../../shared/json';
import { AppsError, isAppsError } from '../common/errors';
import { type Condition, checkQuery, indexType, parseQuery, queryLimits, unknownIndex } from './query';
import { matches } from './query/matches';
import { indexesOf } from './query/statement/lower';
import type { IndexedRecord } from './tables/entries';
import { BLOCK_INDEX, CREATOR_INDEX, FILES_INDEX } from './tables/layout';
import type { Place } from './tables/places';
import type { IndexDeclarations, IndexType, SearchAfter } from './types';

/** A search whose query, names and numbers were checked (docs/reference/search.md). */
export interface CheckedSearch {
  condition: Condition | null;
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

/** Checked searches by the declared indexes of an app and by their text: pages ask for the same ones again and again. */
const checked = new WeakMap<IndexDeclarations, LRUCache<string, CheckedSearch>>();
const MAX_CHECKED = 500;
/** Characters of a query and its values, and of all that are kept of an app: a search and its statement are many times larger. */
const MAX_KEY = 2_000;
const MAX_KEYS = 50_000;

/** Checks a search before any statement; BadRequestError for every mistake in it. */
export function checkSearch(declared: IndexDeclarations, options: SearchAfter): CheckedSearch {
  const { query = '', sortIndex, reverse = false, limit = queryLimits.limit, offset = 0, withTotal = false } = options;
  checkNumber('limit', limit, queryLimits.limit);
  checkNumber('offset', offset, Number.MAX_SAFE_INTEGER - queryLimits.limit);
  // A search that goes on after a record comes once: it must not displace those that are kept.
  if (query.length > MAX_KEY || options.after || options.files) return newSearch(declared, options, limit, offset);
  const known = checked.get(declared) ?? new LRUCache<string, CheckedSearch>({ max: MAX_CHECKED, maxSize: MAX_KEYS });
  checked.set(declared, known);
  const key = JSON.stringify([
    limit,
    offset,
    reverse,
    withTotal,
    query,
    sortIndex,
    options.names,
    options.creator,
    options.block,
    options.place,
  ]);
  const search = known.get(key) ?? newSearch(declared, options, limit, offset);
  if (key.length <= MAX_KEY) known.set(key, search, { size: key.length });
  return search;
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
  const { condition } = checkSearch(declared, options);
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

function newSearch(
  declared: IndexDeclarations,
  { query, names, sortIndex, reverse = false, after = 0, withTotal = false, creator, block, files, place }: SearchAfter,
  limit: number,
  offset: number,
): CheckedSearch {
  const asked = checkCondition(declared, query, names);
  const needed = new Map<string, IndexType>();
  for (const name of asked ? indexesOf(asked) : []) needed.set(name, indexType(declared, name, 1));
  if (sortIndex !== undefined) {
    const type = sortType(declared, sortIndex);
    if (type !== 'text' || needed.has(sortIndex)) needed.set(sortIndex, type);
  }
  if (creator) needed.set(CREATOR_INDEX, 'field');
  if (block !== undefined) needed.set(BLOCK_INDEX, 'field');
  if (files) needed.set(FILES_INDEX, 'keyword');
  if (place) needed.set(place.index, 'keyword');
  return {
    condition: together(
      [
        ...(creator ? [equal(CREATOR_INDEX, creator)] : []),
        ...(block === undefined ? [] : [equal(BLOCK_INDEX, block)]),
        ...(files ? [naming(files)] : []),
        ...(place ? [inPlace(place)] : []),
      ],
      asked,
    ),
    sortIndex: needed.has(sortIndex ?? '') ? sortIndex : undefined,
    reverse,
    limit,
    offset,
    after,
    withTotal,
    needed,
  };
}

function checkCondition(
  declared: IndexDeclarations,
  query: string | undefined,
  names: Items | undefined,
): Condition | null {
  const tree = parseQuery(query ?? '');
  return tree && checkQuery(tree, declared, names);
}

/** Records whose value of one of the plugin's own indexes is this one. */
const equal = (index: string, value: string): Condition => ({ kind: 'compare', index, comparator: '==', value });

/** Records that name one of these files. */
const naming = (files: readonly string[]): Condition =>
  files.length === 0
    ? { kind: 'constant', value: false }
    : { kind: 'keywords', index: FILES_INDEX, mode: 'any', values: [...files] };

const inPlace = ({ index, value }: Place): Condition => ({ kind: 'keywords', index, mode: 'any', values: [value] });

/** A condition with those of the plugin before it. */
function together(own: readonly Condition[], asked: Condition | null): Condition | null {
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
