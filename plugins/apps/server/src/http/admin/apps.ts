import { z } from 'zod';
import type {
  AppDetail,
  AppOptions,
  AppSummary,
  appRoutes,
  ColumnSummary,
  IndexSizes,
  IndexSummary,
  indexRoutes,
  optionRoutes,
  Refresh,
} from '../../../../shared/admin-api';
import { type Items, isItems } from '../../../../shared/json';
import { type App, brokenCatalogues, declaredItems, sourceOf } from '../../apps';
import { AppsError, errorText } from '../../common/errors';
import { must, readBody } from '../../common/request-schema';
import type { AppKey } from '../../records/types';
import { type Views, viewsOf } from '../app/page-handlers';
import { jsonObject } from '../request/body';
import { refreshBody } from '../request/body-schemas';
import type { HttpServices } from '../request/exchange';
import { appOf, type Handlers, type PanelApp } from './handler';
import { blockFailures, blockProblems, problemOf } from './problems';
import { hasForm } from './records/record-form';

/** What the admin routes of an app's indexes answer (shared/admin/indexes.ts). */
export const indexHandlers: Handlers<typeof indexRoutes> = {
  async refresh(ctx, services): Promise<Refresh> {
    const { app, key } = await appOf(ctx, services);
    ctx.status = 202;
    return startRefresh(services, app, key, readBody(refreshBody, jsonObject(ctx)).rebuild);
  },

  async indexSizes(ctx, services): Promise<IndexSizes> {
    const { key } = await appOf(ctx, services);
    return Object.fromEntries(await services.store.indexSizes(key));
  },
};

/** The last re-index of each app that the panel started in this process. */
const refreshes = new Map<string, Refresh>();
const refreshName = ({ site, app }: AppKey) => `${site}/${app}`;

/** The running re-index of any process; else the last one that the panel started. */
export async function refreshOf({ store }: HttpServices, key: AppKey): Promise<Refresh | null> {
  const progress = await store.progress(key);
  if (progress) return { state: 'running', ...progress, message: null };
  return refreshes.get(refreshName(key)) ?? null;
}

/** The app's indexes, `id` among them, each with its state. */
export async function indexesOf(
  { store }: HttpServices,
  key: AppKey,
  indexes: App['indexes'],
): Promise<IndexSummary[]> {
  const [complete, progress] = await Promise.all([store.completeIndexes(key), store.progress(key)]);
  return [...indexes].map(([name, type]) => ({
    name,
    type,
    state: complete.get(name) === type ? 'ready' : progress ? 'building' : 'missing',
  }));
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

/** Characters of the options of an app, as JSON. */
const MAX_OPTIONS = 100_000;

const optionsBody = z.object({
  options: z
    .custom<Items | null>((value) => value === null || isItems(value), must('an object, or null'))
    .refine(
      (value) => (JSON.stringify(value) ?? '').length <= MAX_OPTIONS,
      must(`at most ${MAX_OPTIONS} characters of JSON`),
    ),
});

/** What the admin routes of an app's options answer (shared/admin/options.ts). */
export const optionHandlers: Handlers<typeof optionRoutes> = {
  async setOptions(ctx, services): Promise<AppOptions> {
    const { site, app } = await appOf(ctx, services);
    const { options } = readBody(optionsBody, jsonObject(ctx));
    await services.sites.setOptions(site.id, app.id, options);
    return optionsOf((await appOf(ctx, services)).app);
  },
};

/** The options of an app: its file's, those of an administrator, and both merged. */
export function optionsOf({ settings, folder }: App): AppOptions {
  const file = (settings.source.options ?? {}) as Items;
  const override = folder.options ? (JSON.parse(folder.options) as Items) : null;
  return { file, override, merged: settings.options };
}

/** What the admin routes of an app answer (shared/admin/apps.ts). */
export const appHandlers: Handlers<typeof appRoutes> = {
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
        hasForm: hasForm(services, block),
        problem: problems.get(block) ?? null,
        failures: blockFailures(app, block),
      })),
      columns: columnsOf(app),
      indexes: await indexesOf(services, key, app.indexes),
      options: optionsOf(app),
      problem: problemOf(await appError(app), (file) => sourceOf(app, file)),
      refresh: await refreshOf(services, key),
      mails: await services.mailer.state(key),
      deadJobs: await deadJobsOf(services, key),
      history: app.settings.history,
    };
  },
};

/** The items that the definitions of an app's blocks declare. */
const columnsOf = (app: App): ColumnSummary[] =>
  declaredItems(app).map((element) => {
    const { name, label = name, type } = element;
    const options = [...(element.kind.options?.(element) ?? [])];
    return { name, label, type, index: app.indexes.get(name) ?? null, options };
  });

/** An app in the overview of its site. @param views the site's */
export async function summaryOf(
  services: HttpServices,
  { site, app, key }: PanelApp,
  views: Views,
): Promise<AppSummary> {
  const problems = await blockProblems(services, site, views, app);
  const ofApp = problemOf(await appError(app), (file) => sourceOf(app, file));
  const found = [ofApp, ...problems.values()].filter((problem) => problem !== null);
  return {
    id: app.id,
    url: services.sites.urls.app(site, app.id),
    theme: app.folder.themeId,
    blocks: app.blocks.size,
    records: await services.store.count(key, app.indexes),
    problems: found.length,
    problem: found[0] ?? null,
    failedRuns: await services.runs.failed(key),
    deadJobs: await deadJobsOf(services, key),
  };
}

/** The error of an app's settings, else of one of its catalogues. */
async function appError({ error, folder }: App): Promise<AppsError | null> {
  return error ?? (await brokenCatalogues(folder.files))[0] ?? null;
}

/** How many jobs of an app are given up. */
async function deadJobsOf({ jobs }: HttpServices, key: AppKey): Promise<number> {
  const counts = await jobs.counts({ ...key, state: 'dead' });
  return counts.reduce((sum, count) => sum + count.jobs, 0);
}
