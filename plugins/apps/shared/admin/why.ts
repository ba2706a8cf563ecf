import type { FileProblem } from './apps';
import type { AdminRouteEntry } from './permissions';

/** Routes that explain rights. */
export const whyRoutes = {
  /** query: WhyQuery → Why; 404 for an unknown site, app, block, record, content type or requester; 400 for what is missing */
  why: { method: 'GET', path: '/why', needs: ['develop'] },
  /** → RightsMatrix */
  rightsMatrix: { method: 'GET', path: '/sites/:site/apps/:app/rights', needs: ['develop'] },
} as const satisfies Record<string, AdminRouteEntry>;

/** Operations on the records of an app, and on the app. */
export const recordOperations = ['view', 'create', 'edit', 'delete', 'deleteAll', 'manage'] as const;
/** Methods of Strapi's documents. */
export const contentOperations = [
  'findMany',
  'findOne',
  'create',
  'update',
  'delete',
  'publish',
  'unpublish',
  'discardDraft',
] as const;

export type RecordOperation = (typeof recordOperations)[number];
export type ContentOperation = (typeof contentOperations)[number];

export interface WhyQuery {
  site: string;
  /** `anonymous`, `user:<username or documentId>`, `group:<role>`, `admin:<id>`. */
  who: string;
  /** An operation on records of `app`, `show` of its `block`, or an operation on content of `type`. */
  operation: RecordOperation | 'show' | ContentOperation;
  app?: string;
  block?: string;
  /** With `edit` and `delete`: this record; else one that the requester has created. */
  record?: string;
  /** Uid of a content type. */
  type?: string;
}

/** What grants a right, or would grant it. */
export interface Ground {
  kind:
    | 'manager'
    /** A list of users and groups in a file. */
    | 'list'
    /** A permission of Strapi. */
    | 'permission'
    /** There is no list that restricts it. */
    | 'open';
  /** Where the list is; the line of the name that is the requester's, or of the list itself. */
  position: Pick<FileProblem, 'file' | 'line' | 'column' | 'excerpt'> | null;
  /** Path of the list: `acl.rights.editor`. */
  list: string | null;
  /** The name in the list that is the requester's. */
  name: string | null;
  /** Uid of the permission, with the subject for administrators. */
  permission: string | null;
}

/** One question that the server asks for an operation; all must be answered with yes. */
export interface WhyStep {
  allowed: boolean;
  /** What it is about: the right to records, the block's `view_permission`, content. */
  about: 'records' | 'block' | 'content';
  block: string | null;
  /** What grants it; where it is refused, what would grant it. */
  grounds: Ground[];
  /** Why no ground counts: a broken file, a missing record. Where it is allowed: that `json` closes the JSON interface for it. */
  message: string | null;
}

export interface Why {
  allowed: boolean;
  /** Status over HTTP where it is refused: 401 for anonymous, else 403. */
  status: 200 | 401 | 403 | 404 | 500;
  requester: { kind: string; name: string | null; groups: string[]; isManager: boolean };
  steps: WhyStep[];
}

/** `own`: only records that the requester has created. */
export type Extent = 'all' | 'own' | 'none';

export interface RightsMatrix {
  /** Roles of users-permissions; that of visitors without a login first. */
  groups: string[];
  /** Content types whose rights can be explained. */
  contentTypes: string[];
  rows: {
    operation: RecordOperation | 'show';
    /** Of `show`. */
    block: string | null;
    /** One for each group. */
    cells: Extent[];
  }[];
}

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
