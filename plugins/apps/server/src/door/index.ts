import type { Context, Middleware, Next } from 'koa';
import { showsDetails, type Visit } from '../apps';
import { AppsError, isAppsError } from '../errors';
import type { RequestData } from '../logic/types';
import { rightsOf } from '../requester';
import type { Requester } from '../requester/types';
import type { Address, ContentItem, Site } from '../sites/types';
import { requireRead, sendFile } from './assets';
import { checkBody } from './body';
import { csrfOf } from './csrf';
import type { DoorServices, Exchange } from './exchange';
import { login, logout, requireLoginMethod } from './login';
import { isJsonRequest, prefersJson, requireAccept } from './negotiate';
import { createOwnOrigin } from './own-origin';
import { takeLog } from './pending-log';
import { requestData } from './request-data';
import { type ErrorView, respondError } from './respond-error';
import { allowedMethods, routeOf } from './routes';
import { answerSite } from './site-page';

export { adminInterface } from './admin';
export { createBaseUrl } from './base-url';
export { createErrorForm } from './error-form';
export type { DoorServices } from './exchange';

type AddressOf<Kind extends Address['kind']> = Extract<Address, { kind: Kind }>;

/** Methods that change nothing unless logic does: they carry no CSRF token (contract, section 5). */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The plugin's one Koa middleware: answers its addresses, and passes on every other request. It reads the raw path,
 * for a router's decoded parameters lose the difference between `/` and `%2F`.
 * @param scriptFile absolute path of the browser script
 */
export function createDoor(services: DoorServices, scriptFile: string): Middleware {
  const allowOwnOrigin = createOwnOrigin(services.baseUrl);
  return async (ctx: Context, next: Next) => {
    const view: ErrorView = { json: prefersJson(ctx), details: false, logger: services.logger };
    let address: Address | null = null;
    try {
      address = services.sites.parse(ctx.path);
      if (address) {
        allowOwnOrigin(ctx);
        await answer(ctx, services, address, view, scriptFile);
      }
    } catch (error) {
      ctx.state.appsAnswered = true;
      return respondError(ctx, error, view);
    }
    // Outside: what Strapi's own routes throw is Strapi's to answer.
    if (!address) return next();
    ctx.state.appsAnswered = true;
  };
}

async function answer(
  ctx: Context,
  services: DoorServices,
  address: Address,
  view: ErrorView,
  scriptFile: string,
): Promise<void> {
  const site = await services.sites.site(address.site);
  if (!site) throw new AppsError('NotFoundError', `There is no site "${address.site}"`);
  view.loginUrl = () => `${site.url}/@@login?next=${encodeURIComponent(pathOf(services.baseUrl() + ctx.originalUrl))}`;
  switch (address.kind) {
    case 'app':
      return answerApp(ctx, services, site, address, view);
    case 'theme-asset': {
      requireRead(ctx);
      const file = await services.sites.asset(address);
      if (!file) throw new AppsError('NotFoundError', 'There is no such file');
      return sendFile(ctx, file);
    }
    case 'script':
      requireRead(ctx);
      return sendFile(ctx, scriptFile);
    case 'login':
      requireLoginMethod(ctx);
      return login(ctx, services, site);
    case 'logout':
      requireLoginMethod(ctx);
      return logout(ctx, services, site);
    case 'page':
    case 'view': {
      const create = (path: string, requester: Requester) => createVisit(ctx, services, site, path, requester);
      return answerSite({ ctx, services, site, view, createVisit: create }, address);
    }
  }
}

/** The path by which a browser knows an address: `server.url` may have one of its own before it. */
function pathOf(url: string): string {
  return url.replace(/^\w+:\/\/[^/]+/, '');
}

async function answerApp(
  ctx: Context,
  services: DoorServices,
  site: Site,
  address: AddressOf<'app'>,
  view: ErrorView,
): Promise<void> {
  const { target } = address;
  view.json = isJsonRequest(ctx, target);
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', allowedMethods(target.kind));
    ctx.status = 204;
    return;
  }
  const requester = await services.requesters.identify(ctx);
  const app = await services.loadApp(site, address.app);
  if (!app) throw new AppsError('NotFoundError', `There is no app "${address.app}" in this site`);
  const rights = rightsOf(requester, app.settings.acl);
  view.details = showsDetails({ app, rights });

  const handle = routeOf(target.kind, ctx.method, view.json);
  if (typeof handle !== 'function') {
    throw new AppsError('MethodNotAllowedError', `${ctx.method} is not allowed here`, {
      headers: { Allow: handle.allow },
    });
  }
  if (target.kind !== 'records') requireAccept(ctx, view.json);
  checkBody(ctx, services.config.limits.bodySize);
  const visit = await createVisit(ctx, services, site, address.content, requester);
  ctx.vary('Authorization, Cookie, Accept');
  const exchange: Exchange = { ctx, services, site, app, requester, rights, visit, target, json: view.json };
  await handle(exchange as Exchange<never>);
}

/** CsrfError for a changing request without its token; NotFoundError for content that the requester may not read. */
async function createVisit(
  ctx: Context,
  services: DoorServices,
  site: Site,
  contentPath: string,
  requester: Requester,
): Promise<Visit> {
  const { csrf } = services.requesters;
  const safe = safeMethods.has(ctx.method);
  if (!safe) csrf.verify(csrfOf(ctx), requester);
  let request: RequestData | undefined;
  let signal: AbortSignal | undefined;
  return {
    site,
    contentPath,
    requester,
    content: await contentOf(services, site, contentPath, requester),
    // Made for those who look at it: most answers run no logic.
    get request() {
      request ??= requestData(ctx, services.baseUrl());
      return request;
    },
    // Made for what can be ended: most requests have nothing of the kind.
    get signal() {
      signal ??= leaving(ctx);
      return signal;
    },
    parentRequest: null,
    writes: { records: !safe || hasToken(ctx, () => csrf.verify(ctx.get('X-CSRF-TOKEN'), requester)), content: !safe },
    params: {},
    csrfToken: () => csrf.issue(requester),
    pendingLog: safe ? takeLog(ctx, site) : [],
  };
}

/** Aborted when the client leaves before it is answered. */
function leaving({ res }: Context): AbortSignal {
  const controller = new AbortController();
  const leave = () => res.writableFinished || controller.abort();
  if (res.closed) leave();
  else res.once('close', leave);
  return controller.signal;
}

/** Whether a GET carries a valid token: it may then write records (contract, section 5). */
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
  services: DoorServices,
  site: Site,
  contentPath: string,
  requester: Requester,
): Promise<ContentItem> {
  const item = await services.sites.content.resolve(site, contentPath, requester);
  if (!item) throw new AppsError('NotFoundError', `There is no content at "/${contentPath}"`);
  return item;
}
