import type { Context } from 'koa';
import { type Encoding, encodings } from '../../../../shared/cells';
import { loadApp } from '../../apps';
import type { App } from '../../apps/types';
import { AppsError, methodNotAllowed } from '../../common/errors';
import type { Logger } from '../../common/log';
import { type Format, XLSX_TYPE } from '../../interchange';
import { withFiles } from '../../sites';
import type { AppTarget } from '../../sites/types';
import type { HttpServices, Overlay } from './exchange';

/** Targets that are always JSON (docs/reference/addresses.md#json-or-page). */
const alwaysJson = new Set<AppTarget['kind']>(['root', 'records', 'search', 'refresh', 'openapi', 'history']);

/** Methods that only the JSON interface has. */
const jsonMethods = new Set(['PUT', 'PATCH', 'DELETE']);

const FRAGMENT = 'text/html+fragment';

/** Whether a request is a JSON request: by its target, its method, its `Accept` or its `Content-Type`. */
export function isJsonRequest(ctx: Context, target: AppTarget): boolean {
  if (alwaysJson.has(target.kind) || jsonMethods.has(ctx.method)) return true;
  return /\bapplication\/json\b/i.test(ctx.get('Accept')) || mediaType(ctx) === 'application/json';
}

/** The request's media type in lower case, without parameters; '' if there is none. */
export function mediaType(ctx: Context): string {
  return (ctx.get('Content-Type').split(';')[0] ?? '').trim().toLowerCase();
}

/** The value of a header, named in lower case, that a request has once; null where it has none, or several. */
export function onlyHeader(ctx: Context, name: string): string | null {
  const [value, more] = ctx.req.headersDistinct[name] ?? [];
  return value === undefined || more !== undefined ? null : value;
}

/** Whether the browser script asks. */
export const isByScript = (ctx: Context): boolean => ctx.get('Accept').toLowerCase().includes(FRAGMENT);

/** Whether a page request asks for the block's form alone (docs/reference/http.md#the-form-alone). */
export function wantsFragment(ctx: Context): boolean {
  return ctx.get('X-Requested-With') !== '' || isByScript(ctx);
}

/** Whether the browser script asks where a form with files has led to: it then loads that page as a whole. */
export const isFollowed = (ctx: Context): boolean =>
  ctx.method === 'GET' && ctx.get('Accept').includes('text/html+follow');

/** Formats of files of records by their media types; such a body is read by its handler. */
const fileTypes: Readonly<Record<string, Format>> = {
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  [XLSX_TYPE]: 'xlsx',
};

/** The format of a body that is a file of records; undefined for any other. */
export function fileFormat(ctx: Context): Format | undefined {
  const type = mediaType(ctx);
  return Object.hasOwn(fileTypes, type) ? fileTypes[type] : undefined;
}

/** The encoding that the parameter `charset` of a media type names; undefined without one. UnsupportedMediaTypeError. */
export function charsetOf(contentType: string): Encoding | undefined {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (named === undefined) return undefined;
  const known = encodings.find((one) => one === named || (one === 'utf-8' && named === 'utf8'));
  if (known) return known;
  throw new AppsError('UnsupportedMediaTypeError', `The charset of a table is one of ${encodings.join(', ')}`);
}

/** Media types of a listing, besides JSON, by the name that `Accept` gives them. */
export type ListFormat = 'application/json' | 'application/x-ndjson' | 'text/csv' | typeof XLSX_TYPE;
const listFormats: ListFormat[] = ['application/json', 'application/x-ndjson', 'text/csv', XLSX_TYPE];

/** The media type of a listing that the client accepts; NotAcceptableError where it accepts none. */
export function listFormat(ctx: Context): ListFormat {
  const offered = ctx.get('Accept') === '' ? 'application/json' : ctx.accepts(listFormats);
  if (offered) return offered as ListFormat;
  requireAccept(ctx, true);
  return 'application/json';
}

/**
 * NotAcceptableError when the request accepts none of the offered media types. JSON addresses accept browsers, too.
 * @param more further media types that may be answered
 */
export function requireAccept(ctx: Context, json: boolean, more: readonly string[] = []): void {
  if (ctx.get('Accept') === '') return;
  const offered = json ? ['application/json', 'text/html'] : ['text/html', FRAGMENT, 'application/xhtml+xml'];
  if (ctx.accepts([...offered, ...more])) return;
  throw new AppsError('NotAcceptableError', `This address answers ${json ? 'application/json' : 'text/html'} only`);
}

/** Whether errors are JSON before the address is known. */
export function prefersJson(ctx: Context): boolean {
  const sent = mediaType(ctx);
  if (sent === 'application/json' || fileFormat(ctx) || jsonMethods.has(ctx.method)) return true;
  return /\bapplication\/json\b/i.test(ctx.get('Accept'));
}

/** Methods of an address that can only be read. */
export const READ: readonly string[] = ['GET', 'HEAD'];

/**
 * Answers OPTIONS with the methods of an address; MethodNotAllowedError for one that it does not take.
 * @param refusal the message of that error
 * @returns whether the request is answered
 */
export function isAnsweredByMethod(ctx: Context, methods: readonly string[], refusal?: string): boolean {
  const allow = [...methods, 'OPTIONS'].join(', ');
  if (ctx.method === 'OPTIONS') {
    answerOptions(ctx, allow);
    return true;
  }
  if (!methods.includes(ctx.method)) throw methodNotAllowed(allow, refusal);
  return false;
}

/** Answers OPTIONS. @param allow the value of the header `Allow` */
export function answerOptions(ctx: Context, allow: string): void {
  ctx.set('Allow', allow);
  ctx.status = 204;
}

/** Characters of the texts of one overlay, together, and texts. */
export const overlayLimits = { files: 50, characters: 2_000_000 };

/** What is half written is no news for the server's log; the panel shows it. */
const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

/**
 * The services of one request that sees other texts of files of an app, or another theme of a site, than those that are stored
 * and active. Nothing is written, and nothing of it is kept for other requests.
 */
export function overlaid(services: HttpServices, { files, theme }: Overlay): HttpServices {
  const { sites } = services;
  const site: HttpServices['sites']['site'] = async (id) => {
    const found = await sites.site(id);
    return found && theme?.site === id ? { ...found, theme: theme.id } : found;
  };
  return {
    ...services,
    config: { ...services.config, exactCache: false },
    ...(files && { logger: silent }),
    sites: { ...sites, site },
    async loadApp(shown, appId) {
      const isEdited = files?.site === shown.id && files.app === appId && files.texts.size > 0;
      if (!isEdited && theme?.site !== shown.id) return services.loadApp(shown, appId);
      const folder = isEdited ? await sites.app(shown, appId) : null;
      const app = await (folder && files ? loadApp(withFiles(folder, files.texts)) : services.loadApp(shown, appId));
      const live = await liveApp(services, shown.id, appId);
      // What is being typed declares names that are gone a moment later; another theme's app has its own until it is active.
      return app && (isEdited || isOtherwiseIndexed(app, live)) ? searchingLive(app, live) : app;
    },
  };
}

/** The app that visitors see. */
async function liveApp({ sites, loadApp }: HttpServices, siteId: string, appId: string): Promise<App | null> {
  const site = await sites.site(siteId);
  return site ? loadApp(site, appId) : null;
}

/** Whether an app's indexes would take the place of those that visitors search. */
const isOtherwiseIndexed = ({ indexes }: App, live: App | null): boolean =>
  [...indexes].some(([name, type]) => (live?.indexes.get(name) ?? type) !== type);

/** An app of a preview, which searches the indexes of the live one. */
const searchingLive = (app: App, live: App | null): App => ({
  ...app,
  indexes: Object.assign(new Map(app.indexes), { live: live?.indexes ?? new Map() }),
});
