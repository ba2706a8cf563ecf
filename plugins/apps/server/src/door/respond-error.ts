import type { Context } from 'koa';
import { type PageContent, placedMessage } from '../apps';
import { AppsError, isAppsError } from '../errors';
import type { Logger } from '../log';
import { isPaused } from '../logic';
import type { LogEntry } from '../logic/types';
import { isUnavailable } from '../records';
import { BASIC_CHALLENGE } from '../requester';
import type { Requester } from '../requester/types';
import { wantsFragment } from './negotiate';
import { bareDocument, errorContent } from './pages';

/** How an error is shown: to whom, and in which form. */
export interface ErrorView {
  json: boolean;
  /** Debug mode or a manager: logic and definition errors are explained (contract, section 4). */
  details: boolean;
  logger: Logger;
  /** Address of the login page, for a visitor who lacks rights. */
  loginUrl?: () => string;
  /** The requester, once known. */
  requester?: Requester;
  /** The page in the site's theme, once the site is known; never rejects. */
  document?: (page: PageContent) => Promise<string>;
  /** The app's folder, as messages name it. */
  folder?: string;
  /** The console entries of the failed run, and the address of the script that shows them. */
  console?: () => { log: LogEntry[]; script: string };
}

const neutral = 'This part of the site does not work at the moment. Its author finds the reason in the log';

/** Answers with an error in Strapi's form, or as a page. Never a stack, a path of the machine or SQL. */
export async function respondError(ctx: Context, thrown: unknown, view: ErrorView): Promise<void> {
  const error = asAppsError(thrown, view.logger);
  const explained = error.name !== 'LogicError' && error.name !== 'DefinitionError' ? true : view.details;
  if (!explained || error.status === 500 || (error.reason !== undefined && error.status !== 503))
    logFailure(ctx, error, view);
  const told = view.details ? placedMessage(error, view.folder) : error.message;
  const message = explained ? told : neutral;
  const details = { ...error.details, ...(view.details && error.position ? { ...error.position } : {}) };

  ctx.remove('ETag');
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  if (error.status === 401 && view.json) ctx.set('WWW-Authenticate', BASIC_CHALLENGE);
  if (view.json) {
    ctx.type = 'application/json';
    ctx.body = { data: null, error: { status: error.status, name: error.name, message, details } };
  } else {
    const { status, name } = error;
    ctx.type = 'text/html';
    const { script, log = [] } = view.console?.() ?? {};
    const page = errorContent({ status, name, message, details, loginUrl: view.loginUrl?.(), log });
    if (inTheme(ctx, status) && view.document) ctx.body = await view.document(page);
    else ctx.body = bareDocument({ ...page, ...(log.length > 0 && script ? { script } : {}) });
  }
}

/**
 * Errors that are bare pages: the theme needs what a 503 or 504 is about, and what refuses work to save it (405, 429) must
 * not cost a page of the theme.
 */
export const bareStatuses: ReadonlySet<number> = new Set([405, 429, 503, 504]);

/** A fragment is put into a page that is there already. */
const inTheme = (ctx: Context, status: number): boolean =>
  !bareStatuses.has(status) && ctx.method !== 'HEAD' && !wantsFragment(ctx);

/** What is passing is a 503, whoever says it; errors of other makers become neutral ones. */
function asAppsError(thrown: unknown, logger: Logger): AppsError {
  if (isPaused(thrown)) {
    return new AppsError('ServiceUnavailableError', 'This block is paused: its logic went over its limits too often', {
      headers: thrown.headers,
      cause: thrown,
    });
  }
  if (isAppsError(thrown)) return thrown;
  if (isUnavailable(thrown) || isBusy(thrown)) {
    return new AppsError('ServiceUnavailableError', 'The database cannot be reached', {
      headers: { 'Retry-After': '2' },
      cause: thrown,
    });
  }
  logger.error(`[apps] ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
  return new AppsError('InternalServerError', 'Something went wrong');
}

/** SQLite's way of saying that another process is writing: a matter of waiting, too. */
function isBusy(thrown: unknown): boolean {
  return String((thrown as { code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');
}

function logFailure(ctx: Context, error: AppsError, { logger, folder }: ErrorView): void {
  logger.error(`[apps] ${ctx.method} ${ctx.path}: ${error.name} ${placedMessage(error, folder)}${causeOf(error)}`);
}

/** What a neutral message hides, for the log. */
function causeOf(error: AppsError): string {
  return error.cause instanceof Error ? ` (${error.cause.message})` : '';
}
