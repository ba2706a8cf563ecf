import { LRUCache } from 'lru-cache';
import type { Remembered } from '../../building/readiness';
import type { Row, Statement } from '../../database';
import { stateSelect } from '../../tables/state';
import { MAX_LOOKUPS } from '../limits';
import { kindOf, type PlainCondition } from '../operators';
import { concat, type Fragment, fragment, type IndexAccess, joined, numberOf, type QueryTarget } from '../sql';
import { type AccessPath, candidates, isRange, narrowest, sortRange } from './access-path';
import type { Order, Selection } from './select';

/** What was counted for a search. */
interface Counts {
  /** Matches of each condition, up to the cap: a number that has reached it stands for any larger one. */
  numbers: number[];
  cap: number;
  /** Whether the sort index had strings longer than a key. */
  long: boolean;
}

/** Milliseconds for which counts are used again. */
export const MAX_AGE = 2_000;
/** Counts that are kept. */
const MAX_COUNTS = 2_000;
/** Characters of a key; a longer one is not worth the memory. */
const MAX_KEY = 2_000;

/** Counts of conditions, kept for a moment: they choose the plan of a search, and never change its result. */
export interface Memory {
  get(key: string): Counts | undefined;
  set(key: string, counts: Counts): void;
  forget(key: string): void;
}

export function createMemory(): Memory {
  const kept = new LRUCache<string, Counts>({ max: MAX_COUNTS, ttl: MAX_AGE });
  return {
    get: (key) => kept.get(key),
    set: (key, counts) => void (key.length <= MAX_KEY && kept.set(key, counts)),
    forget: (key) => void kept.delete(key),
  };
}

const textOf = (value: unknown): string => (value instanceof Buffer ? value.toString('latin1') : String(value));

/** The key of these conditions; `index`: the one that is checked for long strings. */
function countsKey(generation: string, index: string | undefined, conditions: readonly Fragment[]): string {
  const parts = conditions.flatMap(({ sql, values }) => [sql, ...values.map(textOf)]);
  return JSON.stringify([generation, index, ...parts]);
}

/** Conditions that are counted for one search. */
const MAX_CONDITIONS = 8;

/** Matches up to which all conditions are counted first: where one has fewer, the others need no more counting. */
export const firstCount = ({ maxSorted }: QueryTarget): number => Math.min(500, maxSorted);

/** Data that the SQL of a search depends on. */
export interface Estimate {
  /** The narrowest access path to the matches, or null when there is none (a negation, an open disjunction). */
  path: AccessPath | null;
  /** Whether the index has strings longer than a key. */
  long: boolean;
  /** What has not been read again: the search itself must find that this condition holds, or else call `forget`. */
  unproven?: Fragment | undefined;
  forget(): void;
  /** Whether it was made from kept counts, which are still the kept ones: another search of the same text would have the same. */
  isKept(): boolean;
}

/** Runs a statement (SearchSql): a short one at once, any other where it can be ended. */
export type Run = (make: (step: string) => Statement & { short: boolean }) => Promise<Row[]>;

/** The generation of a search is no longer the app's, or the counts were out of date: it must begin again. */
export class Outdated extends Error {}

export interface EstimateOptions {
  /** The field index that is checked for long strings. */
  index?: string | undefined;
  /** The expected state of the app; Outdated when it differs. */
  remembered?: Remembered | undefined;
  memory: Memory;
  /** Number up to which matches are counted; by default the target's `maxSorted`. */
  maxCount?: number;
}

/**
 * Counts the matches of each condition, unless they were counted a moment ago; null: nothing to count. See
 * docs/decisions/search-plans.md.
 */
export async function estimate(
  run: Run,
  target: QueryTarget,
  condition: PlainCondition | null,
  { index, remembered, memory, maxCount = target.maxSorted }: EstimateOptions,
): Promise<Estimate> {
  const counted = [...((condition && candidates(target, condition)) ?? [])].slice(0, MAX_CONDITIONS);
  const accesses = counted.map(([, access]) => access);
  const choose = (numbers: readonly number[]) => condition && narrowest(condition, pathsOf(counted, numbers));
  const key = countsKey(
    target.tables.fields,
    index,
    accesses.map(({ records }) => records),
  );
  const forget = () => memory.forget(key);
  /** Whether the count of a path is exact, or so large that no more has to be known. */
  const isCertain = (found: AccessPath | null, cap: number) => !found || found.count < cap || cap >= maxCount;
  const known = memory.get(key);
  const knownPath = known ? choose(known.numbers) : null;
  // Other searches have the same conditions, joined otherwise: what was counted may be too little for this one.
  if (known && isCertain(knownPath, known.cap)) {
    const unproven = proofOf(target, known.long ? undefined : index, remembered);
    return { path: knownPath, long: known.long, unproven, forget, isKept: () => memory.get(key) === known };
  }
  const asked: Fragment[] = [];
  if (index !== undefined) asked.push(fragment(`${longSql(target, index)} as body`));
  if (remembered) asked.push(fragment(`(${stateSelect}) as state`, remembered.scope));
  let cap = known ? target.maxSorted : firstCount(target);
  const first = await countAll(run, target, accesses, asked, cap);
  if (remembered && first.row?.state !== remembered.text) throw new Outdated();
  const long = index !== undefined && isLong(target, index, first.row?.body);
  let { numbers } = first;
  let path = choose(numbers);
  if (!isCertain(path, cap)) {
    cap = target.maxSorted;
    ({ numbers } = await countAll(run, target, accesses, [], cap));
    path = choose(numbers);
  }
  memory.set(key, { numbers, cap, long });
  return { path, long, forget, isKept: () => false };
}

/** Counts the records of each access up to `cap`; the row has what else was asked. */
async function countAll(
  run: Run,
  target: QueryTarget,
  accesses: readonly IndexAccess[],
  asked: readonly Fragment[],
  cap: number,
): Promise<{ row: Row | undefined; numbers: number[] }> {
  if (accesses.length + asked.length === 0) return { row: undefined, numbers: [] };
  const [row] = await run((step) => {
    const counts = accesses.map((access, at) => concat(countOf({ ...target, step }, access, cap), ` as n${at}`));
    const { sql, values } = joined([...counts, ...asked], ', ');
    return { sql: `select ${sql}`, values, short: accesses.length * cap <= MAX_LOOKUPS };
  });
  return { row, numbers: accesses.map((_, at) => Number(row?.[`n${at}`])) };
}

/** The number of records that a condition finds, up to `cap`; counts a bounded number of entries. */
function countOf({ step }: QueryTarget, { records, repeated }: IndexAccess, cap: number): Fragment {
  const where = step && ` where ${step}1 = 1`;
  if (!repeated) return concat('(select count(*) from (', records, ` limit ${cap}) d${where})`);
  const maxEntries = 2 * cap;
  const count = `case when count(*) = ${maxEntries} then ${cap} else count(distinct d.record) end`;
  return concat(`(select ${count} from (`, repeated, ` limit ${maxEntries}) d${where})`);
}

function pathsOf(
  counted: readonly [PlainCondition, IndexAccess][],
  numbers: readonly number[],
): Map<PlainCondition, AccessPath> {
  return new Map(
    counted.map(([node, { records, exact, row }], at) => [
      node,
      {
        ...{ select: records, count: numbers[at] as number, node, exact, row },
        index: 'index' in node ? node.index : undefined,
      },
    ]),
  );
}

/**
 * The number of the index if it has a long string, else another number or NULL: one entry of the index on `ix`. For `ix = ?`
 * PostgreSQL may plan to read the whole table.
 */
const longSql = (target: QueryTarget, index: string): string =>
  `(select min(ix) from ${target.tables.bodies} where ix >= ${numberOf(target, index)})`;

const isLong = (target: QueryTarget, index: string, body: unknown): boolean =>
  body !== null && Number(body) === numberOf(target, index);

/** The condition that the app's state is still the remembered one, and that the index has no long strings. */
function proofOf(
  target: QueryTarget,
  index: string | undefined,
  remembered: Remembered | undefined,
): Fragment | undefined {
  const parts: Fragment[] = [];
  if (remembered) parts.push(fragment(`(${stateSelect}) = ?`, remembered.scope, remembered.text));
  if (index !== undefined)
    parts.push(fragment(`coalesce(${longSql(target, index)}, -1) <> ${numberOf(target, index)}`));
  return parts.length ? joined(parts, ' and ') : undefined;
}

/** Index entries that a test of one record reads at most; infinite where it must read a text. */
function lookups(condition: PlainCondition): number {
  if ('children' in condition) return condition.children.reduce((sum, child) => sum + lookups(child), 0);
  return condition.kind === 'not' ? lookups(condition.child) : kindOf(condition).lookups(condition);
}

/** Index entries that the sort key of one record reads at most. */
function orderLookups(order: Order): number {
  if (order.kind === 'creation') return 0;
  if (order.kind === 'field') return order.long ? Number.POSITIVE_INFINITY : 1;
  return order.words.some(({ prefix }) => prefix) ? Number.POSITIVE_INFINITY : order.words.length;
}

/** Whether a short statement can test and sort `count` records. */
export function isShortTest(count: number, condition: PlainCondition, order: Order): boolean {
  return count * (1 + lookups(condition) + orderLookups(order)) <= MAX_LOOKUPS;
}

/** Whether every row of a walk in the wanted order matches, and the offset is not too large. */
export function isShortWalk({ condition, order, limit, offset }: Selection): boolean {
  if (limit + offset > MAX_LOOKUPS) return false;
  if (condition.kind === 'constant') return order.kind !== 'field' || !order.long;
  switch (order.kind) {
    case 'creation':
      return false;
    case 'field':
      return !order.long && isRange(condition, order.index) && sortRange(condition, order.index)?.exact === true;
    case 'relevance':
      return condition.kind === 'word' && condition.index === order.index;
  }
}

/** Whether a short statement can read the rows of the page and of its offset. */
export function isShortPage({ limit, offset }: { limit: number; offset: number }): boolean {
  return limit + offset <= MAX_LOOKUPS;
}
