import type { Items } from '../../../shared/json';
import type { IndexType } from '../../../shared/query/operators';
import type { Place } from './rows';

export type { IndexType };

/** An app's declared indexes by name, from all its definitions; `id` is always a field index. */
export interface IndexDeclarations extends ReadonlyMap<string, IndexType> {
  /** In a preview those of the app that visitors see: no others are built, because they would take the place of these. */
  readonly live?: IndexDeclarations;
}

/**
 * The body of operation 11 (docs/reference/json-interface.md#search-results): the caller has checked its types, this
 * module checks its values.
 */
export interface SearchOptions {
  query?: string;
  sortIndex?: string;
  reverse?: boolean;
  limit?: number;
  offset?: number;
  /** Values of bare words on the value side of the query. */
  names?: Items;
  withTotal?: boolean;
  /** Only records that this identity has made; '' has made none. */
  creator?: string;
  /** Only records of the block with this id. */
  block?: string;
  /** Only records that count for this place. */
  place?: Place;
  /** Only records that do not wait until they are confirmed. */
  confirmed?: boolean;
}

/** A search of the plugin itself. Its matches may begin after the record with the `seq` `after`: only without `sortIndex` and `reverse`. */
export interface SearchAfter extends SearchOptions {
  after?: number;
  /** Only records that name one of these files of the media library, by document id. */
  files?: readonly string[];
}

/** Result of a check of the indexes. */
export interface IndexCheck {
  /** Records compared, once for each set of index tables of their app. */
  records: number;
  /** Records with wrong index rows, and deleted records with remaining ones. */
  wrong: number;
  /** Index tables that no state names. */
  orphanTables: number;
}

/** Progress of a build, in records. */
export type Progress = { done: number; total: number };
