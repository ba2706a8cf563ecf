import type { Items, Json } from '../../../../shared/json';
import { type KnownNames, rightsOf } from '../../auth';
import type { Requester, Rights } from '../../auth/types';
import type { AppsConfig } from '../../config.types';
import { type AppsError, logicError } from '../../errors';
import type { Files, RequestFiles } from '../../files';
import type { Markdown, Markup } from '../../layouts';
import type { Layouts } from '../../layouts/types';
import type { Logger } from '../../log';
import { isLost, MAX_LOSSES } from '../../logic';
import type {
  LogEntry,
  LogicBudget,
  LogicRuntime,
  PreparedCall,
  RequestData,
  ResponseChanges,
  SaveRequest,
} from '../../logic/types';
import type { Mailer, QueuedMail } from '../../mail/types';
import type { AppKey, RecordAddress, RecordStore, StoredRecord, UnitOfWork } from '../../records/types';
import type { RunLog } from '../../runs';
import type { ContentItem, Site, Sites } from '../../sites/types';
import { type Live, readsInto, type Topic } from '../live-topics';
import type { App } from '../types';
import { checkNames, namesNotes } from './acl-names';
import { type DryRun, listMails, observeWrites } from './dry';
import { consoleOf } from './notices';
import { storeMails } from './queue-mail';
import { type Refusals, refuseInvalid } from './refusals';
import { FileChanges, FilesNeeded } from './run-files';
import { keepRun, newTrace, type Trace } from './trace';

/** Calls of `context.api.documents` with the requester's own permissions (docs/reference/logic.md#contextapi). */
export type DocumentCalls = (uid: string, method: string, params: Items, requester: Requester) => Promise<PreparedCall>;

/** Calls of logic that run the logic of a block; injected, because the modules that run blocks import this one. */
export interface Nested {
  /** HTML of a record, shown by its own block. */
  display(run: Run, record: StoredRecord, edit: boolean): Promise<string>;
  /** HTML of a block, with a record or without. */
  displayBlock(run: Run, blockId: string, record: StoredRecord | null, edit: boolean): Promise<string>;
  /** The record after a save, and what the block's `on_save` returned; `ran` is false where it has no block. */
  save(
    run: Run,
    record: StoredRecord,
    options: SaveRequest,
  ): Promise<{ record: StoredRecord; ran: boolean; returned: Json }>;
  /** Deletes the record; the `on_delete` of its block runs unless it is running already. */
  delete(run: Run, record: StoredRecord): Promise<void>;
}

/** The services that runs use; one set for the life of the server. */
export interface AppServices {
  config: AppsConfig;
  sites: Sites;
  store: RecordStore;
  logic: LogicRuntime;
  layouts: Layouts;
  /** The HTML of a Markdown text. */
  markdown: Markdown;
  /** Begins the work on the HTML of one page of the site. */
  markup(): Markup;
  documents: DocumentCalls;
  live: Live;
  files: Files;
  nested: Nested;
  mailer: Mailer;
  runs: RunLog;
  loadApp(site: Site, appId: string): Promise<App | null>;
  /** Which of the names belong to no user and no role. */
  lookUpNames?(names: readonly string[]): Promise<KnownNames>;
  /** Explains mistakes in a theme's own files to all visitors. */
  development?: boolean;
  /** Error marks and error pages quote the line of the error for all visitors. */
  quotesSource?: boolean;
  logger: Logger;
}

/** The request, its requester and its content; the same in every re-run of the request. */
export interface Visit {
  site: Site;
  /** The current content item; the portal at the site's root. */
  content: ContentItem;
  /** Content path of the address, '' at the root; kept in the addresses that a page shows. */
  contentPath: string;
  /** The id of the view whose address was requested: the form of the page's own block posts there too. */
  view?: string;
  requester: Requester;
  request: RequestData;
  /** The page's request when the block is embedded. */
  parentRequest: RequestData | null;
  /**
   * During GET and HEAD records need a CSRF token, and content cannot be changed at all
   * (docs/reference/http.md#writing-during-get).
   */
  writes: { records: boolean; content: boolean };
  /** Why a posted form is not carried out but shown again, with what was entered: its CSRF token is not valid. */
  staleForm?: AppsError;
  /** Parameters of a call from code or a rule. */
  params: Items;
  /** A fresh CSRF token for a form. */
  csrfToken(): string;
  /** The visitor's cookie; absent without a browser, and where visitors share a rendering. */
  visitor?: VisitorMark;
  /** Marks of when a form was shown; absent without a client. */
  forms?: FormMarks;
  /** Aborted when the client has left; absent without a client. */
  signal?: AbortSignal;
  /** Log entries of the request that redirected here, for the same visitor's browser. */
  pendingLog: LogEntry[];
  /** Files of the request's form. */
  files?: RequestFiles;
  /** Whether code or a rule on events calls a function, without a request. */
  isCall?: boolean;
  /** Writes are switched off: what they would have been is listed here (docs/decisions/runs.md). */
  dry?: DryRun;
  /** The console entries of a failed run. */
  failedLog?: LogEntry[];
}

/** Tells visitors without a login from each other (docs/reference/logic.md#contextvisitor). */
export interface VisitorMark {
  /** Null before the visitor has a cookie; a forged cookie counts as none. */
  id(): string | null;
  /** Sets the cookie if the visitor has none. */
  begin(): void;
}

export interface FormMarks {
  /** The mark of a block's form that is shown now. */
  shown(app: string, block: string): string;
  /** Milliseconds since then; null for a mark that is forged or of another form. */
  age(app: string, block: string, mark: string): number | null;
  /** JSON text of a task for a proof of work. */
  challenge(app: string): string;
  /** Why the posted form is refused before its fields are read: a message of the service. */
  problem?: 'no_proof';
}

/** One attempt at a request; a collision with another request ends it and starts a new one. */
export interface Run {
  readonly services: AppServices;
  readonly visit: Visit;
  readonly app: App;
  readonly rights: Rights;
  readonly unit: UnitOfWork;
  /** Topics of the records read so far. */
  readonly reads: ReadonlySet<Topic>;
  /** Files that its records name. */
  readonly files: FileChanges;
  readonly budget: LogicBudget;
  readonly logs: LogEntry[];
  /** Failures shown as error marks, which do not fail the request; written to the server's log. */
  readonly failures: string[];
  /** Console entries about mistakes, for requesters who see details (`notices.ts`). */
  readonly notes: LogEntry[];
  readonly response: ResponseChanges;
  /** How many blocks are being displayed, saved or deleted inside each other. */
  readonly depth: number;
  /** Records whose `on_delete` is running; shared by all levels. */
  readonly deleting: Set<string>;
  /** How many changes of the host's content were attempted. */
  readonly changes: { count: number };
  /** Mails to send after the commit; shared by all levels. */
  readonly mails: QueuedMail[];
  /** The error that ends this attempt even if logic catches it, such as a collision. */
  readonly fatal: { error?: unknown };
  /** What its logic does, for those who develop apps; shared by all levels. */
  readonly trace: Trace;
  /** What logic has refused with `context.invalid`; shared by all levels. */
  readonly refusals: Refusals;
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

/** Maximum depth of blocks displayed, saved or deleted inside each other. */
const MAX_DEPTH = 8;

/** How `withRun` does its work. */
export interface RunOptions {
  /** The record that the work writes, if known in advance. */
  recordId?: string;
  /** Nothing that the work writes is stored: it only shows what was refused. */
  isDropped?: boolean;
}

/** Carries the result of a dropped run out of its transaction, which it rolls back. */
class Dropped {
  constructor(readonly value: unknown) {}
}

/**
 * Runs `work` as one transaction, again from the start on a collision, and writes its log to the server's log once.
 * Throws a FormRefusal where logic has refused what was sent (docs/reference/logic.md#own-validation).
 */
export async function withRun<T>(
  services: AppServices,
  visit: Visit,
  app: App,
  work: (run: Run) => Promise<T>,
  { recordId, isDropped = false }: RunOptions = {},
): Promise<Ran<T>> {
  const about = recordId === undefined ? undefined : { key: { site: visit.site.id, app: app.id }, id: recordId };
  const done = async (run: Run): Promise<T> => {
    const value = await work(run);
    if (visit.dry) endDry(run, visit.dry, isDropped);
    if (isDropped || visit.dry) throw new Dropped(value);
    return value;
  };
  try {
    for (let losses = 0; ; ) {
      try {
        return await runOnce(services, visit, app, losses, done, about);
      } catch (error) {
        // Nothing of the attempt was stored, so that it can run again, whether or not its own logic has ended the sandbox.
        if (error instanceof FilesNeeded && visit.files) await visit.files.add(error.files, error.folderOf);
        else if (isLost(error) && losses < MAX_LOSSES) losses += 1;
        else throw error;
      }
    }
  } catch (error) {
    await visit.files?.finish(new Set());
    throw error;
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
  let failed: unknown;
  try {
    const value = await services.store.transact(async (unit) => {
      const run = newRun(services, visit, app, unit, losses, last?.trace);
      last = run;
      const result = await work(run);
      if (run.fatal.error !== undefined) throw run.fatal.error;
      refuseInvalid(run);
      await storeMails(run);
      return result;
    }, about);
    await (last as unknown as Run).files.finish(services, visit);
    return ran(last as unknown as Run, value);
  } catch (error) {
    if (last && error instanceof Dropped) return ran(last, error.value as T);
    failed = error;
    // The attempt that follows writes its log again.
    if (error instanceof FilesNeeded && last) last.logs.length = 0;
    if (last) visit.failedLog = consoleOf(last);
    throw error;
  } finally {
    if (last) writeLog(last);
    // An attempt whose request runs again is no run of its own.
    if (last && !(failed instanceof FilesNeeded) && !(isLost(failed) && losses < MAX_LOSSES)) keepRun(last, failed);
  }
}

/** Ends a run whose writes are switched off as its commit would. */
function endDry(run: Run, dry: DryRun, isDropped: boolean): void {
  if (run.fatal.error !== undefined) throw run.fatal.error;
  if (!isDropped) refuseInvalid(run);
  listMails(run, dry);
}

function ran<T>(run: Run, value: T): Ran<T> {
  const { response, logs, budget } = run;
  return { value, response, logs, budget, console: consoleOf(run) };
}

function newRun(services: AppServices, visit: Visit, app: App, unit: UnitOfWork, losses: number, earlier?: Trace): Run {
  checkNames(services, app);
  const reads = new Set<Topic>();
  unit.observe(readsInto(reads));
  const files = new FileChanges();
  unit.observe(files);
  if (visit.dry) unit.observe(observeWrites(visit.dry));
  const rights = rightsOf(visit.requester, app.settings.acl);
  return {
    services,
    visit,
    app,
    rights,
    unit,
    reads,
    files,
    budget: services.logic.budget(losses),
    logs: [],
    failures: [],
    // Only managers may see the `acl` (docs/reference/json-interface.md#settings).
    notes: rights.manager || services.development ? [...namesNotes(app)] : [],
    response: { status: null, headers: {}, redirect: null },
    depth: 0,
    deleting: new Set(),
    changes: { count: 0 },
    mails: [],
    fatal: {},
    trace: newTrace(earlier),
    refusals: { isOpen: false, errors: [] },
  };
}

/** The run of a nested block in `app`, in the same attempt. LogicError above MAX_DEPTH levels. */
export function nestedRun(run: Run, app: App): Run {
  if (run.depth >= MAX_DEPTH) throw logicError(`Blocks are nested more than ${MAX_DEPTH} deep`);
  const response: ResponseChanges = { status: null, headers: {}, redirect: null };
  return { ...run, app, rights: rightsOf(run.visit.requester, app.settings.acl), depth: run.depth + 1, response };
}

function writeLog(run: Run): void {
  for (const failure of run.failures) run.services.logger.error(`[apps] ${failure}`);
  for (const entry of run.logs) {
    const source = [entry.app, entry.block].filter(Boolean).join('/');
    const { logger } = run.services;
    const write = logger[entry.level ?? 'info'] ?? logger.info;
    write.call(logger, `[apps] ${source}${entry.line === null ? '' : `:${entry.line}`} ${entry.message}`);
  }
}

/** The site and app of the run's records. */
export function keyOf(run: Run): AppKey {
  return { site: run.visit.site.id, app: run.app.id };
}

/** Whether error details may be shown: in debug mode, or to a manager (docs/errors.md#messages). */
export function showsDetails(run: Pick<Run, 'app' | 'rights'>): boolean {
  return run.app.settings.debug || run.rights.manager;
}
