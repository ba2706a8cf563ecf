import { type AdminRouteEntry, anyPermission } from './permissions';

/** Routes of an app's indexes. */
export const indexRoutes = {
  /** RefreshRequest → 202 Refresh: it runs in the background; `app` has its progress */
  refresh: { method: 'POST', path: '/sites/:site/apps/:app/refresh', needs: 'manage' },
  /** → IndexSizes, counted for this request in the time of one search */
  indexSizes: { method: 'GET', path: '/sites/:site/apps/:app/index-sizes', needs: anyPermission },
} as const satisfies Record<string, AdminRouteEntry>;

export interface IndexSummary {
  name: string;
  type: 'field' | 'text' | 'keyword';
  /** `ready`: searches use it; `building`: a build is under way; `missing`: the first search that needs it builds it. */
  state: 'ready' | 'building' | 'missing';
}

/**
 * Entries by name of an index that is ready: records that have a value, for a field index; else pairs of a record and one of
 * its keywords or words. Null where counting takes too long.
 */
export type IndexSizes = Record<string, number | null>;

export interface Refresh {
  state: 'running' | 'done' | 'failed';
  /** Records indexed so far, and all of them; null when it is not known. */
  done: number | null;
  total: number | null;
  /** The error message, safe to show. */
  message: string | null;
}

export interface RefreshRequest {
  /** Drops the indexes and builds them again. */
  rebuild: boolean;
}
