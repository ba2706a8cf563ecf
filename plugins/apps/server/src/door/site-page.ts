import type { Context } from 'koa';
import {
  contentHtml,
  type EmbeddingPage,
  embeddingPage,
  escapeHtml,
  folderOf,
  LIVE_VIEW,
  shownBlock,
  showsDetails,
  takePending,
  themedPage,
  type Visit,
} from '../apps';
import { AppsError, isAppsError } from '../errors';
import { rightsOf } from '../requester';
import type { Requester } from '../requester/types';
import type { Address, Site } from '../sites/types';
import type { DoorServices, Exchange } from './exchange';
import { applyLogicResponse } from './logic-response';
import { prefersJson, requireAccept, wantsFragment } from './negotiate';
import { showBlock } from './page-handlers';
import type { ErrorView } from './respond-error';
import { answerLive } from './site-live';
import { answerPage } from './site-response';
import { viewsOf } from './views';

type SiteAddress = Extract<Address, { kind: 'page' | 'view' }>;

/** A request for a page of the site or a view. */
export interface SiteRequest {
  ctx: Context;
  services: DoorServices;
  site: Site;
  view: ErrorView;
  /** NotFoundError for content that the requester may not read. */
  createVisit(contentPath: string, requester: Requester): Promise<Visit>;
}

/** `/<site_id>/`, `/<site_id>/<content path>` and `…/@@<view id>` (contract, section 10). */
export async function answerSite(request: SiteRequest, address: SiteAddress): Promise<void> {
  const { ctx, services, view } = request;
  view.json = prefersJson(ctx);
  if (address.kind === 'view' && address.view === LIVE_VIEW) return answerLive(ctx, services.live);
  if (!isRead(ctx)) return;
  const requester = await services.requesters.identify(ctx);
  view.details = requester.isManager || !services.production;
  try {
    const visit = await request.createVisit(address.content, requester);
    if (address.kind === 'view') await showView(request, visit, address.view);
    else await showContent(request, visit);
  } catch (error) {
    if (!isAppsError(error, 'NotFoundError') || view.json || wantsFragment(ctx)) throw error;
    await showMissing(request, requester, error).catch(() => {
      throw error;
    });
  }
}

/** What is not there is told in the theme, so that visitors find their way on. */
async function showMissing(request: SiteRequest, requester: Requester, error: AppsError): Promise<void> {
  const { ctx, services, site } = request;
  const counted = countTokens(await request.createVisit('', requester));
  const main = `<h1>Not found</h1>\n<p>${escapeHtml(error.message)}</p>`;
  const body = await themedPage(embeddingPage(services, counted.visit), await services.sites.theme(site), main);
  answerPage(ctx, { body, requester, carriesToken: counted.tokens() > 0, status: 404 });
}

/** Pages can only be read: OPTIONS is answered here, other methods are refused. */
function isRead(ctx: Context): boolean {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return true;
  const headers = { Allow: 'GET, HEAD, OPTIONS' };
  if (ctx.method !== 'OPTIONS') throw new AppsError('MethodNotAllowedError', 'This page can only be read', { headers });
  ctx.set(headers);
  ctx.status = 204;
  return false;
}

async function showContent({ ctx, services, site }: SiteRequest, visit: Visit): Promise<void> {
  requireAccept(ctx, false);
  const counted = countTokens(visit);
  const page = embeddingPage(services, counted.visit);
  const theme = await services.sites.theme(site);
  const body = await themedPage(page, theme, await contentHtml(page, theme));
  answerPage(ctx, { body, requester: visit.requester, carriesToken: counted.tokens() > 0 });
}

/** A block that is declared as the view; inside the theme where it says so, else as its bare page. */
async function showView(request: SiteRequest, visit: Visit, viewId: string): Promise<void> {
  const { ctx, services, site, view } = request;
  const { requester } = visit;
  const owner = (await viewsOf(services, site)).get(viewId);
  if (!owner) throw new AppsError('NotFoundError', `There is no view "${viewId}" in this site`);
  requireAccept(ctx, false);
  const { app, block } = owner;
  const rights = rightsOf(requester, app.settings.acl);
  view.details = showsDetails({ app, rights });
  view.folder = folderOf(services, app.id);
  view.console = () => ({ log: visit.failedLog ?? [], script: `${site.url}/@@apps.js` });
  const target = { kind: 'block', block: block.id } as const;
  const exchange = { ctx, services, site, app, requester, rights, visit, target, json: false };
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  if (!block.definition.view?.withTheme || wantsFragment(ctx)) return showBlock(exchange);
  await showInTheme(exchange, block.id);
}

async function showInTheme(exchange: Exchange, blockId: string): Promise<void> {
  const { ctx, services, site, app, visit } = exchange;
  const counted = countTokens(visit);
  const page: EmbeddingPage = embeddingPage(services, counted.visit);
  const own: Visit = { ...counted.visit, pendingLog: takePending(counted.visit, app.id) };
  const done = await shownBlock(page.services, own, app, blockId).catch((error) => {
    visit.failedLog = own.failedLog;
    throw error;
  });
  if ('html' in done.value) {
    const body = await themedPage(page, await services.sites.theme(site), done.value.html);
    answerPage(ctx, { body, requester: visit.requester, carriesToken: counted.tokens() > 0 });
  } else {
    done.response.redirect = done.value.redirect;
  }
  applyLogicResponse(exchange, done);
}

/** The same visit, which tells how many CSRF tokens it has given out. */
function countTokens(visit: Visit): { visit: Visit; tokens(): number } {
  let tokens = 0;
  const csrfToken = () => {
    tokens += 1;
    return visit.csrfToken();
  };
  return { visit: { ...visit, csrfToken }, tokens: () => tokens };
}
