import { queryError } from './errors';

/** Caps of contract section 9, and what keeps the cost of a query bounded; above any of them a query is refused with 400. */
export const queryLimits = {
  /** Bytes of a query. */
  size: 10 * 1024,
  /** Nested parentheses and `not`. */
  depth: 50,
  /** Values of all lists of a query together. */
  values: 1_000,
  /** Records asked for at once; also how many are given when no limit is asked for. */
  limit: 10_000,
} as const;

/** What a query may have of each, all its search texts together; docs/limits.md says so. */
export const queryCounts = {
  conditions: { most: 250, name: 'conditions' },
  characters: { most: 10_000, name: 'characters of search texts' },
  words: { most: 300, name: 'words' },
  phrases: { most: 100, name: 'phrases' },
  prefixes: { most: 20, name: 'prefixes' },
  alternatives: { most: 100, name: 'alternatives (or)' },
  exclusions: { most: 100, name: 'excluded words or phrases' },
} as const;

export type Counted = keyof typeof queryCounts;

/** Counts what a query consists of; `add` throws a BadRequestError that names the limit once there is too much of it. */
export class QueryCounts {
  private readonly counts = new Map<Counted, number>();

  add(what: Counted, number: number, position: number): void {
    const count = (this.counts.get(what) ?? 0) + number;
    this.counts.set(what, count);
    const { most, name } = queryCounts[what];
    if (count > most) throw queryError(position, `more than ${most} ${name}`);
  }
}
