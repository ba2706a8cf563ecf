import type { Context, Middleware, Next } from 'koa';
import { answerTypes, folderOf, showsDetails, type Visit } from '../apps';
import { AppsError, isAppsError } from '../errors';
import type { RequestData } from '../logic/types';
import { rightsOf } from '../requester';
import type { Requester } from '../requester/types';
import { localeProblem } from '../sites';
import type { Address, ContentItem, Site } from '../sites/types';
import { openOwnFile, requireRead, sendFile } from './assets';
import { checkBody } from './body';
import { csrfOf, requireOwnForm } from './csrf';
import type { DoorServices, Exchange } from './exchange';
import { sitePage } from './in-theme';
import { login, logout, requireLoginMethod } from './login';
import { isJsonRequest, prefersJson, requireAccept } from './negotiate';
import { createOwnOrigin } from './own-origin';
import { takeLog } from './pending-log';
import { checkRawBody } from './raw-body';
import { requestData } from './request-data';
import { type ErrorView, respondError } from './respond-error';
import { allowedMethods, routeOf } from './routes';
import { answerSite } from './site-page';
import { checkEncoded, checkUtf8 } from './text';

export { adminInterface } from './admin';
export { createBaseUrl } from './base-url';
export { boundedBodies } from './bounded-body';
export { createErrorForm } from './error-form';
export type { DoorServices } from './exchange';
export { createHiddenTypes } from './hidden-types';

type AddressOf<Kind extends Address['kind']> = Extract<Address, { kind: Kind }>;

/** Methods that change nothing unless logic does: they carry no CSRF token (contract, section 5). */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Addresses whose answer is the same for all. */
const isPublic = new Set<Address['kind']>(['theme-asset', 'script']);

/** Whether a cookie counts depends on the page that has sent the request. */
function varyBySender(ctx: Context): void {
  if (ctx.get('Cookie') !== '') ctx.vary('Origin, Sec-Fetch-Site, Sec-Fetch-Mode, Sec-Fetch-Dest');
}

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
      address = addressOf(services, ctx);
      if (address) {
        allowOwnOrigin(ctx);
        if (!isPublic.has(address.kind)) varyBySender(ctx);
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

/** The address of a request, null if it is not the plugin's. BadRequestError for one of the plugin's that is not UTF-8. */
function addressOf({ sites }: DoorServices, ctx: Context): Address | null {
  const check = () => {
    checkUtf8(Buffer.from(ctx.url, 'latin1'), 'The address');
    checkEncoded(ctx.url, 'The address');
  };
  try {
    const address = sites.parse(ctx.path);
    if (address) check();
    return address;
  } catch (error) {
    check();
    throw error;
  }
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
  // A missing file costs no page of the theme.
  if (!isPublic.has(address.kind)) view.document = (page) => sitePage(ctx, services, site, view.requester, page);
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
      return sendFile(ctx, await openOwnFile(scriptFile));
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
  view.requester = requester;
  const app = await services.loadApp(site, address.app);
  if (!app) throw new AppsError('NotFoundError', `There is no app "${address.app}" in this site`);
  const rights = rightsOf(requester, app.settings.acl);
  view.details = showsDetails({ app, rights });
  view.folder = folderOf(services, app.id);

  const handle = routeOf(target.kind, ctx.method, view.json);
  if (typeof handle !== 'function') {
    throw new AppsError('MethodNotAllowedError', `${ctx.method} is not allowed here`, {
      headers: { Allow: handle.allow },
    });
  }
  // The media type of an element's answer is known only after its logic has run.
  if (target.kind !== 'records') requireAccept(ctx, view.json, target.kind === 'element' ? answerTypes : []);
  checkBody(ctx, services.config.limits.bodySize);
  await checkRawBody(ctx, services.config.limits.bodySize);
  const visit = await createVisit(ctx, services, site, address.content, requester);
  view.console = () => ({ log: visit.failedLog ?? [], script: `${site.url}/@@apps.js` });
  ctx.vary('Authorization, Cookie, Accept');
  const exchange: Exchange = { ctx, services, site, app, requester, rights, visit, target, json: view.json };
  await handle(exchange as Exchange<never>);
}

/** CsrfError for a changing request without its token, or a form of another origin; NotFoundError for content that the requester may not read. */
async function createVisit(
  ctx: Context,
  services: DoorServices,
  site: Site,
  contentPath: string,
  requester: Requester,
): Promise<Visit> {
  const { csrf } = services.requesters;
  const query = new URLSearchParams(ctx.querystring);
  if (localeProblem(site, query)) {
    throw new AppsError('BadRequestError', localeProblem(site, query, await services.sites.all()) ?? '');
  }
  const safe = safeMethods.has(ctx.method);
  if (!safe && requester.credential === 'cookie') requireOwnForm(ctx, services.requesters);
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
    pendingLog: safe && services.requesters.takesCookies(ctx) ? takeLog(ctx, site) : [],
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
