import type { Items } from '../json';
import { type AdminRouteEntry, anyPermission } from './permissions';

/** Routes of an app and its blocks. */
export const appRoutes = {
  /** → AppDetail; 404 for an unknown site or app */
  app: { method: 'GET', path: '/sites/:site/apps/:app', needs: anyPermission },
} as const satisfies Record<string, AdminRouteEntry>;

export interface AppSummary {
  id: string;
  url: string;
  /** The theme that holds the app's folder: another than the active one for a `.lnk`. */
  theme: string;
  blocks: number;
  records: number;
  /** The number of its blocks that are broken or have failed lately; broken settings count as well. */
  problems: number;
  /** One of them. */
  problem: FileProblem | null;
  /** Runs that have failed in the last day, of those that are kept; counted to 100. */
  failedRuns: number;
  /** Jobs that are given up, until somebody runs them again or their time is over. */
  deadJobs: number;
}

export interface AppDetail {
  site: string;
  id: string;
  url: string;
  theme: string;
  records: number;
  blocks: BlockSummary[];
  /** Items of records by the definitions of all blocks. */
  columns: ColumnSummary[];
  indexes: IndexSummary[];
  options: AppOptions;
  /** The error in settings.yaml. */
  problem: FileProblem | null;
  /** The re-index that is running, or the last one; null when there was none since the server started. */
  refresh: Refresh | null;
  mails: AppMails;
  /** As of the summary. */
  deadJobs: number;
  /** Whether changes of its records are kept. */
  history: boolean;
}

/** What has become of an app's mails, in one site (docs/operate/mail.md). */
export interface AppMails {
  /** Mails over the rate that wait: of a digest, those that it stands for. */
  waiting: number;
  /** Mails that were tried in the last hour. */
  tried: number;
  /** When the next one may be sent, as ISO 8601; null when none waits. */
  next: string | null;
  /** Mails of the last 30 days that were not sent, and are not tried again. */
  kept: number;
}

/** An item that definitions declare: the first block that declares it gives its type and label. */
export interface ColumnSummary {
  name: string;
  label: string;
  /** Name of an element type (docs/reference/definitions.md#element-types). */
  type: string;
  /** The index that finds and sorts records by it; null without one. */
  index: IndexSummary['type'] | null;
  /** Its values, where it has a fixed list of them. */
  options: { value: string | number | boolean; label: string }[];
}

export interface BlockSummary {
  id: string;
  url: string;
  elements: { name: string; type: string }[];
  /** Whether its form makes and changes records. */
  hasForm: boolean;
  /** The error in its files, else its latest failure. */
  problem: FileProblem | null;
  /** Failures of the block in use in the last day, the latest first; of one server process. */
  failures: BlockFailure[];
}

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
  problems: FileProblem[];
  apps: AppSummary[];
}

export interface ThemeChange {
  theme: string;
}

export interface ThemePreview extends ThemeChange {
  /** Path below the site, with its query; '' is its first page. */
  path?: string;
}

/** Routes of the custom field for tiles: every editor of content chooses tiles. */
export const tileRoutes = {
  /** → BlockChoice[] */
  blocks: { method: 'GET', path: '/blocks', needs: 'administrator' },
} as const satisfies Record<string, AdminRouteEntry>;

/** A block that a tile can show: one with a layout that not only managers may see. */
export interface BlockChoice {
  app: string;
  block: string;
  /** The value that the tile stores: `<app_id>/blocks/<block_id>`. */
  value: string;
  /** Its page, for a preview. */
  url: string;
}

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

/** Routes of the options of an app in a site. */
export const optionRoutes = {
  /**
   * OptionsChange → AppOptions; 400 for options that are no object, or too large; 409 with `details.current` (its `override` and
   * `revision`) when they have changed meanwhile
   */
  setOptions: { method: 'PUT', path: '/sites/:site/apps/:app/options', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

/** The options of an app in a site. */
export interface AppOptions {
  /** Those of its settings.yaml. */
  file: Items;
  /** Those that an administrator has set; null: none. */
  override: Items | null;
  /** Both, as the app sees them. */
  merged: Items;
  /** Changes with `override`; null where there is none. */
  revision: string | null;
}

export interface OptionsChange {
  /** Merged over the file's; null removes them. */
  options: Items | null;
  /** Of the options when they were read; without it they are replaced whatever they are. */
  revision?: string | null;
}

/** What the machine or the host lacks, so that sites or logic do not work (docs/reference/installation.md#checks-at-the-start). */
export interface SetupProblem {
  message: string;
  /** The command, or the line of a file, that cures it; null when the message says what to do. */
  cure: string | null;
}

/** An error of a definition, of logic or of a layout, as a manager may see it. */
export interface FileProblem {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** The line of the file, with a caret below the column. */
  excerpt: string | null;
}

export interface BlockFailure extends FileProblem {
  /** ISO 8601: the last time. */
  at: string;
  times: number;
}
