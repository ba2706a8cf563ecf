import type { AppSummary } from './apps';
import { type AdminRouteEntry, anyPermission } from './permissions';
import type { Problem, SetupProblem } from './problems';

/** Routes of sites and their themes. */
export const siteRoutes = {
  /** → Overview */
  overview: { method: 'GET', path: '/overview', needs: anyPermission },
  /** ThemeChange → SiteOverview; 404 for an unknown site or theme */
  setTheme: { method: 'PUT', path: '/sites/:site/theme', needs: 'manage' },
  /** ThemePreview → Preview: a page of the site as anonymous visitors would see it with the theme; nothing is changed; 404 */
  previewTheme: { method: 'POST', path: '/sites/:site/theme/preview', needs: 'manage' },
  /**
   * → 201 HandOver; 404 for an unknown site; 403 without a session of the panel. In the browser that asks, `url` opens the
   * site as this administrator; it takes `&next=` with a path of the site.
   */
  handOver: { method: 'POST', path: '/sites/:site/hand-over', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

export interface Overview {
  setup: SetupProblem[];
  sites: SiteOverview[];
  themes: ThemeChoice[];
  /** Whether files can be changed: apps can be made. */
  editing: boolean;
}

export interface ThemeChoice {
  id: string;
  title: string;
  description: string;
  /** Ids of the apps that it offers. */
  apps: string[];
}

/** Logs an administrator in to a site: valid once, for a minute. */
export interface HandOver {
  /** For `Authorization: Bearer`. */
  token: string;
  url: string;
}

export interface SiteOverview {
  id: string;
  title: string;
  url: string;
  /** Id of the active theme. */
  theme: string;
  /** Of the theme's own files: `rules.yaml`, `theme.yaml`, layout and templates. */
  problems: Problem[];
  apps: AppSummary[];
}

export interface ThemeChange {
  theme: string;
}

export interface ThemePreview extends ThemeChange {
  /** Path below the site, with its query; '' is its first page. */
  path?: string;
}
