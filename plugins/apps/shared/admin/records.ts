import type { Items } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Routes of an app's records. */
export const recordRoutes = {
  /** query: RecordsQuery → RecordsPage; 400 for a bad query, with position and reason */
  records: { method: 'GET', path: '/sites/:site/apps/:app/records', needs: ['read', 'records'] },
  /**
   * query: `{ id, on_delete }` (an id may contain `/`, so it is not a part of the path; the block's `on_delete` runs unless
   * `on_delete` is `false`) → `{ success: 'deleted' }`
   */
  deleteRecord: { method: 'DELETE', path: '/sites/:site/apps/:app/records', needs: ['records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface RecordsQuery {
  /** A query (docs/reference/search.md#queries); empty: all records. */
  query?: string;
  limit: number;
  offset: number;
}

export interface RecordsPage {
  records: RecordSummary[];
  total: number;
}

export interface RecordSummary {
  id: string;
  url: string;
  /** Creator's identity, null if anonymous. */
  creator: string | null;
  items: Items;
}
