import type { Items } from '../../../shared/json';

export type IndexType = 'field' | 'text' | 'keyword';

/** An app's declared indexes by name, from all its definitions; `id` is always there, as a field index. */
export type IndexDeclarations = ReadonlyMap<string, IndexType>;

/** Operation 11's body, checked for types by the caller, checked for content here (contract, section 9). */
export interface SearchOptions {
  query?: string;
  sortIndex?: string;
  reverse?: boolean;
  limit?: number;
  offset?: number;
  /** Values of bare words on the value side of the query. */
  names?: Items;
  withTotal?: boolean;
}

/** When a reading must end, besides at its own limit. */
export interface ReadEnd {
  /** Aborted when the outcome is no longer needed. */
  signal?: AbortSignal;
  /** Milliseconds that are left. */
  time?: number;
}

/** What was found wrong with the indexes. */
export interface IndexCheck {
  /** Records compared, once for each set of index tables of their app. */
  records: number;
  /** Records, or what is left of deleted ones, whose index rows are not what they must be. */
  wrong: number;
  /** Index tables that belong to nothing. */
  orphanTables: number;
}

/** How far a building is, in records. */
export type Progress = { done: number; total: number };
