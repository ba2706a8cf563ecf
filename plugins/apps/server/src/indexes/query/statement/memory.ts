import { LRUCache } from 'lru-cache';
import type { Fragment } from '../sql/fragment';

/** What was counted for a search. */
export interface Counts {
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
export function countsKey(generation: string, index: string | undefined, conditions: readonly Fragment[]): string {
  const parts = conditions.flatMap(({ sql, values }) => [sql, ...values.map(textOf)]);
  return JSON.stringify([generation, index, ...parts]);
}
