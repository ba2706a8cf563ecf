import type { Items, Json } from '../../../../shared/json';
import { rightsOf } from '../../auth';
import { AppsError, definitionError, errorText, isAppsError, missing, notFound } from '../../common/errors';
import { type Awaitable, isPromise, orNull, whenAll } from '../../common/time/awaitable';
import type { Markup } from '../../layouts';
import type { LogEntry, RequestData } from '../../logic/types';
import { isId, localeProblem } from '../../sites';
import { createSemaphore } from '../../workers';
import { withSession } from '../blocks/block-session';
import { localeFor, type PageLocale } from '../locales';
import { failureMark, folderOf, showsDetails } from '../run/diagnostics/failures';
import { originalOf } from '../run/observed';
import { type Settle, withRun } from '../run/run';
import type { AppServices, Run, Visit } from '../run/types';
import { localeOf, permittedBlock } from '../run/visits';
import type { App } from '../types';
import { shownBlock } from './embed-cache';
import type { CacheState } from './exact';

/** A reference to a block that a page embeds. */
export interface BlockReference {
  app: string;
  block: string;
  /** Query string of the included request, without `?`. */
  query: string;
}

const REFERENCE = /^(?:\/?@@apps\/)?([^/?#]+)\/blocks\/([^/?#]+)(?:\?([^#]{0,2000}))?$/;

/**
 * Parses `<app_id>/blocks/<block_id>`, the form of tiles and the tag `block`, or
 * `/@@apps/<app_id>/blocks/<block_id>`, the form of rules (docs/reference/embedding.md#tags-and-tiles); a query string may
 * follow. Null for anything else.
 */
export function blockReference(text: string): BlockReference | null {
  const [, app = '', block = '', query = ''] = REFERENCE.exec(text.trim()) ?? [];
  return isId(app) && isId(block) ? { app, block, query } : null;
}

/** A page of the site during its rendering: embeds blocks, within one budget for all logic of the page. */
export interface EmbeddingPage {
  readonly visit: Visit;
  readonly services: AppServices;
  readonly markup: Markup;
  /** A block's form, balanced, and its console entries. AppsError when it cannot be shown; '' when its logic redirects. */
  include(reference: BlockReference): Promise<Included>;
  /** The HTML instead of a failed block, for requesters who see details; else ''. */
  explanation(reference: BlockReference, error: unknown): Promise<string>;
  /**
   * The HTML of a block for tiles and the tag `block`. Never rejects: a failure becomes an error mark, a block that the
   * requester may not use ''.
   */
  tile(reference: string): Promise<string>;
  /** Logs why something is missing in the page. */
  report(what: string, error: unknown): void;
  /** Whether an app of one of its blocks is in debug mode. */
  isDebugged(): boolean;
  /** The blocks that were shown, in the order in which they were ready. */
  readonly shown: readonly ShownInPage[];
  /** Whether the page explains mistakes in the theme. */
  readonly explains: boolean;
  /** Console entries about the theme, shown if `explains` is true. */
  readonly notes: LogEntry[];
  /** Console entries about failed blocks that are explained. */
  readonly failures: readonly LogEntry[];
}

/** Where the rendering of a block of a page comes from, and the milliseconds that it has taken. */
export interface ShownInPage {
  app: string;
  block: string;
  cache: CacheState;
  milliseconds: number;
}

/** An embedded block. */
interface Included {
  html: string;
  isForm: boolean;
  console: LogEntry[];
}

const noFiles = new Map<string, never>();

/** Maximum blocks of a page that are rendered concurrently. */
const MAX_CONCURRENT = 4;

/** Maximum characters of all blocks of a page together. */
const MAX_CHARACTERS = 20_000_000;

/**
 * Begins a page.
 * @param visit the page's own request, requester and content
 * @param budget for all logic of the page; a new one by default
 */
export function embeddingPage(services: AppServices, visit: Visit, budget = services.logic.budget()): EmbeddingPage {
  const markup = services.markup();
  let characters = 0;
  let isDebugged = false;
  const allShown: ShownInPage[] = [];

  const semaphore = createSemaphore({ permits: MAX_CONCURRENT });

  const failedLogs = new WeakMap<BlockReference, LogEntry[]>();

  const include = (reference: BlockReference): Promise<Included> =>
    semaphore.run(async () => {
      const problem = localeProblem(visit.site, new URLSearchParams(reference.query));
      if (problem) throw new AppsError('BadRequestError', problem);
      const loading = loadedApp(services, visit, reference);
      const app = isPromise(loading) ? await loading : loading;
      isDebugged ||= app.settings.debug;
      const own = visit.forBlock(app.id, includedRequest(services, visit, reference), budget);
      const begun = performance.now();
      const balanced = (whole: string) => markup.balanced(whole);
      const shown = await shownBlock(services, own, app, reference.block, balanced).catch((error) => {
        visit.inputs?.refuse(isRefusal(error) ? 'requester' : 'failed');
        if (own.failedLog) failedLogs.set(reference, own.failedLog);
        throw error;
      });
      const milliseconds = performance.now() - begun;
      allShown.push({ app: app.id, block: reference.block, cache: shown.cache, milliseconds });
      const { html, isForm } = 'html' in shown.value ? shown.value : { html: '', isForm: false };
      characters += html.length;
      if (characters <= MAX_CHARACTERS) return { html, isForm, console: shown.console };
      throw definitionError(`The blocks of a page have at most ${MAX_CHARACTERS} characters`);
    });

  const failures: LogEntry[] = [];

  /** The console entries of a failed block, including the failure itself. */
  function noteFailure(reference: BlockReference, error: unknown): void {
    failures.push(...(failedLogs.get(reference) ?? []));
    if (!isAppsError(error)) return;
    const message = `${error.name} ${errorText(error, folderOf(services, reference.app))}`;
    failures.push({ app: reference.app, block: reference.block, line: null, message });
  }

  /** The language of the mark of a block: that of its app, else that of the page. */
  async function markLocale(reference: BlockReference | null): Promise<PageLocale> {
    const app = reference && (await orNull(() => services.loadApp(visit.site, reference.app)));
    return app ? localeOf({ visit, app }) : localeFor(visit.site, noFiles);
  }

  async function explanation(reference: BlockReference, error: unknown): Promise<string> {
    if (!(await explains(services, visit, reference))) return '';
    noteFailure(reference, error);
    return failureMark(await markLocale(reference), error, true, folderOf(services, reference.app));
  }

  function report(what: string, error: unknown): void {
    visit.inputs?.refuse('failed');
    const text = isAppsError(error) ? `${error.name} ${errorText(error)}` : String((error as Error)?.stack ?? error);
    services.logger.error(`[apps] ${what} in ${visit.request.path}: ${text}`);
  }

  async function tile(text: string): Promise<string> {
    const reference = blockReference(text);
    try {
      if (!reference) throw definitionError(`"${text}" is not a block such as rating/blocks/rate`);
      return (await include(reference)).html;
    } catch (error) {
      if (isRefusal(error)) return '';
      report(`The block "${text}"`, error);
      const explained = reference ? await explanation(reference, error) : '';
      if (explained !== '') return explained;
      return failureMark(await markLocale(reference), error, reference === null && visit.requester.isManager);
    }
  }

  const isExplained = visit.requester.isManager || services.development === true;
  return {
    visit,
    services,
    markup,
    include,
    explanation,
    tile,
    report,
    isDebugged: () => isDebugged,
    shown: allShown,
    explains: isExplained,
    notes: [],
    failures,
  };
}

const loadedApp = (services: AppServices, visit: Visit, { app: id }: BlockReference): Awaitable<App> =>
  whenAll([services.loadApp(visit.site, id)], ([app]) => {
    if (!app) throw notFound(missing.app(id));
    return app;
  });

/** The request of an embedded block. */
function includedRequest({ sites }: AppServices, page: Visit, { app, block, query }: BlockReference): RequestData {
  const address = new URL(sites.urls.block(page.site, app, block, page.contentPath));
  address.search = query;
  return {
    method: 'GET',
    url: address.href,
    path: address.pathname,
    query: queryOf(address.searchParams),
    form: {},
    body: null,
    headers: originalOf(page.request).headers,
  };
}

function queryOf(parameters: URLSearchParams): Items {
  const query: Items = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    if (name !== '__proto__') query[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return query;
}

/** Whether the requester may not use the block, so that the page omits it without an error mark. */
export const isRefusal = (error: unknown): boolean =>
  isAppsError(error, 'UnauthorizedError') || isAppsError(error, 'ForbiddenError');

/** Whether a failure is explained in the page: in debug mode, or to a manager (docs/errors.md#messages). */
async function explains(
  services: AppServices,
  { site, requester }: Visit,
  { app: id }: BlockReference,
): Promise<boolean> {
  const app = await orNull(() => services.loadApp(site, id));
  return app ? showsDetails({ app, rights: rightsOf(requester, app.settings.acl) }) : requester.isManager;
}

/** A call of a function that does not exist, or whose block or app does not. */
export class UnknownFunction extends AppsError {
  constructor(message: string) {
    super('NotFoundError', message);
  }
}

/**
 * Runs any function of a block's logic, for calls from code and rules on events (docs/reference/events.md#calls-from-code),
 * and commits its writes. NotFoundError for an unknown block or function; 401 or 403 where the block's
 * `view_permission` does not name the visit's requester.
 * @param settle is written in the transaction of its work, if it writes anything
 */
export async function callFunction(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; name: string },
  settle?: Settle,
): Promise<Json> {
  const work = async (run: Run) => {
    const block = permittedBlock(run, target.block);
    return withSession(run, block, null, async (session) => {
      if (!session.has(target.name)) {
        throw new UnknownFunction(`The block "${block.id}" has no function "${target.name}"`);
      }
      return (await session.run([target.name])).get(target.name) ?? null;
    });
  };
  const done = await withRun(services, visit, app, work, settle ? { settle } : {});
  return done.value;
}

/**
 * Sorted names of the functions that `callFunction` can run in a block. Loads the block's logic and runs none of them.
 * Errors as of `callFunction`, and LogicError when the file does not load.
 */
export async function functionNames(
  services: AppServices,
  visit: Visit,
  app: App,
  block: string,
): Promise<readonly string[]> {
  const done = await withRun(services, visit, app, (run) =>
    withSession(run, permittedBlock(run, block), null, async ({ functions }) => [...functions].sort()),
  );
  return done.value;
}
