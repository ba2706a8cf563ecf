import type { Items } from '../../../shared/json';
import { AppsError, isAppsError } from '../errors';
import type { Markup } from '../layouts';
import type { LogEntry, LogicBudget, RequestData } from '../logic/types';
import { rightsOf } from '../requester';
import { localeProblem } from '../sites';
import { shownBlock } from './embed-cache';
import { type BlockReference, blockReference } from './embed-reference';
import { failureMark, folderOf, placedMessage } from './error-mark';
import { type AppServices, showsDetails, type Visit } from './run';
import type { App } from './types';

/** A page of the site while it is being made: what may be embedded in it, within one budget for all logic of the page. */
export interface EmbeddingPage {
  readonly visit: Visit;
  readonly services: AppServices;
  readonly markup: Markup;
  /** A block's form, balanced, and its console entries. AppsError when it cannot be shown; '' when its logic redirects. */
  include(reference: BlockReference): Promise<Included>;
  /** The HTML shown instead of a failed block, for requesters who see details; else ''. */
  explanation(reference: BlockReference, error: unknown): Promise<string>;
  /**
   * The same for tiles and the tag `block`, which a failure never leaves: what failed is marked in its place, what the
   * requester may not use is left out.
   */
  tile(reference: string): Promise<string>;
  /** Tells the server's log why something is missing in the page. */
  report(what: string, error: unknown): void;
  /** Whether mistakes in the theme are explained in the page. */
  readonly explains: boolean;
  /** Console entries about the theme, shown if `explains` is true. */
  readonly notes: LogEntry[];
  /** Console entries about failed blocks, as far as they are explained. */
  readonly failures: readonly LogEntry[];
}

/** A block that is put into a page. */
export interface Included {
  html: string;
  console: LogEntry[];
}

/** Blocks of a page that are made at the same time: while one waits for its logic, others go on. */
const AT_ONCE = 4;

/** Characters of all blocks of a page together. */
const MAX_CHARACTERS = 20_000_000;

/** Lets so many works run at once; the others wait for their turn. */
function turns(places: number) {
  const waiting: (() => void)[] = [];
  let free = places;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((next) => waiting.push(next));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/**
 * Begins a page. @param visit the page's own request, requester and content
 * @param budget for all logic of the page; a new one by default
 */
export function embeddingPage(services: AppServices, visit: Visit, budget = services.logic.budget()): EmbeddingPage {
  const sharing = sharingBudget(services, budget);
  const markup = services.markup();
  let characters = 0;

  const inTurn = turns(AT_ONCE);

  const failedLogs = new WeakMap<BlockReference, LogEntry[]>();

  const include = (reference: BlockReference): Promise<Included> =>
    inTurn(async () => {
      const problem = localeProblem(visit.site, new URLSearchParams(reference.query));
      if (problem) throw new AppsError('BadRequestError', problem);
      const app = await loadedApp(sharing, visit, reference);
      const own = includedVisit(sharing, visit, reference);
      const shown = await shownBlock(sharing, own, app, reference.block).catch((error) => {
        if (own.failedLog) failedLogs.set(reference, own.failedLog);
        throw error;
      });
      const html = 'html' in shown.value ? await markup.balanced(shown.value.html) : '';
      characters += html.length;
      if (characters <= MAX_CHARACTERS) return { html, console: shown.console };
      throw new AppsError('DefinitionError', `The blocks of a page have at most ${MAX_CHARACTERS} characters`);
    });

  const failures: LogEntry[] = [];

  /** The console entries of a failed block, including the failure itself. */
  function noteFailure(reference: BlockReference, error: unknown): void {
    failures.push(...(failedLogs.get(reference) ?? []));
    if (!isAppsError(error)) return;
    const message = `${error.name} ${placedMessage(error, folderOf(services, reference.app))}`;
    failures.push({ app: reference.app, block: reference.block, line: null, message });
  }

  async function explanation(reference: BlockReference, error: unknown): Promise<string> {
    if (!(await explains(services, visit, reference))) return '';
    noteFailure(reference, error);
    return failureMark(error, true, folderOf(services, reference.app));
  }

  function report(what: string, error: unknown): void {
    const text = isAppsError(error)
      ? `${error.name} ${placedMessage(error)}`
      : String((error as Error)?.stack ?? error);
    services.logger.error(`[apps] ${what} in ${visit.request.path}: ${text}`);
  }

  async function tile(text: string): Promise<string> {
    const reference = blockReference(text);
    try {
      if (!reference) throw new AppsError('DefinitionError', `"${text}" is not a block such as rating/blocks/rate`);
      return (await include(reference)).html;
    } catch (error) {
      if (isRefusal(error)) return '';
      report(`The block "${text}"`, error);
      const explained = reference ? await explanation(reference, error) : '';
      return explained || failureMark(error, reference === null && visit.requester.isManager);
    }
  }

  const isExplained = visit.requester.isManager || services.development === true;
  return {
    visit,
    services: sharing,
    markup,
    include,
    explanation,
    tile,
    report,
    explains: isExplained,
    notes: [],
    failures,
  };
}

/** The same services, whose logic has one budget for the whole page (contract, section 8). */
function sharingBudget(services: AppServices, budget: LogicBudget): AppServices {
  return { ...services, logic: { ...services.logic, budget: () => budget } };
}

async function loadedApp(services: AppServices, visit: Visit, { app: id }: BlockReference): Promise<App> {
  const app = await services.loadApp(visit.site, id);
  if (!app) throw new AppsError('NotFoundError', `There is no app "${id}" in this site`);
  return app;
}

/** The included request: the page's requester and content, a GET of the block, the page's request as its parent. */
function includedVisit({ sites }: AppServices, page: Visit, { app, block, query }: BlockReference): Visit {
  const address = new URL(sites.urls.block(page.site, app, block, page.contentPath));
  address.search = query;
  const { headers } = page.request;
  const request: RequestData = {
    method: 'GET',
    url: address.href,
    path: address.pathname,
    query: queryOf(address.searchParams),
    form: {},
    body: null,
    headers,
  };
  const { view, ...visit } = page;
  return { ...visit, request, parentRequest: page.request, pendingLog: takePending(page, app) };
}

function queryOf(parameters: URLSearchParams): Items {
  const query: Items = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    if (name !== '__proto__') query[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return query;
}

/** An app's entries of the log that came along with the redirect to this page: its first block shows them. */
export function takePending(page: Visit, app: string): Visit['pendingLog'] {
  const own = page.pendingLog.filter((entry) => entry.app === app);
  page.pendingLog = page.pendingLog.filter((entry) => entry.app !== app);
  return own;
}

/** What the requester may not use is no failure: it is left out. */
export const isRefusal = (error: unknown): boolean =>
  isAppsError(error, 'UnauthorizedError') || isAppsError(error, 'ForbiddenError');

/** Whether a failure is explained in the page: in debug mode, or to a manager (contract, section 4). */
async function explains(
  services: AppServices,
  { site, requester }: Visit,
  { app: id }: BlockReference,
): Promise<boolean> {
  const app = await services.loadApp(site, id).catch(() => null);
  return app ? showsDetails({ app, rights: rightsOf(requester, app.settings.acl) }) : requester.isManager;
}
