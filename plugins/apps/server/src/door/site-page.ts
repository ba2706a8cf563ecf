import type { Context } from 'koa';
import { contentHtml, embeddingPage, folderOf, LIVE_VIEW, showsDetails, themedPage, type Visit } from '../apps';
import { AppsError } from '../errors';
import { rightsOf } from '../requester';
import type { Requester } from '../requester/types';
import type { Address, Site } from '../sites/types';
import { checkBody } from './body';
import type { DoorServices } from './exchange';
import { prefersJson, requireAccept } from './negotiate';
import { postBlock, showBlock } from './page-handlers';
import { checkRawBody } from './raw-body';
import type { ErrorView } from './respond-error';
import { answerLive } from './site-live';
import { answerPage } from './site-response';
import { viewsOf } from './views';

type SiteAddress = Extract<Address, { kind: 'page' | 'view' }>;
type ViewAddress = Extract<Address, { kind: 'view' }>;

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
  if (!takesMethod(ctx, address.kind)) return;
  const requester = await services.requesters.identify(ctx);
  view.requester = requester;
  view.details = requester.isManager || !services.production;
  if (address.kind === 'view') return answerView(request, address, requester);
  await showContent(request, await request.createVisit(address.content, requester));
}

/** Pages of the site can only be read, views take forms too: OPTIONS is answered here, other methods are refused. */
function takesMethod(ctx: Context, kind: SiteAddress['kind']): boolean {
  const methods = kind === 'view' ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  if (methods.includes(ctx.method)) return true;
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  if (ctx.method !== 'OPTIONS') {
    const message = kind === 'view' ? `${ctx.method} is not allowed here` : 'This page can only be read';
    throw new AppsError('MethodNotAllowedError', message, { headers });
  }
  ctx.set(headers);
  ctx.status = 204;
  return false;
}

async function showContent({ ctx, services, site }: SiteRequest, visit: Visit): Promise<void> {
  requireAccept(ctx, false);
  const counted = countTokens(visit);
  const page = embeddingPage(services, counted.visit);
  const theme = await services.sites.theme(site);
  const main = await contentHtml(page, theme);
  const body = await themedPage(page, theme, { title: visit.content.title, main });
  answerPage(ctx, { body, requester: visit.requester, carriesToken: counted.tokens() > 0 });
}

/** A block that is declared as the view: its page, and the form that it posts to the same address. */
async function answerView(request: SiteRequest, address: ViewAddress, requester: Requester): Promise<void> {
  const { ctx, services, site, view } = request;
  const { bodySize } = services.config.limits;
  const posts = ctx.method === 'POST';
  if (posts) {
    checkBody(ctx, bodySize);
    await checkRawBody(ctx, bodySize);
  }
  const visit = { ...(await request.createVisit(address.content, requester)), view: address.view };
  const owner = (await viewsOf(services, site)).get(address.view);
  if (!owner) throw new AppsError('NotFoundError', `There is no view "${address.view}" in this site`);
  requireAccept(ctx, posts && view.json);
  const { app, block } = owner;
  const rights = rightsOf(requester, app.settings.acl);
  view.details = showsDetails({ app, rights });
  view.folder = folderOf(services, app.id);
  view.console = () => ({ log: visit.failedLog ?? [], script: `${site.url}/@@apps.js` });
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  const target = { kind: 'block', block: block.id } as const;
  const exchange = { ctx, services, site, app, requester, rights, visit, target, json: posts && view.json };
  await (posts ? postBlock(exchange) : showBlock(exchange));
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
