import type { Context } from 'koa';
import { embeddingPage, type PageContent, themedPage, type Visit } from '../apps';
import type { LogicBudget, RequestData } from '../logic/types';
import type { Requester } from '../requester/types';
import type { Site } from '../sites/types';
import type { DoorServices, Exchange } from './exchange';
import { bareDocument, scriptTag } from './pages';
import { requestData } from './request-data';

/**
 * Whether a page of an app is shown in the theme's layout: the block's definition wins over the app's settings, and what
 * it says of its view over both (contract, section 10). A record follows the view that its block's form is shown by.
 */
export function standsInTheme({ app, visit, target }: Exchange, blockId?: string): boolean {
  const { view = null, withTheme = null } = app.blocks.get(blockId ?? '')?.definition ?? {};
  if (visit.view !== undefined) return view?.withTheme ?? withTheme ?? app.settings.withTheme;
  const ofRecord = target.kind === 'record' ? view?.withTheme : null;
  return withTheme ?? ofRecord ?? app.settings.withTheme;
}

/** A page of an app in the theme. @param done what its own logic has left of the budget */
export async function inTheme(exchange: Exchange, page: PageContent, done?: { budget?: LogicBudget }): Promise<string> {
  const { ctx, services, visit, site } = exchange;
  try {
    return await themedDocument(services, visit, page, done?.budget);
  } catch (error) {
    // The form has been processed: the visitor must see its result.
    if (!visit.writes.content && !visit.writes.records) throw error;
    return withoutTheme(ctx, services, site, page, error);
  }
}

/**
 * The document of a page that is no content of the site's own, in the theme's layout. Blocks that the theme puts into it
 * can write nothing, and see nothing of what was posted. Rejects when the theme is broken.
 * @param budget what the page's own logic has left
 */
async function themedDocument(
  services: DoorServices,
  visit: Visit,
  content: PageContent,
  budget?: LogicBudget,
): Promise<string> {
  const { view, ...rest } = visit;
  const around: Visit = {
    ...rest,
    request: readOnly(visit.request),
    writes: { records: false, content: false },
    params: {},
  };
  const page = embeddingPage(services, around, budget);
  return withScript(await themedPage(page, await services.sites.theme(visit.site), content), visit.site);
}

/** A bare page has the browser script; so has one in a theme that does not bring it along. */
function withScript(document: string, { url }: Site): string {
  return document.includes('/@@apps.js"') ? document : `${document}${scriptTag(`${url}/@@apps.js`)}\n`;
}

const readOnly = (request: RequestData): RequestData => ({ ...request, method: 'GET', form: {}, body: null });

/**
 * A page of the site itself (a login, an error) in the site's theme; bare where the theme is broken.
 * @param requester undefined where they are not known: the page is then that of anonymous
 */
export async function sitePage(
  ctx: Context,
  services: DoorServices,
  site: Site,
  requester: Requester | undefined,
  page: PageContent,
): Promise<string> {
  try {
    const visit = await rootVisit(ctx, services, site, requester ?? (await services.requesters.anonymous()));
    return await themedDocument(services, visit, page);
  } catch (error) {
    return withoutTheme(ctx, services, site, page, error);
  }
}

function withoutTheme(ctx: Context, { logger }: DoorServices, site: Site, page: PageContent, error: unknown): string {
  logger.error(`[apps] the theme "${site.theme}" cannot show ${ctx.path}: ${(error as Error).message}`);
  return bareDocument({ ...page, script: `${site.url}/@@apps.js` });
}

/** A visit of the site's root that can write nothing, for a request whose rights are not known. */
async function rootVisit(ctx: Context, services: DoorServices, site: Site, requester: Requester): Promise<Visit> {
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new Error('the site has no root');
  return {
    site,
    content,
    contentPath: '',
    requester,
    // Without the query, which may hold a token of the login.
    request: { ...requestData(ctx, services.baseUrl()), url: services.baseUrl() + ctx.path, query: {} },
    parentRequest: null,
    writes: { records: false, content: false },
    params: {},
    csrfToken: () => services.requesters.csrf.issue(requester),
    pendingLog: [],
  };
}
