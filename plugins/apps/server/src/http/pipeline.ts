import { LIVE_VIEW } from '../apps';
import { jsonRightsOf } from '../auth';
import { methodNotAllowed, missing, notFound } from '../common/errors';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import type { Address } from '../sites/types';
import { requireJsonUse } from './app/json-handlers';
import { allowedMethods } from './app/routes';
import { openApp } from './open-app';
import { isPageForm } from './request/body';
import type { Exchange } from './request/exchange';
import { isJsonRequest, prefersJson } from './request/negotiate';
import { operationOf, requireKnownInput } from './request/operations';
import { readBody } from './request/read-body';
import { beginReading } from './request/request-data';
import type { Arrived, Identified, Located, OfApp, OfSite, Received } from './request/stages';
import { formRequester } from './site/login';
import { answerOwn, showContent } from './site/own-addresses';
import { createVisit } from './visit';

/**
 * Answers a request at one of the plugin's addresses, stage by stage; throws what `respondError` answers. A request is one object, to
 * which each stage adds what it has found: an error is shown by what was known when it came (error-view.ts).
 */
export async function answer(arrived: Arrived): Promise<void> {
  const located = await locateSite(arrived);
  if (!isOfSite(located)) return answerOwn(located);
  if (isAnsweredByMethod(located)) return;
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

/** The methods of pages of the site, with the refusal of others. */
const pageMethods: Record<'page' | 'view', { methods: string[]; refusal: string | null }> = {
  page: { methods: ['GET', 'HEAD'], refusal: 'This page can only be read' },
  view: { methods: ['GET', 'HEAD', 'POST'], refusal: null },
};

/** Answers OPTIONS; MethodNotAllowedError for a page of the site. What an app's address takes depends on the app, too. */
function isAnsweredByMethod({ ctx, address }: Located<OfSite>): boolean {
  const ofPage = address.kind === 'app' ? null : pageMethods[address.kind];
  const allow =
    address.kind === 'app'
      ? allowedMethods(address.target.kind)
      : [...pageMethods[address.kind].methods, 'OPTIONS'].join(', ');
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', allow);
    ctx.status = 204;
    return true;
  }
  if (ofPage && !ofPage.methods.includes(ctx.method))
    throw methodNotAllowed(allow, ofPage.refusal ?? `${ctx.method} is not allowed here`);
  return false;
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
