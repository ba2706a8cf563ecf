import { useAuth } from '@strapi/strapi/admin';
import { useState } from 'react';
import type { AppDetail, ColumnSummary } from '../../../../../shared/admin-api';

/** Columns of a list whose administrator has not chosen any. */
const DEFAULT_COUNT = 5;

/** The names that were kept in the browser; null without any. */
function keptNames(key: string): string[] | null {
  try {
    const names: unknown = JSON.parse(window.localStorage.getItem(key) ?? 'null');
    return Array.isArray(names) ? names : null;
  } catch {
    return null;
  }
}

/** The columns of an app's records that the administrator sees, and a function that changes them; kept in the browser. */
export function useColumns(app: AppDetail): [shown: ColumnSummary[], choose: (names: string[]) => void] {
  const user = useAuth('Apps', (state) => state.user?.id);
  const key = `apps:columns:${user}:${app.site}/${app.id}`;
  const [chosen, setChosen] = useState<Record<string, string[]>>({});
  const names = chosen[key] ?? keptNames(key) ?? app.columns.slice(0, DEFAULT_COUNT).map(({ name }) => name);
  const choose = (next: string[]) => {
    window.localStorage.setItem(key, JSON.stringify(next));
    setChosen({ ...chosen, [key]: next });
  };
  return [app.columns.filter(({ name }) => names.includes(name)), choose];
}
