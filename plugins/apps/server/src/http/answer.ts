import type { Context } from 'koa';
import { type App, answerTypes, browserScript, ownerOf, plainLocale, scriptUrl, siteLocale, type Visit } from '../apps';
import { jsonRightsOf, rightsOf } from '../auth';
import { methodNotAllowed, missing, notFound } from '../common/errors';
import type { Address, AppTarget, LinkTargetKind, Site } from '../sites/types';
import { draftOfToken } from './app/drafts';
import { requireJsonUse } from './app/json-handlers';
import { getSiteOpenApi } from './app/openapi-handlers';
import { ownOf } from './app/own-records';
import { allowedMethods, routeOf } from './app/routes';
import { webhookRequester, webhookRoute, webhookTarget } from './app/webhooks';
import { type Exchange, type HttpServices, visitorOf } from './request/exchange';
import { isJsonRequest, requireAccept } from './request/negotiate';
import { operationOf, requireKnownInput } from './request/operations';
import { isPageForm } from './request/page-form';
import { readBody } from './request/read-body';
import { beginReading, sentToken } from './request/request-data';
import { sitePage } from './response/in-theme';
import { inLanguage } from './response/pages';
import { type ErrorView, explainApp } from './response/respond-error';
import { requireRead, sendFile, sendOwnFile } from './site/assets';
import { login, logout, requireLoginMethod } from './site/login';
import { formRequester } from './site/login-in-place';
import { answerSite, type SiteRequest } from './site/page';
import { createVisit } from './visit';

type AddressOf<Kind extends Address['kind']> = Extract<Address, { kind: Kind }>;

/** Addresses whose answer is the same for all requesters. */
export const isPublic = new Set<Address['kind']>([
  'theme-asset',
  'script',
  'live-script',
  'style',
  'reload',
  'reload-script',
]);

/** Targets that are not JSON or a page alone. */
const choosesType = new Set<AppTarget['kind']>([
  'file',
  'records',
  'records.csv',
  'records.xlsx',
  'search.csv',
  'search.xlsx',
]);

/** Answers an address of the plugin; throws what `respondError` answers. */
export async function answer(ctx: Context, services: HttpServices, address: Address, view: ErrorView): Promise<void> {
  const site = await services.sites.site(address.site);
  if (!site) throw notFound(missing.site(address.site));
  // The error of a missing file is a bare page: rendering the theme for it would cost too much.
  const isFile = isPublic.has(address.kind) || (address.kind === 'app' && address.target.kind === 'file');
  if (!isFile) {
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
      requireRead(ctx);
      return sendOwnFile(ctx, 'js', await browserScript(services, site));
    case 'live-script':
      requireRead(ctx);
      return sendOwnFile(ctx, 'js', await services.ownFiles.file('live.js'));
    case 'style':
      requireRead(ctx);
      return sendOwnFile(ctx, 'css', await services.ownFiles.file('apps.css'));
    case 'reload-script':
      requireRead(ctx);
      return sendOwnFile(ctx, 'js', await services.ownFiles.file('reload.js'));
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
      const create: SiteRequest['createVisit'] = (path, requester, begin) =>
        createVisit(ctx, services, site, path, requester, { isForm: isPageForm(ctx, 'block', view.json), begin });
      return answerSite({ ctx, services, site, view, createVisit: create }, address);
    }
  }
}

type TokenTarget = Extract<AppTarget, { token: string }>;

/** What a request with the token of a signed link holds. */
interface TokenRequest {
  ctx: Context;
  services: HttpServices;
  site: Site;
  app: App;
  token: string;
}

/** What the holder of a link's token has, by the kind of the link. NotFoundError for a token that is none. */
const holdings: Record<LinkTargetKind, (request: TokenRequest) => Promise<Pick<Visit, 'own' | 'draft'>>> = {
  mine: async ({ services, site, app, token }) => ({ own: await ownOf(services, site, app, token) }),
  draft: async ({ ctx, services, ...link }) => ({
    draft: await draftOfToken(services, { ...link, method: ctx.method }),
  }),
  // These open no record: their handlers read the token.
  confirm: async () => ({}),
  unsubscribe: async () => ({}),
};

const heldBy = ({ kind }: TokenTarget, request: TokenRequest) => holdings[kind](request);

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
  const token = 'token' in target ? sentToken(ctx, target.token) : null;
  view.json = isJsonRequest(ctx, target);
  // The login leads to no address whose token is hidden.
  if (token !== null) view.loginUrl = () => `${site.url}/@@login`;
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', allowedMethods(target.kind));
    ctx.status = 204;
    return;
  }
  const isForm = isPageForm(ctx, target.kind, view.json);
  // What JSON reads of records is not kept.
  const begin = view.json && target.kind !== 'element' ? null : await beginReading(ctx, services);
  const sender = await (isForm ? formRequester(ctx, services, site, view) : services.requesters.identify(ctx));
  view.requester = sender;
  const app = await services.loadApp(site, address.app);
  if (!app) throw notFound(missing.app(address.app));
  ctx.state.appsAbout = { site: site.id, app: app.id };
  const webhook = webhookTarget(app, target);
  if (webhook) view.json = true;
  const requester = webhook ? await webhookRequester(ctx, services, sender) : sender;
  const visitor = visitorOf(ctx, services, site);
  const owner = () => ownerOf({ requester, site, visitor: visitor.visitor }, app.settings);
  const rights = rightsOf(requester, app.settings.acl, owner);
  explainApp(view, services, { app, rights });

  const handle = webhook ? webhookRoute(ctx, services, webhook) : routeOf(target.kind, ctx.method, view.json);
  if (typeof handle !== 'function') {
    throw methodNotAllowed(handle.allow, `${ctx.method} is not allowed here`);
  }
  // The media type of an element's answer is known only after its logic has run.
  if (!choosesType.has(target.kind)) requireAccept(ctx, view.json, target.kind === 'element' ? answerTypes : []);
  const held = token === null ? {} : await heldBy(target as TokenTarget, { ctx, services, site, app, token });
  const files = await readBody({ ctx, services, site, app, requester, owner, rights, isForm, ...held }, target);
  const made = createVisit(ctx, services, site, address.content, requester, {
    isForm,
    begin,
    isVerified: webhook !== null,
    isLink: token !== null,
    visitor,
  });
  const visit = Object.assign(await made, { files, ...held });
  view.console = async () => ({ log: visit.failedLog ?? [], script: await scriptUrl(services, site) });
  ctx.vary('Authorization, Cookie, Accept');
  const operation = operationOf(target.kind, ctx.method, view.json);
  if (operation) requireKnownInput(ctx, operation);
  if (operation?.right) requireJsonUse({ app, requester }, operation.right, owner() !== '');
  const allowed = operation?.right ? jsonRightsOf(requester, app.settings.acl, app.settings.json, owner) : rights;
  const exchange: Exchange = { ctx, services, site, app, requester, rights: allowed, visit, target, json: view.json };
  await handle(exchange as Exchange<never>);
}
