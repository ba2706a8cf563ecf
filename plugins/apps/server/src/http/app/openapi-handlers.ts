import type { Context } from 'koa';
import type { Items } from '../../../../shared/json';
import { type App, requireRight } from '../../apps';
import type { Requester } from '../../auth/types';
import { methodNotAllowed } from '../../common/errors';
import type { Site } from '../../sites/types';
import { openApiDocument } from '../openapi/document';
import type { Exchange, HttpServices } from '../request/exchange';
import { requireAccept } from '../request/negotiate';

type Services = Pick<HttpServices, 'sites' | 'loadApp'>;

/** `GET <app>/openapi.json`, for managers (docs/reference/openapi.md). The DefinitionError of a broken settings.yaml. */
export async function getOpenApi(exchange: Exchange): Promise<void> {
  const { ctx, site, app, rights, services } = exchange;
  requireRight(exchange, rights.manager, 'see the description of the app');
  if (app.error) throw app.error;
  ctx.type = 'json';
  answer(ctx, appBytes(services, site, app));
}

/** Documents by their app, which is another after a change of its files: one of 500 elements takes a tenth of a second. */
const documents = new WeakMap<App, { key: string; bytes: Buffer }>();

function appBytes({ sites }: Pick<Services, 'sites'>, site: Site, app: App): Buffer {
  const key = JSON.stringify([sites.urls.app(site, app.id), site.title]);
  const kept = documents.get(app);
  if (kept?.key === key) return kept.bytes;
  const bytes = Buffer.from(JSON.stringify(appDocument({ sites }, site, app)));
  documents.set(app, { key, bytes });
  return bytes;
}

/** `GET /<site_id>/@@apps.openapi.json`, for managers: the document of all apps of the site. */
export async function getSiteOpenApi(
  ctx: Context,
  services: Services,
  site: Site,
  requester: Requester,
): Promise<void> {
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', METHODS);
    ctx.status = 204;
    return;
  }
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw methodNotAllowed(METHODS);
  requireAccept(ctx, true);
  requireRight({ visit: { requester } }, requester.isManager, 'see the description of the apps');
  answer(ctx, await siteDocument(services, site));
}

const METHODS = 'GET, HEAD, OPTIONS';

function answer(ctx: Context, document: Items | Buffer): void {
  ctx.vary('Authorization, Cookie, Accept');
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.body = document;
}

/** The OpenAPI document of one app. */
export function appDocument({ sites }: Pick<Services, 'sites'>, site: Site, app: App): Items {
  const url = sites.urls.app(site, app.id);
  return openApiDocument({ title: `${app.id} (${site.title})`, url: url.slice(0, url.lastIndexOf('/')), apps: [app] });
}

/** The OpenAPI document of all apps that the site's active theme offers. */
export async function siteDocument({ sites, loadApp }: Services, site: Site): Promise<Items> {
  const apps: App[] = [];
  for (const id of [...(await sites.apps(site))].sort()) {
    const app = await loadApp(site, id);
    if (app) apps.push(app);
  }
  return openApiDocument({ title: site.title, url: `${site.url}/@@apps`, apps });
}
