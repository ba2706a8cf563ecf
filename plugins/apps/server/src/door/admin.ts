import type { Context } from 'koa';
import {
  type AdminRoute,
  type AppDetail,
  type AppSummary,
  adminRoutes,
  type BlockChoice,
  type HandOver,
  type Overview,
  type RecordsPage,
  type Refresh,
  type SiteOverview,
} from '../../../shared/admin-api';
import type { App } from '../apps';
import { AppsError } from '../errors';
import type { AppKey } from '../records/types';
import type { Site } from '../sites/types';
import { deleteFromPanel } from './admin-delete';
import { blockFailures, blockProblems, problemOf, siteProblems } from './admin-problems';
import { ruleHandlers } from './admin-rules';
import { jsonObject } from './body';
import type { DoorServices } from './exchange';
import { respondError } from './respond-error';
import { type Views, viewsOf } from './views';

type Handle = (ctx: Context, services: DoorServices) => Promise<unknown>;

/** Most records of one page of the panel. */
const MAX_PAGE = 100;

/** What each route of the admin panel answers (shared/admin-api.ts). */
const handlers: Record<AdminRoute, Handle> = {
  async overview(_ctx, services): Promise<Overview> {
    const themes = await services.sites.themes();
    const sites = await Promise.all((await services.sites.all()).map((site) => siteOverview(services, site)));
    return { sites, themes: themes.map(({ id, title, description }) => ({ id, title, description })) };
  },

  async blocks(_ctx, services): Promise<BlockChoice[]> {
    const choices = new Map<string, BlockChoice>();
    for (const site of await services.sites.all()) {
      for (const { app } of await appsOf(services, site)) {
        for (const block of app.blocks.values()) {
          const value = `${app.id}/blocks/${block.id}`;
          if (block.layout) choices.set(value, { app: app.id, block: block.id, value });
        }
      }
    }
    return [...choices.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  },

  async setTheme(ctx, services): Promise<SiteOverview> {
    const site = await siteOf(ctx, services);
    const { theme } = jsonObject(ctx);
    if (typeof theme !== 'string') throw new AppsError('BadRequestError', '"theme" must be the id of a theme');
    await services.sites.activate(site.id, theme);
    return siteOverview(services, await siteOf(ctx, services));
  },

  async handOver(ctx, services): Promise<HandOver> {
    const site = await siteOf(ctx, services);
    const { token, cookie } = await services.requesters.handOver(ctx, ctx.state);
    if (cookie !== null) ctx.append('Set-Cookie', cookie);
    ctx.set('Cache-Control', 'private, no-store');
    ctx.status = 201;
    return { token, url: `${site.url}/@@login?hand-over=${token}` };
  },

  async app(ctx, services): Promise<AppDetail> {
    const { site, app, key } = await appOf(ctx, services);
    const { urls } = services.sites;
    const problems = await blockProblems(services, site, await viewsOf(services, site), app);
    return {
      site: site.id,
      id: app.id,
      url: urls.app(site, app.id),
      theme: app.folder.themeId,
      records: await services.store.count(key, app.indexes),
      blocks: [...app.blocks.values()].map((block) => ({
        id: block.id,
        url: urls.block(site, app.id, block.id),
        elements: [...block.definition.elements.values()].map(({ name, type }) => ({ name, type })),
        problem: problems.get(block) ?? null,
        failures: blockFailures(block),
      })),
      indexes: [...app.indexes].map(([name, type]) => ({ name, type })),
      problem: problemOf(app.error),
      refresh: await refreshOf(services, key),
    };
  },

  async records(ctx, services): Promise<RecordsPage> {
    const { site, app, key } = await appOf(ctx, services);
    const { query, limit, offset } = ctx.query;
    const found = await services.store.search(key, app.indexes, {
      query: typeof query === 'string' ? query : '',
      limit: Math.min(count(limit, 20), MAX_PAGE),
      offset: count(offset, 0),
      withTotal: true,
    });
    return {
      total: found.total ?? found.records.length,
      records: found.records.map(({ id, creator, items }) => ({
        id,
        url: services.sites.urls.record(site, app.id, id),
        creator,
        items,
      })),
    };
  },

  async deleteRecord(ctx, services): Promise<{ success: 'deleted' }> {
    const { site, app } = await appOf(ctx, services);
    await deleteFromPanel(ctx, services, site, app);
    return { success: 'deleted' };
  },

  async refresh(ctx, services): Promise<Refresh> {
    const { app, key } = await appOf(ctx, services);
    ctx.status = 202;
    return startRefresh(services, app, key, jsonObject(ctx).rebuild === true);
  },

  ...ruleHandlers,
};

const anyAdministrator: AdminRoute[] = ['blocks'];

/** The plugin's admin routes and their controller, as Strapi wants them exported. */
export function adminInterface(services: () => DoorServices) {
  const controller = Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      async (ctx: Context) => {
        const view = { json: true, details: true, logger: services().logger };
        try {
          const body = await handle(ctx, services());
          ctx.body = body;
        } catch (error) {
          await respondError(ctx, error, view);
        }
      },
    ]),
  );
  const routes = Object.entries(adminRoutes).map(([name, { method, path }]) => ({
    method,
    path,
    handler: `admin.${name}`,
    config: { policies: policiesOf(name as AdminRoute) },
  }));
  return { controller, routes: { type: 'admin' as const, routes } };
}

function policiesOf(route: AdminRoute): unknown[] {
  if (anyAdministrator.includes(route)) return ['admin::isAuthenticatedAdmin'];
  const config = { actions: ['plugin::apps.manage'] };
  return ['admin::isAuthenticatedAdmin', { name: 'admin::hasPermissions', config }];
}

async function siteOverview(services: DoorServices, site: Site): Promise<SiteOverview> {
  const apps = await appsOf(services, site);
  const views = await viewsOf(services, site);
  const { id, title, url, theme } = site;
  return {
    id,
    title,
    url,
    theme,
    problems: await siteProblems(services, site),
    apps: await Promise.all(apps.map(({ app, key }) => summary(services, site, views, app, key))),
  };
}

async function summary(services: DoorServices, site: Site, views: Views, app: App, key: AppKey): Promise<AppSummary> {
  const problems = await blockProblems(services, site, views, app);
  return {
    id: app.id,
    url: services.sites.urls.app(site, app.id),
    theme: app.folder.themeId,
    blocks: app.blocks.size,
    records: await services.store.count(key, app.indexes),
    problems: [...problems.values()].filter(Boolean).length + (app.error ? 1 : 0),
  };
}

async function appsOf(services: DoorServices, site: Site): Promise<{ app: App; key: AppKey }[]> {
  const ids = await services.sites.apps(site);
  const apps = await Promise.all(ids.map((id) => services.loadApp(site, id)));
  return apps.flatMap((app) => (app ? [{ app, key: { site: site.id, app: app.id } }] : []));
}

async function siteOf(ctx: Context, services: DoorServices): Promise<Site> {
  const site = await services.sites.site(String(ctx.params.site));
  if (!site) throw new AppsError('NotFoundError', 'There is no such site');
  return site;
}

async function appOf(ctx: Context, services: DoorServices): Promise<{ site: Site; app: App; key: AppKey }> {
  const site = await siteOf(ctx, services);
  const app = await services.loadApp(site, String(ctx.params.app));
  if (!app) throw new AppsError('NotFoundError', 'There is no such app');
  return { site, app, key: { site: site.id, app: app.id } };
}

function count(value: unknown, otherwise: number): number {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : otherwise;
}

/** The last re-index of each app that the panel began since the server started. */
const refreshes = new Map<string, Refresh>();
const refreshName = ({ site, app }: AppKey) => `${site}/${app}`;

/** The re-index that is at work, whoever began it and in whichever process; else the last one that the panel began. */
async function refreshOf({ store }: DoorServices, key: AppKey): Promise<Refresh | null> {
  const progress = await store.progress(key);
  if (progress) return { state: 'running', ...progress, message: null };
  return refreshes.get(refreshName(key)) ?? null;
}

function startRefresh(services: DoorServices, app: App, key: AppKey, rebuild: boolean): Refresh {
  const name = refreshName(key);
  const running = refreshes.get(name);
  if (running?.state === 'running') return running;
  const started: Refresh = { state: 'running', done: null, total: null, message: null };
  refreshes.set(name, started);
  const end = (state: Refresh['state'], message: string | null) => refreshes.set(name, { ...started, state, message });
  services.store
    .refresh(key, app.indexes, { rebuild })
    .then(() => end('done', null))
    .catch((error: unknown) => {
      services.logger.error(`[apps] re-index of ${name}: ${String(error)}`);
      end('failed', error instanceof AppsError ? error.message : 'The re-index failed; the log says why');
    });
  return started;
}
