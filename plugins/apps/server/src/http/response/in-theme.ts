import type { Context } from 'koa';
import {
  canonicalLink,
  embeddingPage,
  formTokens,
  makeVisit,
  type PageContent,
  scriptTag,
  scriptUrl,
  themedPage,
  type Visit,
  withFlash,
} from '../../apps';
import type { Requester } from '../../auth/types';
import { lazily } from '../../common/collections';
import { errorText, isAppsError } from '../../common/errors';
import { pageTags } from '../../layouts';
import type { LogicBudget } from '../../logic/types';
import type { Site } from '../../sites/types';
import type { Exchange, HttpServices } from '../request/exchange';
import { requestData } from '../request/request-data';
import { bareDocument } from './pages';

/**
 * Whether a page of an app is shown in the theme's layout: the block's definition overrides the app's settings, and its
 * `view` key overrides both, also for the block's records (docs/reference/site.md#apps-in-the-theme).
 */
export function isShownInTheme({ app, visit, target }: Exchange, blockId?: string): boolean {
  const { view = null, withTheme = null } = app.blocks.get(blockId ?? '')?.definition ?? {};
  const ofView = visit.view !== undefined || target.kind === 'record' ? view?.withTheme : null;
  return ofView ?? withTheme ?? app.settings.withTheme;
}

/** A page of an app in the theme. @param done what its own logic has left of the budget */
export async function inTheme(exchange: Exchange, page: PageContent, done?: { budget?: LogicBudget }): Promise<string> {
  const { ctx, services, visit, site } = exchange;
  try {
    return await themedDocument(services, visit, page, done?.budget);
  } catch (error) {
    // The form has been processed: the visitor must see its result.
    if (!visit.writes.content && !visit.writes.records) throw error;
    const main = withFlash(page.main, (await visit.flash?.take()) ?? '');
    return withoutTheme(ctx, services, site, { ...page, main }, error);
  }
}

/**
 * The document of a page that is no content of the site's own, in the theme's layout. Blocks that the theme puts into it
 * can write nothing, and see nothing of what was posted. Rejects when the theme is broken.
 * @param budget what the page's own logic has left
 */
async function themedDocument(
  services: HttpServices,
  visit: Visit,
  content: PageContent,
  budget?: LogicBudget,
): Promise<string> {
  const page = embeddingPage(services, visit.readOnly(), budget);
  const document = await themedPage(page, await services.sites.theme(visit.site), content);
  return completed(services, document, content.canonical, visit.site);
}

/** Adds what the theme's layout lacks: the canonical address at the end of the head, the browser script. */
async function completed(
  services: HttpServices,
  document: string,
  canonical: string | undefined,
  site: Site,
): Promise<string> {
  const { hasScript, hasCanonical, headEnd } = await pageTags(document, '/@@apps.js');
  const lacksAddress = canonical !== undefined && !hasCanonical && headEnd >= 0;
  const head = lacksAddress ? `${document.slice(0, headEnd)}${canonicalLink(canonical)}\n` : '';
  const page = lacksAddress ? head + document.slice(headEnd) : document;
  return hasScript ? page : `${page}${scriptTag(await scriptUrl(services, site))}\n`;
}

/**
 * A page of the site itself (a login, an error) in the site's theme; bare if the theme is broken.
 * @param requester undefined if not known: the page is then the one for anonymous
 */
export async function sitePage(
  ctx: Context,
  services: HttpServices,
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

async function withoutTheme(
  ctx: Context,
  services: HttpServices,
  site: Site,
  page: PageContent,
  error: unknown,
): Promise<string> {
  const reason = isAppsError(error) ? errorText(error) : (error as Error).message;
  services.logger.error(`[apps] the theme "${site.theme}" cannot show ${ctx.path}: ${reason}`);
  return bareDocument({ ...page, script: await scriptUrl(services, site), lang: site.locale });
}

/** A visit of the site's root that can write nothing, for a request whose rights are not known. */
async function rootVisit(ctx: Context, services: HttpServices, site: Site, requester: Requester): Promise<Visit> {
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new Error('the site has no root');
  return makeVisit({
    origin: { kind: 'request', through: 'form' },
    site,
    content,
    contentPath: '',
    requester,
    // Without the query, which may hold a token of the login.
    readRequest: lazily(() => ({
      ...requestData(ctx, services.baseUrl()),
      url: services.baseUrl() + ctx.path,
      query: {},
    })),
    writes: { records: false, content: false },
    tokens: formTokens(services.requesters, requester),
  });
}
