import type { AdminRouteEntry } from './permissions';

/** Routes of what administrators have run in the names of others. */
export const auditRoutes = {
  /** query: AuditQuery → AuditPage; 400 for a wrong filter */
  audit: { method: 'GET', path: '/audit', needs: ['audit'] },
} as const satisfies Record<string, AdminRouteEntry>;

/**
 * `preview`: the page of a block; `run-again`: a run that has failed; `log-in`: a one-time login on the site; `tests`: the tests
 * of a ZIP; `person-export`, `person-erase`: everything of a person was exported, or erased.
 */
export const auditActions = ['preview', 'run-again', 'log-in', 'tests', 'person-export', 'person-erase'] as const;

export type AuditAction = (typeof auditActions)[number];

/** One thing that an administrator has run, or equal previews within an hour. */
export interface AuditEntry {
  id: string;
  /** ISO 8601: when it began, and when the last of equal ones began. */
  at: string;
  lastAt: string;
  /** How many equal ones there were. */
  times: number;
  /** Identity (`admin:<id>`) and e-mail, as it was then. */
  administrator: { identity: string; name: string | null };
  action: AuditAction;
  site: string | null;
  app: string | null;
  block: string | null;
  /** In whose name: `anonymous`, `user:…`, `group:…`, `admin:…` as WhyQuery has them; `server`: a program with its rights. */
  requester: string;
  /** Paths of files whose texts were not saved. */
  unsaved: string[];
  /** Status of the last answer, 0 for a value; null where it has not ended: the server stopped, or it still runs. */
  status: number | null;
}

export interface AuditQuery {
  site?: string;
  app?: string;
  action?: AuditAction;
  /** Identity or e-mail. */
  administrator?: string;
  /** Cursor of an earlier answer: only older entries. */
  before?: string;
}

export interface AuditPage {
  /** The latest first, at most 50. */
  entries: AuditEntry[];
  /** For `before`: the next older entries; null when there are none. */
  older: string | null;
}
