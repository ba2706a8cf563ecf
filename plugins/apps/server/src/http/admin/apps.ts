import { z } from 'zod';
import type {
  AppDetail,
  AppOptions,
  AppSummary,
  appRoutes,
  BlockChoice,
  BlockFailure,
  ColumnSummary,
  FileProblem,
  HandOver,
  IndexSizes,
  IndexSummary,
  indexRoutes,
  Overview,
  optionRoutes,
  Preview,
  Refresh,
  SiteOverview,
  siteRoutes,
  tileRoutes,
} from '../../../../shared/admin-api';
import { type Items, isItems } from '../../../../shared/json';
import { excerptOf } from '../../../../shared/positions';
import {
  type App,
  type Block,
  brokenCatalogues,
  declaredItems,
  failuresOf,
  newDryRun,
  programOf,
  sourceOf,
  themeErrors,
} from '../../apps';
import { AppsError, attempt, errorText, notFound } from '../../common/errors';
import { must, validateBody } from '../../common/validation';
import type { PausedLogic } from '../../logic/types';
import type { AppKey } from '../../records/types';
import { optionsRevision } from '../../sites';
import type { Site } from '../../sites/types';
import { type Views, viewProblem, viewsOf } from '../app/page-handlers';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { refreshBody } from '../request/operations';
import { actorOf, audited, whoOf } from './acting';
import { lockOf } from './code';
import { appOf, appsOf, type Handlers, type PanelApp, pathBelow, siteOf } from './handler';
import { hasForm } from './record-form';
import { requesterOf } from './why';

/** The text of a file that the position of an error may name. */
type Source = (file: string) => string | undefined;

/** What the panel shows of an error. @param source gives the text of the position's file */
function problemOf(error: AppsError | null, source: Source): FileProblem | null {
  if (!error) return null;
  const { message, position: { file = '', line = null, column = null } = {} } = error;
  return quoted({ message, file, line, column }, source);
}

function quoted<T extends Omit<FileProblem, 'excerpt'>>(problem: T, source: Source): T & FileProblem {
  const text = source(problem.file);
  return { ...problem, excerpt: text === undefined ? null : excerptOf(text, problem) };
}

/** Milliseconds for checking all blocks of an app. */
const MAX_CHECK_TIME = 5000;

/** The problem of each block of an app: in its files, its running logic, or its view. @param views the site's */
async function blockProblems(
  services: HttpServices,
  site: Site,
  views: Views,
  app: App,
): Promise<Map<Block, FileProblem | null>> {
  const deadline = performance.now() + MAX_CHECK_TIME;
  const problems = new Map<Block, FileProblem | null>();
  const paused = await services.logic.paused();
  for (const block of app.blocks.values()) {
    const broken = block.error ?? layoutError(services, block) ?? (await logicError(services, app, block, deadline));
    const source = (file: string) => sourceOf(app, file);
    const problem =
      problemOf(broken, source) ??
      breakerProblem(paused, site, app, block) ??
      problemOf(viewProblem(views, app, block), source);
    problems.set(block, problem ?? blockFailures(app, block)[0] ?? null);
  }
  return problems;
}

/** The recent failures of a block. */
function blockFailures(app: App, block: Block): BlockFailure[] {
  return failuresOf(block).map((failure) => quoted(failure, (file) => sourceOf(app, file)));
}

/** The problems of the theme's own files; those of blocks are listed with their apps. */
async function siteProblems(services: HttpServices, site: Site): Promise<FileProblem[]> {
  const theme = await services.sites.theme(site);
  if (!theme) return [withoutPosition(`There is no theme "${site.theme}"`, '')];
  const errors = await themeErrors(services, site, theme);
  return errors.flatMap((error) => problemOf(error, (file) => theme.files.get(file)?.text) ?? []);
}

async function logicError({ logic }: HttpServices, app: App, block: Block, deadline: number) {
  return block.logic && logic.problem(programOf(app, block.logic), deadline);
}

function layoutError({ layouts }: HttpServices, { layout }: Block): AppsError | null {
  return layout && attempt(() => layouts.compile(layout)).error;
}

/** The problem of a block whose circuit breaker is open. */
function breakerProblem(paused: readonly PausedLogic[], site: Site, app: App, block: Block): FileProblem | null {
  const scope = `${site.id}/${app.folder.themeId}/${app.id}`;
  const open = paused.find((one) => one.scope === scope && one.path === block.logic?.path);
  if (!open) return null;
  return withoutPosition(`Paused for ${open.seconds} s: its logic went over its limits again and again`, open.path);
}

const withoutPosition = (message: string, file: string): FileProblem => {
  return { message, file, line: null, column: null, excerpt: null };
};

/** What the admin routes of an app's indexes answer (shared/admin/apps.ts). */
export const indexHandlers: Handlers<typeof indexRoutes> = {
  async refresh(ctx, services): Promise<Refresh> {
    const { app, key } = await appOf(ctx, services);
    ctx.status = 202;
    return startRefresh(services, app, key, validateBody(refreshBody, jsonObject(ctx)).rebuild);
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
async function refreshOf({ store }: HttpServices, key: AppKey): Promise<Refresh | null> {
  const progress = await store.progress(key);
  if (progress) return { state: 'running', ...progress, message: null };
  return refreshes.get(refreshName(key)) ?? null;
}

/** The app's indexes, `id` among them, each with its state. */
async function indexesOf({ store }: HttpServices, key: AppKey, indexes: App['indexes']): Promise<IndexSummary[]> {
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
  revision: z.string(must('the revision of the options that were read, or null')).nullable().optional(),
});

/** What the admin routes of an app's options answer (shared/admin/apps.ts). */
export const optionHandlers: Handlers<typeof optionRoutes> = {
  async setOptions(ctx, services): Promise<AppOptions> {
    const { site, app } = await appOf(ctx, services);
    const { options, revision } = validateBody(optionsBody, jsonObject(ctx));
    await services.sites.setOptions(site.id, app.id, options, revision);
    return optionsOf((await appOf(ctx, services)).app);
  },
};

/** The options of an app: its file's, those of an administrator, and both merged. */
function optionsOf({ settings, folder }: App): AppOptions {
  const file = (settings.source.options ?? {}) as Items;
  const override = folder.options ? (JSON.parse(folder.options) as Items) : null;
  return { file, override, merged: settings.options, revision: optionsRevision(folder.options ?? null) };
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
async function summaryOf(services: HttpServices, { site, app, key }: PanelApp, views: Views): Promise<AppSummary> {
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

const MAX_PATH = 500;

const previewBody = z.object({
  theme: z.string(must('the id of a theme')),
  path: z
    .string(must('a path'))
    .max(MAX_PATH, must(`at most ${MAX_PATH} characters`))
    .default(''),
});

const themeBody = z.object({ theme: z.string(must('the id of a theme')) });

/** What the admin routes of sites and themes answer (shared/admin/apps.ts). */
export const siteHandlers: Handlers<typeof siteRoutes> = {
  async overview(_ctx, services): Promise<Overview> {
    const themes = await services.sites.themes();
    const sites = await Promise.all((await services.sites.all()).map((site) => siteOverview(services, site)));
    const setup = await services.setup();
    return { setup, sites, themes, editing: lockOf(services) === null };
  },

  async setTheme(ctx, services): Promise<SiteOverview> {
    const site = await siteOf(ctx, services);
    const { theme } = validateBody(themeBody, jsonObject(ctx));
    await services.sites.activate(site.id, theme);
    return siteOverview(services, await siteOf(ctx, services));
  },

  async previewTheme(ctx, services): Promise<Preview> {
    const site = await siteOf(ctx, services);
    const { theme, path } = validateBody(previewBody, jsonObject(ctx));
    if (!(await services.sites.themes()).some(({ id }) => id === theme)) throw notFound(`There is no theme "${theme}"`);
    const base = new URL(services.baseUrl());
    const { pathname, search } = new URL(`${site.url}/${path.replace(/^\/+/, '')}`);
    const requester = await requesterOf(services, 'anonymous');
    const answer = await services.inject({
      method: 'GET',
      path: pathBelow(base, pathname) + search,
      headers: { accept: 'text/html', host: base.host },
      requester,
      dry: newDryRun(),
      overlay: { theme: { site: site.id, id: theme } },
    });
    return { status: answer.status, html: answer.text, redirect: answer.location };
  },

  async handOver(ctx, services): Promise<HandOver> {
    const site = await siteOf(ctx, services);
    const actor = await actorOf(ctx, services);
    const requester = whoOf(actor.requester.identity, actor.requester.username);
    const acted = { action: 'log-in', site: site.id, app: null, block: null, requester } as const;
    const handOver = () => services.requesters.handOver(ctx, ctx.state);
    const { token, cookie } = await audited(services, actor, acted, handOver, () => 201);
    if (cookie !== null) ctx.append('Set-Cookie', cookie);
    ctx.set('Cache-Control', 'private, no-store');
    ctx.status = 201;
    return { token, url: `${site.url}/@@login?hand-over=${token}` };
  },
};

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
    apps: await Promise.all(apps.map((found) => summaryOf(services, found, views))),
  };
}

/** What the admin routes of the custom field for tiles answer (shared/admin/apps.ts). */
export const tileHandlers: Handlers<typeof tileRoutes> = {
  async blocks(_ctx, services): Promise<BlockChoice[]> {
    const choices = new Map<string, BlockChoice>();
    for (const site of await services.sites.all()) {
      for (const { app } of await appsOf(services, site)) {
        for (const block of app.blocks.values()) {
          const value = `${app.id}/blocks/${block.id}`;
          // An empty list lets only managers in.
          const isForManagers = block.definition.viewPermission?.length === 0;
          if (!block.layout || isForManagers || choices.has(value)) continue;
          choices.set(value, {
            app: app.id,
            block: block.id,
            value,
            url: services.sites.urls.block(site, app.id, block.id),
          });
        }
      }
    }
    return [...choices.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  },
};
