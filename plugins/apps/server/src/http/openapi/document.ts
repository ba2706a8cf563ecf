import type { Context } from 'koa';
import type { Items } from '../../../../shared/json';
import { type App, requireRight } from '../../apps';
import { SESSION_COOKIE } from '../../auth';
import type { Requester } from '../../auth/types';
import type { Site } from '../../sites/types';
import type { Exchange, HttpServices } from '../request/exchange';
import { requireAccept } from '../request/negotiate';
import { type BlockSchemas, blockPaths, blockSchemas, type UniqueName } from './blocks';
import { answer, headers, operation, parameters, responses, schemas, security, securitySchemes } from './components';
import { recordPaths } from './records';

type Services = Pick<HttpServices, 'sites' | 'loadApp'>;

/** `GET <app>/openapi.json`, for managers (docs/reference/openapi.md). The DefinitionError of a broken settings.yaml. */
export async function getOpenApi(exchange: Exchange): Promise<void> {
  const { ctx, site, app, rights, services } = exchange;
  requireRight(exchange, rights.manager, 'see the description of the app');
  if (app.error) throw app.error;
  ctx.type = 'json';
  sendDocument(ctx, appBytes(services, site, app));
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
  requireAccept(ctx, true);
  requireRight({ visit: { requester } }, requester.isManager, 'see the description of the apps');
  sendDocument(ctx, await siteDocument(services, site));
}

function sendDocument(ctx: Context, document: Items | Buffer): void {
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

/** What a document describes. */
interface Described {
  title: string;
  /** Absolute URL to which the ids of apps are added: `{base_url}/<site_id>/@@apps`. */
  url: string;
  /** Those with errors are left out. */
  apps: readonly App[];
}

/**
 * The OpenAPI 3.1 document of apps (docs/reference/openapi.md). Broken apps and blocks are left out. Depends on nothing but
 * its argument, so that equal files give equal documents.
 */
function openApiDocument({ title, url, apps }: Described): Items {
  const [operations, names] = [uniqueNames(), uniqueNames()];
  const described = apps.filter(({ error }) => error === null).map((app) => describeApp(app, operations, names));
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description:
        'The JSON interface of apps. With the path of a content item before /@@apps, that item is the content of the request.',
    },
    servers: [{ url }],
    security: security(false),
    tags: described.map(({ id }) => ({ name: id })),
    paths: merged(described.map(({ paths }) => paths)),
    components: {
      schemas: { ...schemas, ...merged(described.map((one) => one.schemas)) },
      responses,
      parameters,
      headers,
      securitySchemes: securitySchemes(SESSION_COOKIE),
    },
  };
}

function describeApp(
  app: App,
  operations: UniqueName,
  names: UniqueName,
): { id: string; paths: Items; schemas: Items } {
  const blocks = [...app.blocks.values()].filter(({ error }) => error === null);
  const ofBlocks = blocks
    .map((block) => blockSchemas(app, block, names))
    .filter((found): found is BlockSchemas => found !== null);
  return {
    id: app.id,
    paths: {
      ...recordPaths(app, ofBlocks, operations),
      ...merged(blocks.map((block) => blockPaths(app, block, operations))),
      [`/${app.id}/openapi.json`]: {
        get: operation(app.id, {
          id: operations(app.id, 'openapi'),
          summary: 'The description of this app as an OpenAPI document; for managers',
          answers: { 200: answer('The document', { type: 'object' }) },
        }),
      },
    },
    schemas: merged(ofBlocks.map((one) => one.schemas)),
  };
}

const merged = (parts: readonly Items[]): Items => Object.fromEntries(parts.flatMap((part) => Object.entries(part)));

/** Joins parts with dots; ids may have dots too, so that a name that is taken gets a number. */
function uniqueNames(): UniqueName {
  const taken = new Set<string>();
  return (...parts) => {
    const wanted = parts.join('.');
    let name = wanted;
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}.${count}`;
    taken.add(name);
    return name;
  };
}
