import { useRef, useState } from 'react';
import type { AppDetail, ColumnSummary } from '../../../../../../shared/admin-api';
import { useAction } from '../../../../api/base';
import { useAppsColumnsQuery, useAppsSetColumnsMutation } from '../../../../api/columns';

/** Columns of a list whose administrator has not chosen any. */
const DEFAULT_COUNT = 5;

interface Columns {
  shown: ColumnSummary[];
  /** The server has not yet said what was chosen. */
  isLoading: boolean;
  choose(names: string[]): void;
}

/** The columns of an app's records that the administrator sees; the server keeps them, for every browser. */
export function useColumns(app: AppDetail): Columns {
  const act = useAction();
  const key = { site: app.site, app: app.id };
  const { data, isLoading } = useAppsColumnsQuery(key);
  const [setColumns] = useAppsSetColumnsMutation();
  const [chosen, setChosen] = useState<string[] | null>(null);
  // One after the other, so that the last choice is the one that is kept.
  const saving = useRef<Promise<unknown>>(Promise.resolve());
  const names = chosen ?? data?.columns ?? app.columns.slice(0, DEFAULT_COUNT).map(({ name }) => name);
  const choose = (next: string[]) => {
    setChosen(next);
    saving.current = saving.current.then(() => act(() => setColumns({ ...key, columns: next }).unwrap()));
  };
  return { shown: app.columns.filter(({ name }) => names.includes(name)), isLoading, choose };
}
