import { folderOf, plainLocale, scriptUrl, showsDetails, siteLocale, sourceOf } from '../apps';
import type { Logger } from '../common/log';
import { linkToken } from './request/locate';
import type { Reached } from './request/stages';
import { inLanguage, localeOfPath, sitePage } from './response/pages';
import type { ErrorView } from './response/respond-error';
import { formAgain } from './site/login';
import { isPublic } from './site/own-addresses';

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
