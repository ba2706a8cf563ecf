import type { AdminRouteEntry } from './permissions';

/** Routes of the columns that the administrator has chosen for an app's records. */
export const columnRoutes = {
  /** → KeptColumns */
  columns: { method: 'GET', path: '/sites/:site/apps/:app/columns', needs: ['read', 'records'] },
  /** KeptColumns → KeptColumns; 400 for another shape, or above 200 names of 255 characters */
  setColumns: { method: 'PUT', path: '/sites/:site/apps/:app/columns', needs: ['read', 'records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface KeptColumns {
  /** Names of items; null: the usual columns. */
  columns: string[] | null;
}
