import type { IndexSummary, Refresh } from './indexes';
import type { AppOptions } from './options';
import { type AdminRouteEntry, anyPermission } from './permissions';
import type { BlockFailure, Problem } from './problems';

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
  problem: Problem | null;
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
  problem: Problem | null;
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
  problem: Problem | null;
  /** Failures of the block in use in the last day, the latest first; of one server process. */
  failures: BlockFailure[];
}
