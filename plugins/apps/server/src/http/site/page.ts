import type { Context } from 'koa';
import { contentPage, LIVE_VIEW, ownerOf, type RequestBegin, scriptUrl, type Visit } from '../../apps';
import { rightsOf } from '../../auth';
import type { Requester } from '../../auth/types';
import { contentVersion } from '../../common/content-version';
import { methodNotAllowed, notFound } from '../../common/errors';
import type { RequestFiles } from '../../files';
import type { Address, Site } from '../../sites/types';
import { showBlock, type ViewOwner, viewsOf } from '../app/page-handlers';
import { postBlock } from '../app/posted-forms';
import { type HttpServices, visitorOf } from '../request/exchange';
import { prefersJson, requireAccept } from '../request/negotiate';
import { isPageForm } from '../request/page-form';
import { readBody } from '../request/read-body';
import { beginReading } from '../request/request-data';
import { answerUnchanged, CACHE_HEADER } from '../response/logic-response';
import { type ErrorView, explainApp } from '../response/respond-error';
import { answerLive } from './live';
import { formRequester } from './login-in-place';

interface FinishedPage {
  body: string;
  /** Of the body, if it is known. */
  version: string | null;
  requester: Requester;
  /** The page is this visitor's alone: it has a form, and with it their CSRF token, or a message that is shown once. */
  isOwn: boolean;
  /** Seconds for which a proxy may keep it. */
  sharedAge: number | null;
}

/**
 * Answers with a page of the site. No cache keeps a page of one visitor (docs/reference/http.md#caching); any other has
 * an ETag, and caches revalidate it each time, because rights and content may change, unless the theme allows proxies to keep it.
 */
function answerPage(ctx: Context, { body, version, requester, isOwn, sharedAge }: FinishedPage): void {
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  ctx.status = 200;
  ctx.type = 'text/html';
  if (isOwn) {
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = body;
    return;
  }
  const tag = `"${version ?? contentVersion(body)}"`;
  const isPublic = requester.kind === 'anonymous' && ctx.response.get('Set-Cookie') === '';
  const shared = sharedAge === null ? 'public, no-cache' : `public, max-age=0, s-maxage=${sharedAge}`;
  ctx.set('Cache-Control', isPublic ? shared : 'private, no-cache');
  if (!answerUnchanged(ctx, tag)) ctx.body = body;
}

type SiteAddress = Extract<Address, { kind: 'page' | 'view' }>;
type ViewAddress = Extract<Address, { kind: 'view' }>;

/** A request for a page of the site or a view. */
export interface SiteRequest {
  ctx: Context;
  services: HttpServices;
  site: Site;
  view: ErrorView;
  /** NotFoundError for content that the requester may not read. */
  createVisit(contentPath: string, requester: Requester, begin: RequestBegin | null): Promise<Visit>;
}

/** Answers `/<site_id>/`, `/<site_id>/<content path>` and `…/@@<view id>` (docs/reference/site.md#pages). */
export async function answerSite(request: SiteRequest, address: SiteAddress): Promise<void> {
  const { ctx, services, site, view } = request;
  view.json = prefersJson(ctx);
  if (address.kind === 'view' && address.view === LIVE_VIEW) return answerLive(ctx, services.live);
  if (!takesMethod(ctx, address.kind)) return;
  const isForm = address.kind === 'view' && isPageForm(ctx, 'block', view.json);
  const begin = await beginReading(ctx, services);
  const requester = await (isForm ? formRequester(ctx, services, site, view) : services.requesters.identify(ctx));
  view.requester = requester;
  view.details = requester.isManager || !services.production;
  if (address.kind === 'view') return answerView(request, address, requester, begin);
  await showContent(request, await request.createVisit(address.content, requester, begin));
}

/** Pages of the site can only be read, views take forms too: OPTIONS is answered here, other methods are refused. */
function takesMethod(ctx: Context, kind: SiteAddress['kind']): boolean {
  const methods = kind === 'view' ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  if (methods.includes(ctx.method)) return true;
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  if (ctx.method !== 'OPTIONS') {
    const message = kind === 'view' ? `${ctx.method} is not allowed here` : 'This page can only be read';
    throw methodNotAllowed(headers.Allow, message);
  }
  ctx.set(headers);
  ctx.status = 204;
  return false;
}

async function showContent({ ctx, services }: SiteRequest, visit: Visit): Promise<void> {
  requireAccept(ctx, false);
  const counted = countTokens(visit);
  const { body, version, cache, isDebugged, sharedAge } = await contentPage(services, counted.visit);
  if (isDebugged) ctx.set(CACHE_HEADER, cache);
  const isOwn = counted.tokens() > 0 || visit.flash?.isTaken === true;
  answerPage(ctx, { body, version, requester: visit.requester, isOwn, sharedAge });
}

/** A block that is declared as the view: its page, and the form that it posts to the same address. */
async function answerView(
  request: SiteRequest,
  address: ViewAddress,
  requester: Requester,
  begin: RequestBegin | null,
): Promise<void> {
  const { ctx, services, site, view } = request;
  const posts = ctx.method === 'POST';
  const owner = (await viewsOf(services, site)).get(address.view);
  const files = posts ? await readViewBody(request, owner, requester) : undefined;
  const visit = { ...(await request.createVisit(address.content, requester, begin)), view: address.view, files };
  if (!owner) throw notFound(`There is no view "${address.view}" in this site`);
  requireAccept(ctx, posts && view.json);
  const { app, block } = owner;
  const rights = rightsOf(requester, app.settings.acl, () => ownerOf(visit, app.settings));
  explainApp(view, services, { app, rights });
  view.console = async () => ({ log: visit.failedLog ?? [], script: await scriptUrl(services, site) });
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  const target = { kind: 'block', block: block.id } as const;
  const exchange = { ctx, services, site, app, requester, rights, visit, target, json: posts && view.json };
  await (posts ? postBlock(exchange) : showBlock(exchange));
}

/** Reads the body of a form that a view takes; with the files that its block takes. */
function readViewBody(
  { ctx, services, site, view }: SiteRequest,
  shown: ViewOwner | undefined,
  requester: Requester,
): Promise<RequestFiles> {
  const app = shown?.app ?? null;
  const { visitor } = visitorOf(ctx, services, site);
  const owner = () => ownerOf({ requester, site, visitor }, app?.settings ?? { visitor: false });
  const rights = rightsOf(requester, app?.settings.acl ?? null, owner);
  const target = shown && ({ kind: 'block', block: shown.block.id } as const);
  const isForm = isPageForm(ctx, 'block', view.json);
  return readBody({ ctx, services, site, app, requester, owner, rights, isForm }, target);
}

/** A copy of the visit that counts the CSRF tokens it issues. */
function countTokens(visit: Visit): { visit: Visit; tokens(): number } {
  let tokens = 0;
  const csrfToken = () => {
    tokens += 1;
    return visit.csrfToken();
  };
  return { visit: { ...visit, csrfToken }, tokens: () => tokens };
}
