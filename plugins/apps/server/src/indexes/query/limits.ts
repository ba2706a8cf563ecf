import { AppsError } from '../../common/errors';

/**
 * The error of a bad query, with its position (in characters, from 1) and reason (docs/reference/search.md#errors).
 */
export function queryError(position: number, reason: string, details: { index?: string } = {}): AppsError {
  return new AppsError('BadRequestError', `Bad query at position ${position}: ${reason}`, {
    details: { position, reason, ...details },
  });
}

/**
 * Limits that bound the cost of a query (docs/limits.md#records-and-search); one that exceeds any is refused with 400.
 */
export const queryLimits = {
  /** Bytes of a query. */
  size: 10 * 1024,
  /** Nested parentheses and `not`. */
  depth: 50,
  /** Values of all lists of a query together. */
  values: 1_000,
  /** Records of one answer, also when the request sets no limit. */
  limit: 10_000,
} as const;

/** Limits of all search texts of a query together (docs/limits.md). */
export const queryCounts = {
  conditions: { max: 250, name: 'conditions' },
  characters: { max: 10_000, name: 'characters of search texts' },
  words: { max: 300, name: 'words' },
  phrases: { max: 100, name: 'phrases' },
  prefixes: { max: 20, name: 'prefixes' },
  alternatives: { max: 100, name: 'alternatives (or)' },
  exclusions: { max: 100, name: 'excluded words or phrases' },
} as const;

export type Counted = keyof typeof queryCounts;

/** Counts the parts of a query; `add` throws a BadRequestError that names the exceeded limit. */
export class QueryCounts {
  private readonly counts = new Map<Counted, number>();

  add(what: Counted, number: number, position: number): void {
    const count = (this.counts.get(what) ?? 0) + number;
    this.counts.set(what, count);
    const { max, name } = queryCounts[what];
    if (count > max) throw queryError(position, `more than ${max} ${name}`);
  }
}

/** Rows and index entries that a short statement may read, which takes some ten milliseconds. */
export const MAX_LOOKUPS = 20_000;
