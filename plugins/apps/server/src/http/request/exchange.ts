import type { Context } from 'koa';
import type { SetupProblem } from '../../../../shared/admin-api';
import type { TestOutcome, TestRunOptions } from '../../../../shared/test-events';
import type { App, AppServices, DryRun, Visit } from '../../apps';
import type { AuditLog } from '../../audit';
import type { Requesters } from '../../auth';
import type { Requester, Rights } from '../../auth/types';
import type { LiveChanges, RuleEntries, WaitingLists } from '../../events/types';
import type { Sheets } from '../../interchange';
import type { DocumentAccess } from '../../logic/types';
import type { Metrics } from '../../metrics';
import type { Schedules } from '../../schedules/types';
import type { PanelColumns, Versions } from '../../sites';
import type { AppTarget, Site } from '../../sites/types';

/** Tells open pages which version of the theme files the server has (docs/decisions/development-server.md). */
export interface Reloads {
  /** The version of the files on the disk now. */
  version(): Promise<string>;
  /** `/<site_id>/@@apps.reload`: server-sent events, one `version` at the start and one for each change. */
  answer(ctx: Context): void;
  /** Ends all connections. */
  destroy(): void;
}

/** A request that the admin panel makes in the name of a requester; its writes are switched off. */
export interface InjectedRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** In lower case. */
  headers: Record<string, string>;
  /** The parsed body. */
  body?: unknown;
  requester: Requester;
  dry: DryRun;
  overlay?: Overlay;
}

/** What one request of the panel sees instead of what is stored (overlay.ts). */
export interface Overlay {
  /** Texts of files of one app, by path. */
  files?: { site: string; app: string; texts: ReadonlyMap<string, string> };
  /** A theme in place of a site's active one. */
  theme?: { site: string; id: string };
}

/** What it would have been answered with. */
export interface InjectedAnswer {
  status: number;
  /** Media type. */
  type: string;
  location: string | null;
  text: string;
}

/** The services that HTTP handlers use. */
export interface HttpServices extends AppServices {
  metrics: Metrics;
  /** Runs a statement where records are read. */
  statement(sql: string, values: readonly unknown[]): Promise<unknown[]>;
  requesters: Requesters;
  /** Reads workbooks. */
  sheets: Sheets;
  live: LiveChanges;
  rules: RuleEntries;
  schedules: Schedules;
  waitingLists: WaitingLists;
  /** Reloads open pages when files change; only where the command `dev` has started Strapi. */
  reloads?: Reloads | undefined;
  /** Which permissions decide about content. */
  contentRights: Pick<DocumentAccess, 'permissions' | 'types'>;
  versions: Versions;
  /** What administrators run in the names of others. */
  audit: AuditLog;
  panelColumns: PanelColumns;
  /** Runs the tests of the apps of a themes folder, for at most some milliseconds (docs/reference/app-tests.md). */
  runTests(wanted: Omit<TestRunOptions, 'root'>, timeout: number): Promise<TestOutcome>;
  /** What the machine or the host lacks at the moment. */
  setup(): Promise<SetupProblem[]>;
  /** Answers a request of the admin panel itself. */
  inject(request: InjectedRequest): Promise<InjectedAnswer>;
  /** Writes of this request are switched off. */
  dry?: DryRun;
  /** Strapi's public URL, without a slash at its end (docs/reference/addresses.md#base-url). */
  baseUrl(): string;
  /** In production broken themes are not explained to visitors, and cookies are Secure on https. */
  production: boolean;
}

export type TargetOf<Kind extends AppTarget['kind']> = Extract<AppTarget, { kind: Kind }>;

/** One request to an app, after its address, requester and CSRF token were checked. */
export interface Exchange<Target extends AppTarget = AppTarget> {
  ctx: Context;
  services: HttpServices;
  site: Site;
  app: App;
  requester: Requester;
  rights: Rights;
  visit: Visit;
  target: Target;
  /** A JSON request, as opposed to a page request (docs/reference/addresses.md#json-or-page). */
  json: boolean;
}
