import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import { excerptOf } from '../../../../shared/positions';
import type { PageContent, PageLocale } from '../../apps';
import { BASIC_CHALLENGE } from '../../auth';
import { AppsError, errorText, isAppsError, isBlockFailure, unavailable } from '../../common/errors';
import type { Logger } from '../../common/log';
import { isBusy, isFailure, isUnavailable } from '../../database';
import { PausedError } from '../../logic';
import type { LogEntry } from '../../logic/types';
import type { HttpServices } from '../request/exchange';
import { prefersJson, wantsFragment } from '../request/negotiate';
import { bareDocument, errorContent, errorTitle, localeOfPath, visitorText } from './pages';

/** An id of a proxy or a client that is taken over: short, and nothing but what every log and page can show. */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** As Node.js names it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Where a request's state has its id, and the app that it is about. */
interface Identified {
  state: { appsRequestId?: string; appsAbout?: { site: string; app: string } };
}

/** Gives a request an id, that of its `x-request-id` where it is well-formed, and says it in the answer's. */
export function giveRequestId(ctx: Context & Identified): string {
  const given = ctx.get(REQUEST_ID_HEADER);
  const id = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.appsRequestId = id;
  ctx.set(REQUEST_ID_HEADER, id);
  return id;
}

/** What a line of the log says of the request in which it is written; undefined for one that is not at an address of the plugin. */
export const logFieldsOf = ({ state }: Identified): Record<string, string> | undefined =>
  state.appsRequestId === undefined ? undefined : { request: state.appsRequestId, ...state.appsAbout };

/** The id of a request at an address of the plugin: it is in its log lines, on its error page and in `x-request-id`. */
const requestIdOf = ({ state }: Identified): string | undefined => state.appsRequestId;

/** The readers of an error, and the form in which it is shown. */
export interface ErrorView {
  json: boolean;
  /** Debug mode or a manager: logic and definition errors are explained (docs/errors.md#messages). */
  details: boolean;
  logger: Logger;
  /** The app's folder, as messages name it. */
  folder: string | undefined;
  /** Null where all errors are JSON. */
  page: ErrorPage | null;
}

/** What the page of an error has of its request. */
interface ErrorPage {
  /** Its language. @param plain without the theme's words */
  locale(plain: boolean): Promise<PageLocale>;
  /** Address of the login page, for a visitor who lacks rights. */
  loginUrl: string | undefined;
  /** The page in the site's theme; never rejects. Null where it is bare. */
  document: ((page: PageContent) => Promise<string>) | null;
  /** The text of a file of the app, for those who see it: a page quotes the line of an error. */
  source(file: string): string | undefined;
  /** The console entries of the failed run, and the address of the script that shows them. */
  console(): Promise<{ log: LogEntry[]; script: string } | null>;
  /** HTML of a form that sends again what was posted; '' for none. */
  again(locale: PageLocale): Promise<string>;
}

/** The view of errors that are always JSON. @param details whether they are explained */
export const jsonErrors = (logger: Logger, details = false): ErrorView => ({
  json: true,
  details,
  logger,
  folder: undefined,
  page: null,
});

/** The view of an error before site and requester are known. */
export const earlyView = (ctx: Context, services: HttpServices): ErrorView => ({
  json: prefersJson(ctx),
  details: false,
  logger: services.logger,
  folder: undefined,
  page: {
    locale: () => localeOfPath(services, ctx),
    loginUrl: undefined,
    document: null,
    source: () => undefined,
    console: async () => null,
    again: async () => '',
  },
});

const neutral = 'This part of the site does not work at the moment. Its author finds the reason in the log';

/** Answers with an error in Strapi's form, or as a page. Never a stack, a path of the machine or SQL. */
export async function respondError(ctx: Context, thrown: unknown, view: ErrorView): Promise<void> {
  const error = asAppsError(thrown, view.logger);
  const explained = view.details || !isBlockFailure(error);
  if (!explained || error.status === 500 || (error.reason !== undefined && error.status !== 503))
    logFailure(ctx, error, view);
  const { subject } = error;
  const text = view.details ? errorText(error, view.folder) : errorText({ message: error.message, subject });
  const message = explained ? text : neutral;
  const details = { ...error.details, ...(view.details && error.position ? { ...error.position } : {}) };

  ctx.remove('ETag');
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  if (error.status === 401 && view.json) ctx.set('WWW-Authenticate', BASIC_CHALLENGE);
  if (view.json || !view.page) {
    ctx.type = 'application/json';
    ctx.body = { data: null, error: { status: error.status, name: error.name, message, details } };
  } else {
    ctx.type = 'text/html';
    ctx.body = await errorPage(ctx, error, { message, details }, view.page, view.details);
  }
}

async function errorPage(
  ctx: Context,
  error: AppsError,
  { message, details }: { message: string; details: object },
  page: ErrorPage,
  isExplained: boolean,
): Promise<string> {
  const { status, name, position } = error;
  const { script, log = [] } = (await page.console()) ?? {};
  const locale = await page.locale(!inTheme(ctx, status));
  const text = position && page.source(position.file);
  const content = errorContent({
    status,
    name,
    locale,
    title: errorTitle(locale, status),
    message: visitorText(locale, error, message),
    english: isExplained && locale.language !== 'en' ? message : undefined,
    excerpt: position && text !== undefined ? excerptOf(text, position) : null,
    details,
    loginUrl: page.loginUrl,
    requestId: requestIdOf(ctx),
    log,
    again: mayPass.has(status) ? await page.again(locale) : '',
  });
  if (inTheme(ctx, status) && page.document) return page.document(content);
  return bareDocument({ ...content, lang: locale.tag, ...(log.length > 0 && script ? { script } : {}) });
}

/**
 * Statuses of bare error pages: a theme may need the database or logic that a 503 or 504 is about, and refusals that save
 * work (405, 429) must not render the theme.
 */
export const bareStatuses: ReadonlySet<number> = new Set([405, 429, 503, 504]);

/** Statuses of errors after which the same form may be saved. */
const mayPass: ReadonlySet<number> = new Set([409, 429, 500, 503, 504]);

/** A fragment goes into a page that exists already. */
const inTheme = (ctx: Context, status: number): boolean =>
  !bareStatuses.has(status) && ctx.method !== 'HEAD' && !wantsFragment(ctx);

/** Temporary failures of any source become a 503; errors of other classes become neutral ones. */
function asAppsError(thrown: unknown, logger: Logger): AppsError {
  if (thrown instanceof PausedError) {
    return new AppsError('ServiceUnavailableError', 'This block is paused: its logic went over its limits too often', {
      headers: thrown.headers,
      cause: thrown,
    });
  }
  if (isAppsError(thrown)) return thrown;
  if (isUnavailable(thrown) || isBusy(thrown) || isFailure(thrown, 'collision')) {
    return unavailable('The database cannot be reached', 2, { cause: thrown });
  }
  logger.error(`[apps] ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
  return new AppsError('InternalServerError', 'Something went wrong');
}

function logFailure(ctx: Context, error: AppsError, { logger, folder }: ErrorView): void {
  logger.error(`[apps] ${ctx.method} ${ctx.path}: ${error.name} ${errorText(error, folder)}${causeOf(error, folder)}`);
}

/** The cause that a neutral message hides, for the log. */
function causeOf(error: AppsError, folder?: string): string {
  const { cause } = error;
  if (isAppsError(cause)) return ` (${errorText(cause, folder)})`;
  return cause instanceof Error ? ` (${cause.message})` : '';
}
