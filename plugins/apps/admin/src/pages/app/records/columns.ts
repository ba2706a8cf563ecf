import { useAuth, usePersistentState } from '@strapi/strapi/admin';
import type { AppDetail, ColumnSummary } from '../../../../../shared/admin-api';

/** Columns of a list whose administrator has not chosen any. */
const DEFAULT_COUNT = 5;

/** The columns of an app's records that the administrator sees, and a function that changes them; kept in the browser. */
export function useColumns(app: AppDetail): [shown: ColumnSummary[], choose: (names: string[]) => void] {
  const user = useAuth('Apps', (state) => state.user?.id);
  const [chosen, choose] = usePersistentState<string[] | null>(`apps:columns:${user}:${app.site}/${app.id}`, null);
  const names = Array.isArray(chosen) ? chosen : app.columns.slice(0, DEFAULT_COUNT).map(({ name }) => name);
  return [app.columns.filter(({ name }) => names.includes(name)), choose];
}
