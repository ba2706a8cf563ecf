import type { Context } from 'koa';
import {
  type App,
  answerTypes,
  folderOf,
  formTokens,
  LIVE_VIEW,
  makeVisit,
  type Origin,
  ownerOf,
  plainLocale,
  scriptUrl,
  showsDetails,
  siteLocale,
  sourceOf,
  type Visit,
} from '../apps';
import { jsonRightsOf, rightsOf, safeMethods } from '../auth';
import type { Requester } from '../auth/types';
import { lazily } from '../common/collections';
import { AppsError, isAppsError, methodNotAllowed, missing, notFound } from '../common/errors';
import type { Logger } from '../common/log';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import { localeProblem } from '../sites';
import type { Address, AppTarget, ContentItem, LinkTargetKind, Site } from '../sites/types';
import { draftOfToken } from './app/drafts';
import { requireJsonUse } from './app/json-use';
import { ownOf } from './app/own-records';
import { viewsOf } from './app/page-handlers';
import { allowedMethods, routeOf } from './app/routes';
import { webhookRequester, webhookRoute, webhookTarget } from './app/webhooks';
import { isPageForm } from './request/body';
import { checkToken } from './request/csrf';
import {
  type Arrived,
  beginReading,
  type Exchange,
  type HttpServices,
  type Identified,
  type Located,
  type OfApp,
  type OfSite,
  type OpenedApp,
  type Reached,
  type Received,
  requestData,
  visitorOf,
} from './request/exchange';
import { linkToken } from './request/locate';
import {
  answerOptions,
  isAnsweredByMethod,
  isJsonRequest,
  prefersJson,
  READ,
  requireAccept,
} from './request/negotiate';
import { operationOf, requireKnownInput } from './request/operations';
import { readBody } from './request/read-body';
import { takeLog } from './response/logic-response';
import { flashOf, inLanguage, localeOfPath, sitePage } from './response/pages';
import type { ErrorView } from './response/respond-error';
import { formAgain, formRequester } from './site/login';
import { answerOwn, isPublic, showContent } from './site/own-addresses';

/**
 * Answers a request at one of the plugin's addresses, stage by stage; throws what `respondError` answers. A request is one object, to
 * which each stage adds what it has found: an error is shown by what was known when it came (`errorViewOf`).
 */
export async function answer(arrived: Arrived): Promise<void> {
  const located = await locateSite(arrived);
  if (!isOfSite(located)) return answerOwn(located);
  if (isMethodAnswered(located)) return;
  const identified = await identify(located);
  if (!isOfApp(identified)) return showContent(identified, await createVisit(identified));
  const opened = await openApp(identified);
  const received: Received = Object.assign(opened, { files: await readBody(opened) });
  const visited = Object.assign(received, { visit: await createVisit(received) });
  return opened.handle(exchangeOf(visited) as Exchange<never>);
}

/** Finds the site, and in which form the request is answered. */
function locateSite(request: Arrived): Awaitable<Located> {
  const { ctx, services, address } = request;
  return whenAll([services.sites.site(address.site)], ([site]) => {
    if (!site) throw notFound(missing.site(address.site));
    request.json = isJson(request);
    return Object.assign(request, { site, isForm: isPageForm(ctx, formKind(address), request.json) });
  });
}

function isJson({ ctx, address }: Arrived): boolean {
  if (address.kind === 'openapi') return true;
  return address.kind === 'app' ? isJsonRequest(ctx, address.target) : prefersJson(ctx);
}

/** As what an address takes forms: a view is a block. */
const formKind = (address: Address) =>
  address.kind === 'app' ? address.target.kind : address.kind === 'view' ? 'block' : null;

/** Whether a request is for an app or for a page of the site, content or a view. The changes of live blocks have the address of a view. */
const isOfSite = (request: Located): request is Located<OfSite> => {
  const { address } = request;
  return address.kind === 'app' || address.kind === 'page' || (address.kind === 'view' && address.view !== LIVE_VIEW);
};

const isOfApp = (request: Identified<OfSite>): request is Identified<OfApp> => request.address.kind !== 'page';

/** Answers OPTIONS; MethodNotAllowedError for a page of the site. What an app's address takes depends on the app, too. */
function isMethodAnswered({ ctx, address }: Located<OfSite>): boolean {
  if (address.kind === 'page') return isAnsweredByMethod(ctx, READ, 'This page can only be read');
  if (address.kind === 'view') return isAnsweredByMethod(ctx, [...READ, 'POST'], `${ctx.method} is not allowed here`);
  if (ctx.method !== 'OPTIONS') return false;
  answerOptions(ctx, allowedMethods(address.target.kind));
  return true;
}

/** Finds the requester. What they may read may change: the moment is noted before. */
async function identify(request: Located<OfSite>): Promise<Identified<OfSite>> {
  const { ctx, services, address, sender, isForm } = request;
  // What JSON reads of records is not kept.
  const isKept = !request.json || address.kind !== 'app' || address.target.kind === 'element';
  const begin = isKept ? await beginReading(ctx, services) : null;
  if (isForm) return Object.assign(request, { begin, requester: await formRequester(request) });
  const requester = sender.kind === 'panel' ? sender.requester : await services.requesters.identify(ctx);
  return Object.assign(request, { begin, requester });
}

/** The request as its handler gets it. BadRequestError, 401 or 403 for what the JSON interface refuses of an operation. */
function exchangeOf(request: Received & Pick<Exchange, 'visit'>): Exchange {
  const { ctx, services, address, site, app, requester, rights, owner, visit, target, answersJson: json } = request;
  ctx.vary('Authorization, Cookie, Accept');
  if (address.kind === 'view') ctx.vary('X-Requested-With');
  const operation = operationOf(target.kind, ctx.method, json);
  if (operation) requireKnownInput(ctx, operation);
  const right = operation?.right;
  if (!right) return { ctx, services, site, app, requester, rights, visit, target, json };
  const { acl, json: use } = app.settings;
  requireJsonUse({ app, requester }, right, owner() !== '');
  const allowed = jsonRightsOf(requester, acl, use, owner);
  return { ctx, services, site, app, requester, rights: allowed, visit, target, json };
}

/** Targets that are not JSON or a page alone. */
const choosesType = new Set<AppTarget['kind']>([
  'file',
  'records',
  'records.csv',
  'records.xlsx',
  'search.csv',
  'search.xlsx',
]);

/**
 * Opens the app of a request: its rights in it, and what answers it. A view is the page of a block. NotFoundError for an app, a view or
 * a token that there is not; MethodNotAllowedError; NotAcceptableError; UnauthorizedError for a webhook whose signature is wrong.
 */
async function openApp(request: Identified<OfApp>): Promise<OpenedApp> {
  const { ctx, services, site, address } = request;
  const { app, target } = address.kind === 'app' ? await addressed(request, address) : await viewed(request, address);
  ctx.state.appsAbout = { site: site.id, app: app.id };
  const webhook = webhookTarget(app, target);
  if (webhook) {
    request.json = true;
    request.requester = await webhookRequester(ctx, services, request.requester);
  }
  const { requester } = request;
  const marks = visitorOf(ctx, services, site);
  const owner = () => ownerOf({ requester, site, visitor: marks.visitor }, app.settings);
  const rights = rightsOf(requester, app.settings.acl, owner);
  const opening = Object.assign(request, { app, target, marks, owner, rights, isVerified: webhook !== null });
  // Of a view only the answer to a posted form is JSON.
  const answersJson = request.json && (address.kind === 'app' || ctx.method === 'POST');
  const handle = webhook ? webhookRoute(ctx, services, webhook) : routeOf(target.kind, ctx.method, answersJson);
  if (typeof handle !== 'function') throw methodNotAllowed(handle.allow, `${ctx.method} is not allowed here`);
  // The media type of an element's answer is known only after its logic has run.
  if (!choosesType.has(target.kind)) requireAccept(ctx, answersJson, target.kind === 'element' ? answerTypes : []);
  const held = 'token' in target ? await heldBy(opening, target) : nothing;
  return Object.assign(opening, { answersJson, handle, own: held.own, draft: held.draft });
}

interface Found {
  app: App;
  target: AppTarget;
}

type AddressOf<Kind extends OfApp['kind']> = Extract<OfApp, { kind: Kind }>;

function addressed({ services, site }: Identified, address: AddressOf<'app'>): Awaitable<Found> {
  return whenAll([services.loadApp(site, address.app)], ([app]) => {
    if (!app) throw notFound(missing.app(address.app));
    return { app, target: address.target };
  });
}

async function viewed({ services, site }: Identified, { view }: AddressOf<'view'>): Promise<Found> {
  const owner = (await viewsOf(services, site)).get(view);
  if (!owner) throw notFound(`There is no view "${view}" in this site`);
  return { app: owner.app, target: { kind: 'block', block: owner.block.id } };
}

type Held = Partial<Pick<OpenedApp, 'own' | 'draft'>>;

const nothing: Held = {};

type TokenTarget = Extract<AppTarget, { token: string }>;

/** What the holder of a link's token has, by the kind of the link. NotFoundError for a token that is none. */
const holdings: Record<LinkTargetKind, (request: Identified & { app: App }, token: string) => Promise<Held>> = {
  mine: async ({ services, site, app }, token) => ({ own: await ownOf(services, site, app, token) }),
  draft: async ({ ctx, services, site, app }, token) => ({
    draft: await draftOfToken(services, { site, app, token, method: ctx.method }),
  }),
  // These open no record: their handlers read the token.
  confirm: async () => nothing,
  unsubscribe: async () => nothing,
};

const heldBy = (request: Identified & { app: App }, { kind, token }: TokenTarget) => holdings[kind](request, token);

/** A request for a page of the site, or for an app. */
type Visiting = Identified<OfSite> & Partial<Omit<Received, keyof Identified>>;

/**
 * The visit of a request: site, content, requester, and what it may write. CsrfError for a changing request without its
 * token, or a form of another origin; NotFoundError for content that the requester may not read; BadRequestError for a
 * locale that the site lacks.
 */
async function createVisit(request: Visiting): Promise<Visit> {
  const { ctx, services, site, address, sender, requester, begin, isVerified, files, own, draft } = request;
  const { csrf } = services.requesters;
  const query = ctx.querystring === '' ? null : new URLSearchParams(ctx.querystring);
  if (query && localeProblem(site, query)) {
    throw new AppsError('BadRequestError', localeProblem(site, query, await services.sites.all()) ?? '');
  }
  const safe = safeMethods.has(ctx.method);
  const staleForm = safe || isVerified ? undefined : checkToken(request);
  const posts = !safe && !staleForm;
  const withToken = () => csrf.verify(ctx.get('X-CSRF-TOKEN'), requester);
  const content = await contentOf(services, site, address.content, requester);
  const { visitor, forms } = request.marks ?? visitorOf(ctx, services, site);
  // Named one by one: Node.js 20 takes 3 µs for each property after a spread object.
  return makeVisit({
    origin: originOf(request),
    site,
    content,
    contentPath: address.content,
    view: address.kind === 'view' ? address.view : undefined,
    requester,
    readRequest: lazily(() => requestData(ctx, services.baseUrl())),
    writes: { records: posts || hasToken(ctx, withToken), content: posts },
    staleForm,
    tokens: formTokens(services.requesters, requester, visitor),
    visitor,
    forms,
    client: {
      flash: flashOf(ctx, services, site),
      signal: lazily(() => abortOnClose(ctx)),
      sender: () => services.requesters.senderName(requester, ctx.ip),
      network: () => services.requesters.senderName({ identity: '' }, ctx.ip),
    },
    files,
    own,
    draft,
    pendingLog: safe && services.requesters.takesCookies(ctx) ? takeLog(ctx, site) : [],
    begin: begin ?? undefined,
    dry: sender.kind === 'panel' ? sender.dry : undefined,
  });
}

/** Who holds a link to a record changes it as their own. */
const byLink: ReadonlySet<AppTarget['kind']> = new Set(['mine', 'confirm']);

function originOf({ address, isForm, isVerified }: Visiting): Origin {
  if (isVerified) return { kind: 'webhook', through: 'json' };
  if (address.kind === 'app' && byLink.has(address.target.kind)) return { kind: 'request', through: 'self_service' };
  return { kind: 'request', through: isForm ? 'form' : 'json' };
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

/**
 * How an error of a request is shown, by what was known of the request when it came.
 * @param logger for the error
 */
export function errorViewOf(request: Reached, logger: Logger = request.services.logger): ErrorView {
  const { ctx, services, address, json, site, requester, app, rights, visit } = request;
  const quotes = app !== undefined && (rights?.manager || services.quotesSource);
  // The error of a missing file is a bare page: rendering the theme for it would cost too much.
  const isFile = isPublic.has(address.kind) || (address.kind === 'app' && address.target.kind === 'file');
  return {
    json,
    details: explains(request),
    logger,
    folder: app && folderOf(services, app.id),
    page: {
      locale(plain) {
        if (!site) return localeOfPath(services, ctx);
        return plain ? plainLocale(site) : siteLocale(services, site);
      },
      loginUrl: loginUrlOf(request),
      document:
        site && !isFile
          ? async (page) => {
              const main = inLanguage(await siteLocale(services, site), site, page.main);
              return sitePage(ctx, services, site, requester, { ...page, main });
            }
          : null,
      source: (file) => (quotes ? sourceOf(app, file) : undefined),
      console: async () =>
        visit && site ? { log: visit.failedLog ?? [], script: await scriptUrl(services, site) } : null,
      again: (locale) => formAgain(request, locale),
    },
  };
}

/** Whether mistakes of a theme's or an app's author are explained. */
function explains({ services, address, requester, app, rights }: Reached): boolean {
  if (app && rights) return showsDetails({ app, rights });
  const isShown = address.kind === 'page' || address.kind === 'view';
  return isShown && requester !== undefined && (requester.isManager || !services.production);
}

/** Where a visitor logs in who lacks rights. */
function loginUrlOf({ ctx, services, address, site }: Reached): string | undefined {
  if (!site) return undefined;
  const login = `${site.url}/@@login`;
  // The login leads to no address whose token is hidden.
  if (linkToken(address) !== null) return login;
  return `${login}?next=${encodeURIComponent(pathOf(services.baseUrl() + ctx.originalUrl))}`;
}

/** The path of an absolute URL: `server.url` may have a path of its own. */
const pathOf = (url: string): string => url.replace(/^\w+:\/\/[^/]+/, '');
