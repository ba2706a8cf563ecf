import { type App, answerTypes, ownerOf } from '../apps';
import { rightsOf } from '../auth';
import { methodNotAllowed, missing, notFound } from '../common/errors';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import type { AppTarget, LinkTargetKind } from '../sites/types';
import { draftOfToken } from './app/drafts';
import { ownOf } from './app/own-records';
import { viewsOf } from './app/page-handlers';
import { routeOf } from './app/routes';
import { webhookRequester, webhookRoute, webhookTarget } from './app/webhooks';
import { visitorOf } from './request/exchange';
import { requireAccept } from './request/negotiate';
import type { Identified, OfApp, OpenedApp } from './request/stages';

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
export async function openApp(request: Identified<OfApp>): Promise<OpenedApp> {
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
