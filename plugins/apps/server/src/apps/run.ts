import type { Items, Json } from '../../../shared/json';
import type { AppsConfig } from '../config.types';
import { AppsError, isAppsError } from '../errors';
import type { Markup } from '../layouts';
import type { Layouts } from '../layouts/types';
import type { Logger } from '../log';
import { isLost, mostLosses } from '../logic';
import type {
  LogEntry,
  LogicBudget,
  LogicRuntime,
  PreparedCall,
  RequestData,
  ResponseChanges,
  SaveRequest,
} from '../logic/types';
import type { AppKey, RecordAddress, RecordStore, StoredRecord, UnitOfWork } from '../records/types';
import { allows, type KnownNames, rightsOf } from '../requester';
import type { Requester, Rights } from '../requester/types';
import type { ContentItem, Site, Sites } from '../sites/types';
import { checkNames, namesNotes } from './acl-names';
import { type Live, noting, type Topic } from './embed-live';
import { consoleOf } from './notices';
import type { App, Block } from './types';

/** Calls of `context.api.documents` with the requester's own permissions (contract, section 8). */
export type DocumentCalls = (uid: string, method: string, params: Items, requester: Requester) => Promise<PreparedCall>;

/** What logic asks for that runs the logic of a block again; injected, for running a block needs them itself. */
export interface Nested {
  /** HTML of a record, shown by its own block. */
  display(run: Run, record: StoredRecord, edit: boolean): Promise<string>;
  /** HTML of a block, with a record or without. */
  displayBlock(run: Run, blockId: string, record: StoredRecord | null, edit: boolean): Promise<string>;
  /** The record after a save, and what the block's `on_save` returned; `ran` is false where it is saved with none. */
  save(
    run: Run,
    record: StoredRecord,
    options: SaveRequest,
  ): Promise<{ record: StoredRecord; ran: boolean; returned: Json }>;
  /** Deletes the record; the `on_delete` of its block runs unless it is running already. */
  delete(run: Run, record: StoredRecord): Promise<void>;
}

/** What the room is made of; one set for the life of the server. */
export interface AppServices {
  config: AppsConfig;
  sites: Sites;
  store: RecordStore;
  logic: LogicRuntime;
  layouts: Layouts;
  /** Begins the work on the HTML of one page of the site. */
  markup(): Markup;
  documents: DocumentCalls;
  live: Live;
  nested: Nested;
  loadApp(site: Site, appId: string): Promise<App | null>;
  /** Which of the names belong to no user and no role. */
  lookUpNames?(names: readonly string[]): Promise<KnownNames>;
  /** Mistakes in a theme's own files are explained to everybody. */
  development?: boolean;
  logger: Logger;
}

/** What one request asks and who asks it: the same in every re-run of the request. */
export interface Visit {
  site: Site;
  /** The current content item; the portal at the site's root. */
  content: ContentItem;
  /** Content path of the address, '' at the root; kept in the addresses that a page shows. */
  contentPath: string;
  /** The id of the view by whose address the page's own block was reached: its form posts there too. */
  view?: string;
  requester: Requester;
  request: RequestData;
  /** The page's request when the block is embedded. */
  parentRequest: RequestData | null;
  /** During GET and HEAD records need a CSRF token, and content cannot be changed at all (contract, section 5). */
  writes: { records: boolean; content: boolean };
  /** Parameters of a call from code or a rule. */
  params: Items;
  /** A fresh CSRF token for a form. */
  csrfToken(): string;
  /** Aborted when the client has left; absent where there is none. */
  signal?: AbortSignal;
  /** Log entries of the request that redirected here, for the same visitor's browser. */
  pendingLog: LogEntry[];
  /** The console entries of a failed run. */
  failedLog?: LogEntry[];
}

/** One attempt at a request: thrown away and made anew when it collides with another request. */
export interface Run {
  readonly services: AppServices;
  readonly visit: Visit;
  readonly app: App;
  readonly rights: Rights;
  readonly unit: UnitOfWork;
  /** What has been read of records so far. */
  readonly reads: ReadonlySet<Topic>;
  readonly budget: LogicBudget;
  readonly logs: LogEntry[];
  /** What failed in its place without failing the request; told to the server's log with the logs. */
  readonly failures: string[];
  /** Mistakes, for the console of requesters who see details (`notices.ts`). */
  readonly notes: LogEntry[];
  readonly response: ResponseChanges;
  /** How many blocks are being displayed, saved or deleted inside each other. */
  readonly depth: number;
  /** Records whose `on_delete` is running; shared by all levels. */
  readonly deleting: Set<string>;
  /** How often content of the host was changed, or that was tried. */
  readonly changes: { count: number };
  /** What ends this attempt whatever logic makes of it: a collision must not be caught by a block. */
  readonly fatal: { error?: unknown };
}

/** The result of a request's work. */
export interface Ran<T> {
  value: T;
  /** Changes that logic has made to the response. */
  response: ResponseChanges;
  logs: LogEntry[];
  /** Its console entries, including pending ones of an earlier request. */
  console: LogEntry[];
  /** The remaining budget for other logic of the same request; absent if no logic ran. */
  budget?: LogicBudget;
}

/** Blocks displayed, saved or deleted inside each other, at most. */
const MAX_DEPTH = 8;

/**
 * Runs `work` as one transaction, again from the start on a collision, and hands its log to the server's log once.
 * @param recordId the record that the work is to write, if that is known from the start
 */
export async function withRun<T>(
  services: AppServices,
  visit: Visit,
  app: App,
  work: (run: Run) => Promise<T>,
  recordId?: string,
): Promise<Ran<T>> {
  const about = recordId === undefined ? undefined : { key: { site: visit.site.id, app: app.id }, id: recordId };
  for (let losses = 0; ; losses += 1) {
    try {
      return await runOnce(services, visit, app, losses, work, about);
    } catch (error) {
      // Nothing of the attempt is left: whoever's logic ended the sandbox, this request does not notice.
      if (!isLost(error) || losses >= mostLosses) throw error;
    }
  }
}

async function runOnce<T>(
  services: AppServices,
  visit: Visit,
  app: App,
  losses: number,
  work: (run: Run) => Promise<T>,
  about: RecordAddress | undefined,
): Promise<Ran<T>> {
  let last: Run | undefined;
  try {
    const value = await services.store.transact(async (unit) => {
      const run = newRun(services, visit, app, unit, losses);
      last = run;
      const result = await work(run);
      if (run.fatal.error !== undefined) throw run.fatal.error;
      return result;
    }, about);
    const { response, logs, budget } = last as unknown as Run;
    return { value, response, logs, budget, console: consoleOf(last as unknown as Run) };
  } catch (error) {
    if (last) visit.failedLog = consoleOf(last);
    throw error;
  } finally {
    if (last) writeLog(last);
  }
}

function newRun(services: AppServices, visit: Visit, app: App, unit: UnitOfWork, losses: number): Run {
  checkNames(services, app);
  const reads = new Set<Topic>();
  const rights = rightsOf(visit.requester, app.settings.acl);
  return {
    services,
    visit,
    app,
    rights,
    unit: noting(unit, reads),
    reads,
    budget: services.logic.budget(losses),
    logs: [],
    failures: [],
    // An `acl` is for managers to see (contract, section 4).
    notes: rights.manager || services.development ? [...namesNotes(app)] : [],
    response: { status: null, headers: {}, redirect: null },
    depth: 0,
    deleting: new Set(),
    changes: { count: 0 },
    fatal: {},
  };
}

/** The same attempt, one level deeper, in `app`. LogicError when blocks nest without end. */
export function nestedRun(run: Run, app: App): Run {
  if (run.depth >= MAX_DEPTH) throw new AppsError('LogicError', `Blocks are nested more than ${MAX_DEPTH} deep`);
  const response: ResponseChanges = { status: null, headers: {}, redirect: null };
  return { ...run, app, rights: rightsOf(run.visit.requester, app.settings.acl), depth: run.depth + 1, response };
}

function writeLog(run: Run): void {
  for (const failure of run.failures) run.services.logger.error(`[apps] ${failure}`);
  for (const entry of run.logs) {
    const place = [entry.app, entry.block].filter(Boolean).join('/');
    run.services.logger.info(`[apps] ${place}${entry.line === null ? '' : `:${entry.line}`} ${entry.message}`);
  }
}

/** Whose records the run works with. */
export function keyOf(run: Run): AppKey {
  return { site: run.visit.site.id, app: run.app.id };
}

/** Whether error details may be shown: in debug mode, or to a manager (contract, section 4). */
export function showsDetails(run: Pick<Run, 'app' | 'rights'>): boolean {
  return run.app.settings.debug || run.rights.manager;
}

/** The 401 or 403 of somebody who lacks a right. */
export function refusal(requester: Requester, what: string): AppsError {
  return requester.kind === 'anonymous'
    ? new AppsError('UnauthorizedError', `Please log in to ${what}`)
    : new AppsError('ForbiddenError', `You are not allowed to ${what}`);
}

/**
 * The block, whole and permitted. NotFoundError for an unknown one, its DefinitionError for a broken one, 401 or 403
 * where `view_permission` keeps the requester out (contract, section 6).
 */
export function permittedBlock(run: Pick<Run, 'app' | 'rights' | 'visit'>, blockId: string): Block {
  const block = run.app.blocks.get(blockId);
  if (!block) throw new AppsError('NotFoundError', `There is no block "${blockId}" in the app "${run.app.id}"`);
  if (run.app.error) throw run.app.error;
  return requireBlock(run, block);
}

/**
 * The block, if its logic may run for the requester: every way to a block's logic goes through here. Throws the block's
 * DefinitionError if it is broken; 401 for anonymous and 403 for others whom `view_permission` does not name.
 */
export function requireBlock(run: Pick<Run, 'rights' | 'visit'>, block: Block): Block {
  if (block.error) throw block.error;
  const list = block.definition.viewPermission;
  if (list && !run.rights.manager && !allows(run.visit.requester, list)) {
    throw refusal(run.visit.requester, `see "${block.id}"`);
  }
  return block;
}

/** Whether a failure belongs to the logic or definition of a block, so that a page can show it in the block's place. */
export function isBlockFailure(error: unknown): error is AppsError {
  return isAppsError(error, 'LogicError') || isAppsError(error, 'DefinitionError');
}
