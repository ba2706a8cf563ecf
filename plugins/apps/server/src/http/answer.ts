import { join } from 'node:path';
import type { Context } from 'koa';
import { answerTypes, folderOf, showsDetails, sourceOf, type Visit } from '../apps';
import { rightsOf } from '../auth';
import type { Requester } from '../auth/types';
import { AppsError, isAppsError, methodNotAllowed, missing, notFound } from '../errors';
import type { RequestData } from '../logic/types';
import { localeProblem } from '../sites';
import type { Address, AppTarget, ContentItem, Site } from '../sites/types';
import { getSiteOpenApi } from './app/openapi-handlers';
import { allowedMethods, routeOf } from './app/routes';
import { checkToken } from './request/csrf';
import type { Exchange, HttpServices } from './request/exchange';
import { isJsonRequest, requireAccept } from './request/negotiate';
import { isPageForm } from './request/page-form';
import { readBody } from './request/read-body';
import { requestData } from './request/request-data';
import { visitorOf } from './request/visitor';
import { sitePage } from './response/in-theme';
import { inLanguage, plainLocale, siteLocale } from './response/page-texts';
import { takeLog } from './response/pending-log';
import type { ErrorView } from './response/respond-error';
import { openOwnFile, requireRead, sendFile } from './site/assets';
import { login, logout, requireLoginMethod } from './site/login';
import { formRequester } from './site/login-in-place';
import { answerSite } from './site/page';

type AddressOf<Kind extends Address['kind']> = Extract<Address, { kind: Kind }>;

/** Methods that change nothing unless logic does: they need no CSRF token (docs/reference/http.md#csrf-tokens). */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Addresses whose answer is the same for all requesters. */
export const isPublic = new Set<Address['kind']>(['theme-asset', 'script', 'style', 'reload', 'reload-script']);

/** Targets that are not JSON or a page alone. */
const choosesType = new Set<AppTarget['kind']>(['records', 'records.csv', 'search.csv']);

/** The plugin's own public files. */
const ownFile = { script: 'apps.js', style: 'apps.css', 'reload-script': 'reload.js' };

/** Answers an address of the plugin; throws what `respondError` answers. */
export async function answer(
  ctx: Context,
  services: HttpServices,
  address: Address,
  view: ErrorView,
  ownFiles: string,
): Promise<void> {
  const site = await services.sites.site(address.site);
  if (!site) throw notFound(missing.site(address.site));
  // The error of a missing file is a bare page: rendering the theme for it would cost too much.
  if (!isPublic.has(address.kind)) {
    view.document = async (page) => {
      const main = inLanguage(await siteLocale(services, site), site, page.main);
      return sitePage(ctx, services, site, view.requester, { ...page, main });
    };
  }
  view.locale = (plain) => (plain ? plainLocale(site) : siteLocale(services, site));
  view.loginUrl = () => `${site.url}/@@login?next=${encodeURIComponent(pathOf(services.baseUrl() + ctx.originalUrl))}`;
  switch (address.kind) {
    case 'app':
      return answerApp(ctx, services, site, address, view);
    case 'theme-asset': {
      requireRead(ctx);
      const file = await services.sites.asset(address);
      if (!file) throw notFound('There is no such file');
      return sendFile(ctx, file);
    }
    case 'reload':
      if (!services.reloads) throw notFound('Only the command `dev` reloads pages');
      return services.reloads.answer(ctx);
    case 'script':
    case 'style':
    case 'reload-script':
      requireRead(ctx);
      return sendFile(ctx, await openOwnFile(join(ownFiles, ownFile[address.kind])));
    case 'login':
      requireLoginMethod(ctx);
      return login(ctx, services, site);
    case 'logout':
      requireLoginMethod(ctx);
      return logout(ctx, services, site);
    case 'openapi':
      view.json = true;
      view.requester = await services.requesters.identify(ctx);
      return getSiteOpenApi(ctx, services, site, view.requester);
    case 'page':
    case 'view': {
      const create = (path: string, requester: Requester) =>
        createVisit(ctx, services, site, path, requester, isPageForm(ctx, 'block', view.json));
      return answerSite({ ctx, services, site, view, createVisit: create }, address);
    }
  }
}

/** The path of an absolute URL: `server.url` may have a path of its own. */
function pathOf(url: string): string {
  return url.replace(/^\w+:\/\/[^/]+/, '');
}

async function answerApp(
  ctx: Context,
  services: HttpServices,
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
  const isForm = isPageForm(ctx, target.kind, view.json);
  const requester = await (isForm ? formRequester(ctx, services, site, view) : services.requesters.identify(ctx));
  view.requester = requester;
  const app = await services.loadApp(site, address.app);
  if (!app) throw notFound(missing.app(address.app));
  const rights = rightsOf(requester, app.settings.acl);
  view.details = showsDetails({ app, rights });
  view.folder = folderOf(services, app.id);
  if (rights.manager || services.quotesSource) view.source = (file) => sourceOf(app, file);

  const handle = routeOf(target.kind, ctx.method, view.json);
  if (typeof handle !== 'function') {
    throw methodNotAllowed(handle.allow, `${ctx.method} is not allowed here`);
  }
  // The media type of an element's answer is known only after its logic has run.
  if (!choosesType.has(target.kind)) requireAccept(ctx, view.json, target.kind === 'element' ? answerTypes : []);
  const files = await readBody({ ctx, services, site, app, requester, rights, isForm }, target);
  const visit = Object.assign(await createVisit(ctx, services, site, address.content, requester, isForm), { files });
  view.console = () => ({ log: visit.failedLog ?? [], script: `${site.url}/@@apps.js` });
  ctx.vary('Authorization, Cookie, Accept');
  const exchange: Exchange = { ctx, services, site, app, requester, rights, visit, target, json: view.json };
  await handle(exchange as Exchange<never>);
}

/**
 * CsrfError for a changing request without its token, or a form of another origin; NotFoundError for content that the
 * requester may not read.
 */
async function createVisit(
  ctx: Context,
  services: HttpServices,
  site: Site,
  contentPath: string,
  requester: Requester,
  isForm: boolean,
): Promise<Visit> {
  const { csrf } = services.requesters;
  const query = new URLSearchParams(ctx.querystring);
  if (localeProblem(site, query)) {
    throw new AppsError('BadRequestError', localeProblem(site, query, await services.sites.all()) ?? '');
  }
  const safe = safeMethods.has(ctx.method);
  const staleForm = safe ? undefined : checkToken(ctx, services.requesters, requester, isForm);
  const posts = !safe && !staleForm;
  let request: RequestData | undefined;
  let signal: AbortSignal | undefined;
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
    ...(staleForm && { staleForm }),
    ...(services.dry && { dry: services.dry }),
    params: {},
    ...visitorOf(ctx, services, site),
    csrfToken: () => csrf.issue(requester),
    pendingLog: safe && services.requesters.takesCookies(ctx) ? takeLog(ctx, site) : [],
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
