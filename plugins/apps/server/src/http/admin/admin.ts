import type { Context } from 'koa';
import { z } from 'zod';
import {
  type AdminRoute,
  type AppDetail,
  type AppOptions,
  type AppSummary,
  adminRoutes,
  type BlockChoice,
  type HandOver,
  type Overview,
  type RecordsPage,
  type Refresh,
  type SiteOverview,
} from '../../../../shared/admin-api';
import type { Items } from '../../../../shared/json';
import { type App, brokenCatalogues, sourceOf } from '../../apps';
import { AppsError, errorText, notFound } from '../../errors';
import type { AppKey } from '../../records/types';
import { must, readBody, readParameters } from '../../request-schema';
import type { Site } from '../../sites/types';
import { type Views, viewsOf } from '../app/views';
import { jsonObject } from '../request/body';
import { refreshBody } from '../request/body-schemas';
import type { HttpServices } from '../request/exchange';
import { respondError } from '../response/respond-error';
import { deleteFromPanel } from './delete';
import { blockFailures, blockProblems, problemOf, siteProblems } from './problems';
import { ruleHandlers } from './rules';
import { runHandlers } from './runs';

type Handle = (ctx: Context, services: HttpServices) => Promise<unknown>;

/** Records of one page of the panel. */
const MAX_PAGE = 100;

const themeBody = z.object({ theme: z.string(must('the id of a theme')) });

/** Characters of the options of an app, as JSON. */
const MAX_OPTIONS = 100_000;

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

const optionsBody = z.object({
  options: z
    .custom<Items | null>((value) => value === null || isObject(value), must('an object, or null'))
    .refine(
      (value) => (JSON.stringify(value) ?? '').length <= MAX_OPTIONS,
      must(`at most ${MAX_OPTIONS} characters of JSON`),
    ),
});

/** A page of records; a parameter that is no number gets its default. */
const pageParameters = z.object({
  query: z.string().catch(''),
  limit: count(20).transform((limit) => Math.min(limit, MAX_PAGE)),
  offset: count(0),
});

function count(defaultValue: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .catch(defaultValue);
}

/** What each route of the admin panel answers (shared/admin-api.ts). */
const handlers: Record<AdminRoute, Handle> = {
  async overview(_ctx, services): Promise<Overview> {
    const themes = await services.sites.themes();
    const sites = await Promise.all((await services.sites.all()).map((site) => siteOverview(services, site)));
    const setup = await services.setup();
    return { setup, sites, themes: themes.map(({ id, title, description }) => ({ id, title, description })) };
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
    const { theme } = readBody(themeBody, jsonObject(ctx));
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
        failures: blockFailures(app, block),
      })),
      indexes: [...app.indexes].map(([name, type]) => ({ name, type })),
      options: optionsOf(app),
      problem: problemOf(await appError(app), (file) => sourceOf(app, file)),
      refresh: await refreshOf(services, key),
    };
  },

  async records(ctx, services): Promise<RecordsPage> {
    const { site, app, key } = await appOf(ctx, services);
    const options = { ...readParameters(pageParameters, ctx.query), withTotal: true };
    const found = await services.store.search(key, app.indexes, options);
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

  async setOptions(ctx, services): Promise<AppOptions> {
    const { site, app } = await appOf(ctx, services);
    const { options } = readBody(optionsBody, jsonObject(ctx));
    await services.sites.setOptions(site.id, app.id, options);
    return optionsOf((await appOf(ctx, services)).app);
  },

  async refresh(ctx, services): Promise<Refresh> {
    const { app, key } = await appOf(ctx, services);
    ctx.status = 202;
    return startRefresh(services, app, key, readBody(refreshBody, jsonObject(ctx)).rebuild);
  },

  ...ruleHandlers,
  ...runHandlers,
};

const anyAdministrator: AdminRoute[] = ['blocks'];

/** The plugin's admin routes and their controller, as Strapi wants them exported. */
export function adminInterface(services: () => HttpServices) {
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

function optionsOf({ settings, folder }: App): AppOptions {
  const file = (settings.source.options ?? {}) as Items;
  const override = folder.options ? (JSON.parse(folder.options) as Items) : null;
  return { file, override, merged: settings.options };
}

async function siteOverview(services: HttpServices, site: Site): Promise<SiteOverview> {
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

async function summary(services: HttpServices, site: Site, views: Views, app: App, key: AppKey): Promise<AppSummary> {
  const problems = await blockProblems(services, site, views, app);
  return {
    id: app.id,
    url: services.sites.urls.app(site, app.id),
    theme: app.folder.themeId,
    blocks: app.blocks.size,
    records: await services.store.count(key, app.indexes),
    problems: [...problems.values()].filter(Boolean).length + ((await appError(app)) ? 1 : 0),
  };
}

/** The error of an app's settings, else of one of its catalogues. */
async function appError({ error, folder }: App): Promise<AppsError | null> {
  return error ?? (await brokenCatalogues(folder.files))[0] ?? null;
}

async function appsOf(services: HttpServices, site: Site): Promise<{ app: App; key: AppKey }[]> {
  const ids = await services.sites.apps(site);
  const apps = await Promise.all(ids.map((id) => services.loadApp(site, id)));
  return apps.flatMap((app) => (app ? [{ app, key: { site: site.id, app: app.id } }] : []));
}

async function siteOf(ctx: Context, services: HttpServices): Promise<Site> {
  const site = await services.sites.site(String(ctx.params.site));
  if (!site) throw notFound('There is no such site');
  return site;
}

async function appOf(ctx: Context, services: HttpServices): Promise<{ site: Site; app: App; key: AppKey }> {
  const site = await siteOf(ctx, services);
  const app = await services.loadApp(site, String(ctx.params.app));
  if (!app) throw notFound('There is no such app');
  return { site, app, key: { site: site.id, app: app.id } };
}

/** The last re-index of each app that the panel started in this process. */
const refreshes = new Map<string, Refresh>();
const refreshName = ({ site, app }: AppKey) => `${site}/${app}`;

/** The running re-index of any process; else the last one that the panel started. */
async function refreshOf({ store }: HttpServices, key: AppKey): Promise<Refresh | null> {
  const progress = await store.progress(key);
  if (progress) return { state: 'running', ...progress, message: null };
  return refreshes.get(refreshName(key)) ?? null;
}

function startRefresh(services: HttpServices, app: App, key: AppKey, rebuild: boolean): Refresh {
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
      end('failed', error instanceof AppsError ? errorText(error) : 'The re-index failed; the log says why');
    });
  return started;
}
