import type { AppDetail, AppSummary, appRoutes, ColumnSummary } from '../../../../shared/admin-api';
import { type App, brokenCatalogues, declaredItems, sourceOf } from '../../apps';
import type { AppsError } from '../../common/errors';
import type { AppKey } from '../../records/types';
import { type Views, viewsOf } from '../app/views';
import type { HttpServices } from '../request/exchange';
import { appOf, type Handlers, type PanelApp } from './handler';
import { indexesOf, refreshOf } from './indexes';
import { optionsOf } from './options';
import { blockFailures, blockProblems, problemOf } from './problems';
import { hasForm } from './records/record-form';

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
    };
  },
};

/** The items that the definitions of an app's blocks declare. */
const columnsOf = (app: App): ColumnSummary[] =>
  declaredItems(app).map(({ name, label = name, type, options = [] }) => {
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
