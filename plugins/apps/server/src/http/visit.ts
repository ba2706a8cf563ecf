import type { Context } from 'koa';
import type { RequestBegin, Visit } from '../apps';
import { safeMethods } from '../auth';
import type { Requester } from '../auth/types';
import { AppsError, isAppsError, notFound } from '../common/errors';
import type { RequestData } from '../logic/types';
import { localeProblem } from '../sites';
import type { ContentItem, Site } from '../sites/types';
import { checkToken } from './request/csrf';
import type { HttpServices } from './request/exchange';
import { visitorOf } from './request/exchange';
import { requestData } from './request/request-data';
import { flashOf } from './response/pages';
import { takeLog } from './response/pending-log';

/**
 * The visit of a request: site, content, requester, and what it may write. CsrfError for a changing request without its
 * token, or a form of another origin; NotFoundError for content that the requester may not read; BadRequestError for a
 * locale that the site lacks.
 * @param request.isLink whether its address has the token of a signed link
 * @param request.isVerified whether the request's signature was right, so that it needs no token
 * @param request.visitor the visitor of the request, where it was looked at before
 */
export async function createVisit(
  ctx: Context,
  services: HttpServices,
  site: Site,
  contentPath: string,
  requester: Requester,
  {
    isForm,
    begin,
    isVerified = false,
    isLink = false,
    visitor = visitorOf(ctx, services, site),
  }: {
    isForm: boolean;
    begin: RequestBegin | null;
    isVerified?: boolean;
    isLink?: boolean;
    visitor?: ReturnType<typeof visitorOf>;
  },
): Promise<Visit> {
  const { csrf } = services.requesters;
  const query = new URLSearchParams(ctx.querystring);
  if (localeProblem(site, query)) {
    throw new AppsError('BadRequestError', localeProblem(site, query, await services.sites.all()) ?? '');
  }
  const safe = safeMethods.has(ctx.method);
  const staleForm =
    safe || isVerified ? undefined : checkToken(ctx, services.requesters, requester, { isForm, isLink });
  const posts = !safe && !staleForm;
  let request: RequestData | undefined;
  let signal: AbortSignal | undefined;
  let token: string | undefined;
  return {
    site,
    contentPath,
    requester,
    content: await contentOf(services, site, contentPath, requester),
    // Lazy: most answers run no logic.
    get request() {
      request ??= requestData(ctx, services.baseUrl());
      return request;
    },
    // Lazy: most requests have nothing that can be aborted.
    get signal() {
      signal ??= abortOnClose(ctx);
      return signal;
    },
    parentRequest: null,
    writes: { records: posts || hasToken(ctx, () => csrf.verify(ctx.get('X-CSRF-TOKEN'), requester)), content: posts },
    params: {},
    // Lazy: only what is stored of a sender needs it.
    get sender() {
      return services.requesters.senderName(requester, ctx.ip);
    },
    // The forms of a page share one.
    csrfToken() {
      token ??= csrf.issue(requester);
      return token;
    },
    network: () => services.requesters.senderName({ identity: '' }, ctx.ip),
    through: isForm ? 'form' : 'json',
    pendingLog: safe && services.requesters.takesCookies(ctx) ? takeLog(ctx, site) : [],
    flash: flashOf(ctx, services, site),
    // At the end: Node.js 20 takes 3 µs for each new property after a spread object.
    ...visitor,
    ...(staleForm && { staleForm }),
    ...(begin && { begin }),
    ...(isVerified && { isVerified }),
    ...(services.dry && { dry: services.dry }),
  };
}

/** A signal that aborts when the client disconnects before its answer is complete. */
function abortOnClose({ res }: Context): AbortSignal {
  const controller = new AbortController();
  const leave = () => res.writableFinished || controller.abort();
  if (res.closed) leave();
  else res.once('close', leave);
  return controller.signal;
}

/** Whether a GET carries a valid token: it may then write records (docs/reference/http.md#writing-during-get). */
function hasToken(ctx: Context, verify: () => void): boolean {
  if (ctx.get('X-CSRF-TOKEN') === '') return false;
  try {
    verify();
    return true;
  } catch (error) {
    if (isAppsError(error, 'CsrfError')) return false;
    throw error;
  }
}

async function contentOf(
  services: HttpServices,
  site: Site,
  contentPath: string,
  requester: Requester,
): Promise<ContentItem> {
  const item = await services.sites.content.resolve(site, contentPath, requester);
  if (!item) throw notFound(`There is no content at "/${contentPath}"`);
  return item;
}
