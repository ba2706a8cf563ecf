/** Caps of contract section 9; above any of them a query is refused with 400. */
export const queryLimits = {
  /** Bytes of a query. */
  size: 10 * 1024,
  /** Nested parentheses and `not`. */
  depth: 50,
  /** Values of all lists of a query together. */
  values: 1_000,
  /** Words of all texts of a query together. */
  words: 1_000,
  /** Records asked for at once; also how many are given when no limit is asked for. */
  limit: 10_000,
} as const;
