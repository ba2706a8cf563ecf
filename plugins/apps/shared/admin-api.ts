import type { Items } from './json';

/**
 * The JSON interface between the admin panel's pages and the server: admin routes of the plugin, below `/apps`.
 * All of them need the admin permission `plugin::apps.manage`, except `blocks`, which any administrator may read,
 * because every editor of content chooses tiles. Errors have Strapi's form.
 */
export const adminRoutes = {
  /** → Overview */
  overview: { method: 'GET', path: '/overview' },
  /** → BlockChoice[] */
  blocks: { method: 'GET', path: '/blocks' },
  /** ThemeChange → SiteOverview; 404 for an unknown site or theme */
  setTheme: { method: 'PUT', path: '/sites/:site/theme' },
  /**
   * → 201 HandOver; 404 for an unknown site; 403 without a session of the panel. In the browser that asks, `url` opens the
   * site as this administrator; it takes `&next=` with a path of the site.
   */
  handOver: { method: 'POST', path: '/sites/:site/hand-over' },
  /** → AppDetail; 404 for an unknown site or app */
  app: { method: 'GET', path: '/sites/:site/apps/:app' },
  /** query: RecordsQuery → RecordsPage; 400 for a bad query, with position and reason */
  records: { method: 'GET', path: '/sites/:site/apps/:app/records' },
  /**
   * query: `{ id, on_delete }` (an id may contain `/`, so it is not a part of the path; the block's `on_delete` runs unless
   * `on_delete` is `false`) → `{ success: 'deleted' }`
   */
  deleteRecord: { method: 'DELETE', path: '/sites/:site/apps/:app/records' },
  /** OptionsChange → AppOptions; 400 for options that are no object, or too large */
  setOptions: { method: 'PUT', path: '/sites/:site/apps/:app/options' },
  /** RefreshRequest → 202 Refresh: it runs in the background; `app` has its progress */
  refresh: { method: 'POST', path: '/sites/:site/apps/:app/refresh' },
  /** → Rule[], by name */
  rules: { method: 'GET', path: '/rules' },
  /** → RuleChoices */
  ruleChoices: { method: 'GET', path: '/rules/choices' },
  /** query: RuleTarget → string[], the functions of the block's logic; 400 for an unknown app or block */
  ruleFunctions: { method: 'GET', path: '/rules/functions' },
  /** RuleInput → 201 Rule; 400 with `details.key` for a wrong value or one that does not exist */
  createRule: { method: 'POST', path: '/rules' },
  /** Partial RuleInput → Rule; 400 as above, 404 for an unknown rule */
  updateRule: { method: 'PUT', path: '/rules/:rule' },
  /** → `{ success: 'deleted' }`; 404 for an unknown rule */
  deleteRule: { method: 'DELETE', path: '/rules/:rule' },
  /** query: RunsQuery → RunsPage (`admin-runs.ts`) */
  runs: { method: 'GET', path: '/runs' },
  /** → RunDetail; 404 for a run that is not kept */
  run: { method: 'GET', path: '/runs/:run' },
  /** → RunAgain; 409 for a run without input, or of a requester who can no longer be acted for */
  runAgain: { method: 'POST', path: '/runs/:run/again' },
} as const;

export type AdminRoute = keyof typeof adminRoutes;

/** What the machine or the host lacks, so that sites or logic do not work (docs/reference/installation.md#what-is-said-at-the-start). */
export interface SetupProblem {
  message: string;
  /** The command, or the line of a file, that cures it; null when the message says what to do. */
  cure: string | null;
}

export interface Overview {
  setup: SetupProblem[];
  sites: SiteOverview[];
  themes: ThemeChoice[];
}

export interface ThemeChoice {
  id: string;
  title: string;
  description: string;
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

export interface AppSummary {
  id: string;
  url: string;
  /** The theme that holds the app's folder: another than the active one for a `.lnk`. */
  theme: string;
  blocks: number;
  records: number;
  /** The number of its blocks that are broken or have failed lately; broken settings count as well. */
  problems: number;
}

/** An error of a definition, of logic or of a layout, as a manager may see it. */
export interface Problem {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** The line of the file, with a caret below the column. */
  excerpt: string | null;
}

export interface AppDetail {
  site: string;
  id: string;
  url: string;
  theme: string;
  records: number;
  blocks: BlockSummary[];
  indexes: IndexSummary[];
  options: AppOptions;
  /** The error in settings.yaml. */
  problem: Problem | null;
  /** The re-index that is running, or the last one; null when there was none since the server started. */
  refresh: Refresh | null;
}

/** The options of an app in a site. */
export interface AppOptions {
  /** Those of its settings.yaml. */
  file: Items;
  /** Those that an administrator has set; null: none. */
  override: Items | null;
  /** Both, as the app sees them. */
  merged: Items;
}

export interface OptionsChange {
  /** Merged over the file's; null removes them. */
  options: Items | null;
}

export interface BlockSummary {
  id: string;
  url: string;
  elements: { name: string; type: string }[];
  /** The error in its files, else its latest failure. */
  problem: Problem | null;
  /** Failures of the block in use in the last day, the latest first; of one server process. */
  failures: BlockFailure[];
}

export interface BlockFailure extends Problem {
  /** ISO 8601: the last time. */
  at: string;
  times: number;
}

export interface IndexSummary {
  name: string;
  type: 'field' | 'text' | 'keyword';
}

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

export interface ThemeChange {
  theme: string;
}

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

/** A block that a tile can show. */
export interface BlockChoice {
  app: string;
  block: string;
  /** The value that the tile stores: `<app_id>/blocks/<block_id>`. */
  value: string;
}

/** An event of a content item that a rule's function can run on. */
export const ruleEvents = ['create', 'update', 'delete', 'publish', 'unpublish'] as const;

export type RuleEvent = (typeof ruleEvents)[number];

/** The block whose function a rule calls. */
export interface RuleTarget {
  app: string;
  block: string;
}

/** The fields of a rule on events that can be set. */
export interface RuleInput extends RuleTarget {
  /** 1 to 255 characters. */
  name: string;
  enabled: boolean;
  event: RuleEvent;
  /** Uid of a content type of the host, `api::article.article`. */
  contentType: string;
  function: string;
}

export interface Rule extends RuleInput {
  /** Document id of the entry. */
  id: string;
  /** The latest first, 20 at most. */
  failures: RuleFailure[];
  /** Why it cannot run: its app, block or function is missing or broken since it was saved. Only in the list. */
  problem: string | null;
}

/** A failure of a rule's function. */
export interface RuleFailure {
  /** ISO 8601. */
  at: string;
  documentId: string;
  message: string;
}

/** The content types of rules, and the functions that they can call. */
export interface RuleChoices {
  contentTypes: { uid: string; name: string /** Whether its items are published. */; hasDrafts: boolean }[];
  /** Apps of all sites' active themes, each with its blocks that have logic. */
  apps: { id: string; blocks: string[] }[];
}
