import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { type AppDetail, anyPermission, type Needs } from '../../../../shared/admin-api';
import type { TextKey } from '../../plugin';

/** A page of an app: `/plugins/apps/<site>/<app>/<path>`. */
export interface Tab {
  path: string;
  label: TextKey;
  needs: Needs;
  /** A number beside the label. */
  count?(app: AppDetail): number;
  /** Whether an app has the page; without it, each has. */
  isIn?(app: AppDetail): boolean;
  /** Loaded when the tab is opened for the first time. */
  Panel: LazyExoticComponent<ComponentType<{ app: AppDetail }>>;
}

/** The pages of an app, in the order of their tabs. */
export const tabs: readonly Tab[] = [
  {
    path: 'blocks',
    label: 'blocks',
    needs: anyPermission,
    count: ({ blocks }) => blocks.length,
    Panel: lazy(() => import('./BlocksTab')),
  },
  {
    path: 'records',
    label: 'records',
    needs: ['read', 'records'],
    count: ({ records }) => records,
    Panel: lazy(() => import('./records/RecordsTab')),
  },
  {
    path: 'history',
    label: 'history',
    needs: ['read', 'records'],
    isIn: ({ history }) => history,
    Panel: lazy(() => import('./HistoryTab')),
  },
  {
    path: 'indexes',
    label: 'indexes',
    needs: anyPermission,
    count: ({ indexes }) => indexes.length,
    Panel: lazy(() => import('./IndexesTab')),
  },
  { path: 'runs', label: 'runs', needs: ['develop'], Panel: lazy(() => import('./RunsTab')) },
  { path: 'rights', label: 'rights', needs: ['develop'], Panel: lazy(() => import('./RightsTab')) },
  { path: 'code', label: 'code', needs: ['develop'], Panel: lazy(() => import('./code/CodeTab')) },
  { path: 'options', label: 'options', needs: 'manage', Panel: lazy(() => import('./OptionsTab')) },
];

/** The address of an app's page. */
export const appPath = (site: string, app: string, tab: string) =>
  `/plugins/apps/${encodeURIComponent(site)}/${encodeURIComponent(app)}/${tab}`;
