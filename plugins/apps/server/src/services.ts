import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import type { SetupProblem } from '../../shared/admin-api';
import { runAppTests, TEST_TIMEOUT } from './app-test-run';
import type { createTestTools } from './app-tests';
import { digestOf, historyDaysOf, inDebugMode, loadApp, nested, personNames, readThemeInfo, siteLocale } from './apps';
import { createAuditLog } from './audit';
import { accountsOf, createRequesters, creatorsOf, lookUpNames } from './auth';
import { createOwnFiles } from './common/assets';
import { createMasks, maskedLog, printableLog } from './common/log';
import { whenAll } from './common/time/awaitable';
import { readConfig } from './config';
import { type StrapiDb, statementsOf, strapiDatabase } from './database';
import {
  createActorContext,
  createLive,
  createRuleEntries,
  createRules,
  createUnconfirmed,
  createWaitingLists,
  createWebhooks,
  fetchJobs,
  functionJobs,
  keepHistory,
  publishChanges,
} from './events';
import { createFiles, createPictures, type ImageSwap, type LibraryStrapi, pictureLimits } from './files';
import { compiledThemes, privateFolder, reloadedPanel } from './host-files';
import { type CreateContext, createBaseUrl, createReloads, type HttpServices, inject, panelUrl } from './http';
import { createSheets } from './interchange';
import { createJobs } from './jobs';
import { createLayouts, createMarkdown, createMarkup } from './layouts';
import { createDrafts, createLinks } from './links';
import { createLogicRuntime } from './logic';
import { createDocumentAccess } from './logic/documents/access';
import { createMailer, createReceipts } from './mail';
import { createMetrics } from './metrics';
import { readingsOf } from './operating';
import { answered, createOutbound } from './outbound';
import { createPersons, createTableStatements, keepJobs } from './persons';
import { createProcesses } from './processes';
import { createHistory, createKeptAnswers, createRecordStore, watchChanges } from './records';
import type { AppKey } from './records/types';
import { createRunLog } from './runs';
import { createSchedules, scheduleJobs } from './schedules';
import { createPanelColumns, createSites, createVersions, relatedTypes, type Sites, themesVersion } from './sites';
import type { Site } from './sites/types';
import { createWorkers, type Workers } from './workers';

/** Files that the build puts beside the server's. */
const workerPath = join(__dirname, 'worker.js');
const runnerPath = join(__dirname, '..', 'sandbox', 'runner.js');
const browserFiles = join(__dirname, '..', 'browser');

/**
 * Sessions of a program in an isolate before it gets a context that serves several: to make one takes as long as six to ten
 * sessions, which programs that hardly run should not pay.
 */
const REUSE_AFTER = 3;

const NOT_SINGLE =
  "[apps] another server process commits to this database, although 'singleProcess' is true in the configuration of the plugin 'apps': kept renderings ask the database for each request again";

/** Processes for text of theme authors, editors and visitors whose cost is not bounded (docs/decisions/foreign-text.md). */
export const workerProcesses = { path: workerPath, count: 2, memory: 256 };

/** Long searches that run in parallel: one processor is left to the server, whose database often shares its machine. */
const parallelSearches = (searches: number) => Math.min(searches, Math.max(2, availableParallelism() - 1));

/** The plugin's configuration, checked. */
export const configOf = (strapi: Core.Strapi) =>
  readConfig(strapi.config.get('plugin::apps'), { appRoot: strapi.dirs.app.root });

/** Whether the command `dev` has started this Strapi (docs/decisions/development-server.md). */
const isDevServer = (strapi: Core.Strapi) => isDevelopment(strapi) && process.env.APPS_DEV === 'true';

const isDevelopment = (strapi: Core.Strapi) => strapi.config.get('environment') === 'development';

/** What the host's files lack, or have too much. */
export async function hostProblems(strapi: Core.Strapi, sites: Sites): Promise<SetupProblem[]> {
  const { themesDirectory } = configOf(strapi);
  const checks = isDevelopment(strapi) ? [compiledThemes, ...(isDevServer(strapi) ? [] : [reloadedPanel])] : [];
  const found = checks.map((check) => check(strapi.dirs.app.root, themesDirectory));
  return [...(await sites.setup()), ...found.filter((problem) => problem !== null)];
}

/** What Strapi's image service asks Strapi for. */
async function librarySettings(strapi: Core.Strapi): Promise<{ settings: object; breakpoints: unknown }> {
  const settings = await strapi.plugin('upload').service('upload').getSettings();
  return { settings: settings ?? {}, breakpoints: strapi.config.get('plugin::upload.breakpoints') };
}

/** Koa's context for a request that came over no connection. */
const contextOf =
  (strapi: Core.Strapi): CreateContext =>
  (request, response) =>
    strapi.server.app.createContext(request, response) as ReturnType<CreateContext>;

/** What the services use of the plugin while it runs. */
export interface PluginTools {
  /** The services themselves, for what needs them later. */
  running(): HttpServices;
  /** The time of logic in tests of apps, in `Date.now()` milliseconds; null: the clock runs. */
  now: ReturnType<typeof createTestTools>['now'];
  /** What answers calls out in tests of apps; null: they are made. */
  answerer: ReturnType<typeof createTestTools>['answerer'];
  /** Strapi's image service, whose answers are replaced during uploads of the plugin. */
  images: ImageSwap;
}

/** Wires the modules: each gets what it needs, and nothing else. */
export function createServices(
  strapi: Core.Strapi,
  workers: Workers,
  { running, now, answerer, images }: PluginTools,
): HttpServices {
  const config = configOf(strapi);
  const masks = createMasks(config.runs.persons);
  const logger = maskedLog(printableLog(strapi.log), masks);
  const production = strapi.config.get('environment') === 'production';
  const baseUrl = createBaseUrl(strapi);
  const metrics = createMetrics();
  const documents = createDocumentAccess({ strapi });
  const sites = createSites({
    strapi,
    config,
    baseUrl,
    readContent: documents.readContent,
    readThemeInfo,
    logger,
    production,
  });
  const searches = parallelSearches(config.limits.searches);
  const isSqlite = strapi.db.dialect.client === 'sqlite';
  // SQLite writes files beside its own even to read one with a write-ahead log.
  const access = { unrestricted: true };
  const readers = isSqlite
    ? createWorkers({ path: workerPath, count: searches, memory: 128, access, logger })
    : undefined;
  const database = strapiDatabase(strapi.db as unknown as StrapiDb, readers, config.directConnection, (line) =>
    logger.warn(`[apps] ${line}`),
  );
  const processes = createProcesses({ strapi, database, logger }, config.redis.url);
  const { signals, messages, redis } = processes;
  const store = createRecordStore({
    database,
    limits: { ...config.limits, searches },
    temporaryDirectory: config.temporaryDirectory,
    workers: readers,
    waited: (time) => metrics.wait('search', time),
    onError: (error) => logger.error(`[apps] an effect after a commit failed: ${String(error)}`),
    onOther: config.singleProcess ? () => logger.warn(NOT_SINGLE) : undefined,
  });
  const history = createHistory({ database });
  const loadKeyed = ({ site, app }: AppKey) =>
    whenAll([sites.site(site)], ([found]) => (found ? running().loadApp(found, app) : null));
  const jobs = createJobs({
    database,
    signals,
    logger,
    config: config.jobs,
    limit: config.limits.jobs,
    logsTries: isDevServer(strapi),
    tidy: () => history.prune(async (key) => historyDaysOf(await loadKeyed(key))),
    observe: metrics.job,
    masked: masks.text,
  });
  const mailer = createMailer({
    strapi,
    database,
    jobs,
    logger,
    limit: config.limits.mails,
    digest: (key, about) => digestOf(running(), panelUrl(strapi, baseUrl()), key, about),
  });
  const requesters = createRequesters({ strapi, config, run: statementsOf(database), refused: metrics.login, redis });
  const drafts = createDrafts({
    database,
    keyring: requesters.keyring,
    limits: config.limits,
    released: (key, documentIds) => library.release(key, documentIds),
    onError: (error) => logger.error(`[apps] drafts could not be deleted: ${String(error)}`),
  });
  const markdown = createMarkdown(workers);
  const library = createFiles({
    strapi: strapi as unknown as LibraryStrapi,
    baseUrl,
    folder: config.temporaryDirectory,
    keptSize: config.limits.keptSize,
    async namedFiles(key, documentIds) {
      const [ofRecords, ofDrafts] = [
        await store.namedFiles(key, documentIds),
        await drafts.namedFiles(key, documentIds),
      ];
      return new Set([...ofRecords, ...ofDrafts]);
    },
    pictures: createPictures({
      images,
      settings: () => librarySettings(strapi),
      path: workerPath,
      folder: config.temporaryDirectory,
      limits: pictureLimits(config.limits.imagePixels),
      sandbox: config.sandbox,
      logger,
    }),
    maxPixels: config.limits.imagePixels,
    privateFolder: privateFolder(strapi, config),
    provider: config.filesProvider,
    packages: [`${strapi.dirs.app.root}/package.json`, __filename],
    publicFolder: strapi.dirs.static.public,
    privatePath: ({ site, app }, id, name) => sites.urls.file({ url: `/${site}` }, app, id, name),
    logger,
  });
  const live = createLive({
    strapi,
    logger,
    messages,
    countPages: (address, pages, endsAt) =>
      requesters.parts.set(['waiting-pages', address], messages.origin, pages, endsAt),
    async declared({ site, app }) {
      const found = await sites.site(site);
      return (found && (await running().loadApp(found, app))?.indexes) ?? null;
    },
  });
  const links = createLinks({
    database,
    keyring: requesters.keyring,
    onError: (error) => logger.error(`[apps] links could not be deleted: ${String(error)}`),
  });
  const actorContext = createActorContext(strapi, requesters);
  const rules = createRules({ strapi, logger, database, sites, jobs, actorContext, services: running });
  rules.start();
  jobs.handle('rule', rules.handler);
  jobs.handle('mail', mailer.handler, true);
  jobs.handle('function', functionJobs(running, actorContext.withRules));
  const outbound = answered(createOutbound(config.fetch), answerer);
  jobs.handle('fetch', fetchJobs(outbound));
  jobs.handle('schedule', scheduleJobs(running));
  jobs.handle(
    'keep',
    keepJobs({
      tables: createTableStatements(database),
      loadApp: loadKeyed,
      services: running,
      now: () => now() ?? Date.now(),
    }),
    true,
  );
  const webhooks = createWebhooks({
    strapi,
    logger,
    database,
    jobs,
    outbound,
    store,
    sites,
    loadApp: loadKeyed,
    services: running,
  });
  const { limits, sandbox } = config;
  const reuseAfter = sandbox.reuse ? REUSE_AFTER : null;
  const waited = metrics.wait;
  const logic = createLogicRuntime({
    limits,
    sandbox,
    logger,
    runnerPath,
    workers,
    reuseAfter,
    now,
    waited,
    messages,
  });
  for (const reading of readingsOf({ metrics, jobs, logic, database, live, redis })) metrics.add(reading);
  return {
    config,
    logger,
    masks,
    production,
    lookUpNames: (names) => lookUpNames(strapi, names),
    creators: (identities) => creatorsOf(strapi, identities),
    relatedTypes: relatedTypes(strapi),
    development: isDevelopment(strapi),
    quotesSource: isDevServer(strapi),
    reloads: isDevServer(strapi) ? createReloads(() => themesVersion(config.themesDirectory)) : undefined,
    async setup() {
      const ofLogic = await logic.setup();
      return [...(await hostProblems(strapi, sites)), ...(ofLogic ? [ofLogic] : [])];
    },
    baseUrl,
    sites,
    ownFiles: createOwnFiles(browserFiles, production),
    live,
    processes,
    rules: createRuleEntries(strapi, running),
    schedules: createSchedules({
      database,
      logger,
      jobs,
      sites,
      loadApp: (site, appId) => running().loadApp(site, appId),
      isActive: config.jobs.workers > 0,
    }),
    waitingLists: createWaitingLists(running),
    unconfirmed: createUnconfirmed(running),
    store: watchChanges(store, [keepHistory(history, loadKeyed), publishChanges(live.publish), webhooks]),
    history,
    logic,
    layouts: createLayouts({}, markdown),
    markdown,
    files: library,
    sheets: createSheets({ path: workerPath, sandbox: config.sandbox, logger }),
    markup: () => createMarkup(workers),
    nested,
    mailer,
    receipts: createReceipts({ database, keyring: requesters.keyring, limits: config.receipts }),
    links,
    persons: createPersons({
      database,
      loadApp: loadKeyed,
      links,
      drafts,
      files: () => library.moves,
      locale: async () => siteLocale({ sites }, (await sites.all())[0] as Site),
      accounts: (who, emails) => accountsOf(strapi, who, emails),
      sign: (parts) => requesters.keyring.sign(parts),
      services: running,
      onError: (error) => logger.warn(`[apps] an export lacks a file: ${String(error)}`),
    }),
    drafts,
    outbound,
    jobs,
    answers: createKeptAnswers({
      database,
      onError: (error) => logger.error(`[apps] kept answers could not be deleted: ${String(error)}`),
    }),
    metrics,
    statement: statementsOf(database),
    runs: createRunLog({ strapi, logger, config: config.runs }),
    contentRights: documents,
    versions: createVersions(strapi),
    audit: createAuditLog(strapi),
    runTests: (wanted, timeout) =>
      runAppTests({ ...wanted, root: strapi.dirs.app.root, timeout: TEST_TIMEOUT }, { timeout, output: 'nowhere' }),
    panelColumns: createPanelColumns(strapi),
    documents: actorContext.wrapDocuments(documents.prepare),
    rulesOf: actorContext.rulesOf,
    requesters,
    inject: (request) => inject(running(), contextOf(strapi), request),
    loadApp(site, appId) {
      const warn = (message: string) => logger.warn(`[apps] ${appId}: ${message}`);
      const loaded = whenAll([sites.app(site, appId)], ([folder]) => folder && loadApp(folder, warn));
      return whenAll([loaded], ([app]) => {
        if (app && personNames(app).size > 0) masks.begin();
        return app && isDevServer(strapi) ? inDebugMode(app) : app;
      });
    },
  };
}
