import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import type { SetupProblem } from '../../shared/admin-api';
import { createTestTools } from './app-tests';
import { inDebugMode, loadApp, nested, readThemeInfo } from './apps';
import {
  createRequesters,
  creatorsOf,
  lookUpNames,
  permissionControllers,
  registerAdminActions,
  watchPasswordChanges,
} from './auth';
import { readConfig, strapiConfig } from './config';
import { contentTypes } from './content-types';
import { createActorContext, createCalls, createLive, createRuleEntries, createRules, publishChanges } from './events';
import { createFiles, type LibraryStrapi } from './files';
import { compiledThemes, ignoreChangesIn } from './host-files';
import {
  adminInterface,
  answerInside,
  appDocument,
  boundedBodies,
  type CreateContext,
  createBaseUrl,
  createErrorForm,
  createHiddenTypes,
  createMiddleware,
  createReloads,
  type HttpServices,
  rememberedHeaders,
  siteDocument,
} from './http';
import { createLayouts, createMarkdown, createMarkup } from './layouts';
import { printableLog } from './log';
import { createLogicRuntime } from './logic';
import { createDocumentAccess } from './logic/documents';
import { createMailer } from './mail';
import { createRecordStore, type StrapiDb, strapiDatabase, type WatchedStrapi, watchForeignWrites } from './records';
import { createRunLog } from './runs';
import { createSites, createVersions, type Sites, themesVersion, warnOfLocales } from './sites';
import { clearSpools } from './spool';
import { createWorkers, type Workers } from './workers';

/** Files that the build puts beside the server's. */
const workerPath = join(__dirname, 'worker.js');
const runnerPath = join(__dirname, '..', 'sandbox', 'runner.js');
const browserFiles = join(__dirname, '..', 'browser');

/** Processes for text of theme authors, editors and visitors whose cost is not bounded (docs/decisions/foreign-text.md). */
const workerProcesses = { path: workerPath, count: 2, memory: 256 };

/** Processes that search a SQLite file in parallel; one processor is left to the server. */
const searchProcesses = (searches: number) => Math.min(searches, Math.max(2, availableParallelism() - 1));

let services: HttpServices | undefined;
let workers: Workers | undefined;

function running(): HttpServices {
  if (!services) throw new Error('The plugin "apps" has not started');
  return services;
}

const configOf = (strapi: Core.Strapi) =>
  readConfig(strapi.config.get('plugin::apps'), { appRoot: strapi.dirs.app.root });

/** Whether the command `dev` has started this Strapi (docs/decisions/development-server.md). */
const isDevServer = (strapi: Core.Strapi) => isDevelopment(strapi) && process.env.APPS_DEV === 'true';

const isDevelopment = (strapi: Core.Strapi) => strapi.config.get('environment') === 'development';

/** What the host's files lack, or have too much. */
async function hostProblems(strapi: Core.Strapi, sites: Sites): Promise<SetupProblem[]> {
  const { themesDirectory } = configOf(strapi);
  const compiled = isDevelopment(strapi) ? compiledThemes(strapi.dirs.app.root, themesDirectory) : null;
  return [...(await sites.setup()), ...(compiled ? [compiled] : [])];
}

/** Koa's context for a request that came over no connection. */
const contextOf =
  (strapi: Core.Strapi): CreateContext =>
  (request, response) =>
    strapi.server.app.createContext(request, response) as ReturnType<CreateContext>;

/** Wires the modules: each gets what it needs, and nothing else. */
function createServices(strapi: Core.Strapi, workers: Workers): HttpServices {
  const config = configOf(strapi);
  const logger = printableLog(strapi.log);
  const production = strapi.config.get('environment') === 'production';
  const baseUrl = createBaseUrl(strapi);
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
  const database = strapiDatabase(strapi.db as unknown as StrapiDb);
  const searches = database.client === 'sqlite' ? searchProcesses(config.limits.searches) : config.limits.searches;
  const store = createRecordStore({
    database,
    limits: { ...config.limits, searches },
    temporaryDirectory: config.temporaryDirectory,
    workers:
      database.client === 'sqlite'
        ? // SQLite writes files beside its own even to read one with a write-ahead log.
          createWorkers({ path: workerPath, count: searches, memory: 128, access: { unrestricted: true }, logger })
        : undefined,
    onError: (error) => logger.error(`[apps] an effect after a commit failed: ${String(error)}`),
  });
  const mailer = createMailer({ strapi, logger });
  const markdown = createMarkdown(workers);
  const library = createFiles({
    strapi: strapi as unknown as LibraryStrapi,
    folder: config.temporaryDirectory,
    records: (key) => store.stream(key),
    logger,
  });
  const live = createLive({ strapi, logger });
  const requesters = createRequesters({ strapi, config });
  const actorContext = createActorContext(strapi, requesters);
  createRules({ strapi, logger, sites, actorContext, calls }).start();
  const { limits, sandbox } = config;
  const logic = createLogicRuntime({ limits, sandbox, logger, runnerPath, workers, now: testTools.now });
  return {
    config,
    logger,
    production,
    lookUpNames: (names) => lookUpNames(strapi, names),
    creators: (identities) => creatorsOf(strapi, identities),
    development: isDevelopment(strapi),
    quotesSource: isDevServer(strapi),
    reloads: isDevServer(strapi) ? createReloads(() => themesVersion(config.themesDirectory)) : undefined,
    async setup() {
      const ofLogic = await logic.setup();
      return [...(await hostProblems(strapi, sites)), ...(ofLogic ? [ofLogic] : [])];
    },
    baseUrl,
    sites,
    live,
    rules: createRuleEntries(strapi, running),
    store: publishChanges(store, live.publish),
    logic,
    layouts: createLayouts({}, markdown),
    markdown,
    files: library,
    markup: () => createMarkup(workers),
    nested,
    mailer,
    runs: createRunLog({ strapi, logger, config: config.runs }),
    contentRights: documents,
    versions: createVersions(strapi),
    documents: actorContext.wrapDocuments(documents.prepare),
    requesters,
    inside: (request) => answerInside(running(), contextOf(strapi), browserFiles, request),
    async loadApp(site, appId) {
      const folder = await sites.app(site, appId);
      const app = await (folder && loadApp(folder, (message) => logger.warn(`[apps] ${appId}: ${message}`)));
      return app && isDevServer(strapi) ? inDebugMode(app) : app;
    },
  };
}

/** Logs what the machine or the host lacks before the first request needs it; `logic` logs its own. */
async function warnOfSetup(strapi: Core.Strapi, { sites, logic, logger }: HttpServices): Promise<void> {
  for (const { message, cure } of await hostProblems(strapi, sites)) logger.error(`[apps] ${message}: ${cure}`);
  await logic.setup();
}

const admin = adminInterface(running);

/** `strapi.plugin('apps').service('apps')`. */
const calls = createCalls(running);

/** `strapi.plugin('apps').service('records')`, used by the command line (docs/operations.md#records-from-code). */
const recordTools = {
  store: () => running().store,
  /** The key and declared indexes of an app; null when the site has no such app. */
  async app(siteId: string, appId: string) {
    const site = await running().sites.site(siteId);
    const app = site && (await running().loadApp(site, appId));
    return site && app ? { key: { site: site.id, app: app.id }, indexes: app.indexes } : null;
  },
};

/** `strapi.plugin('apps').service('tests')`, used by the tests of apps. */
const testTools = createTestTools(running);

/** `strapi.plugin('apps').service('openapi')`: OpenAPI documents (docs/reference/openapi.md#from-code). */
const openApiTools = {
  /** The document of one app, or of all apps of a site; null when there is no such site or app. */
  async document(siteId?: string, appId?: string) {
    const { sites, loadApp, config } = running();
    const site = await sites.site(siteId ?? config.sites[0]?.id ?? '');
    if (!site) return null;
    if (appId === undefined) return siteDocument(running(), site);
    const app = await loadApp(site, appId);
    if (app?.error) throw app.error;
    return app && appDocument(running(), site, app);
  },
};

export type RecordTools = typeof recordTools;
export type OpenApiTools = typeof openApiTools;

export default {
  config: strapiConfig,
  contentTypes,
  services: { apps: () => calls, records: () => recordTools, openapi: () => openApiTools, tests: () => testTools },
  controllers: { ...permissionControllers, admin: admin.controller },
  policies: admin.policies,
  routes: { admin: admin.routes },

  register({ strapi }: { strapi: Core.Strapi }) {
    ignoreChangesIn(configOf(strapi).themesDirectory, strapi.config);
    strapi.customFields.register({ name: 'block', plugin: 'apps', type: 'string' });
    strapi.server.use(createErrorForm(() => services));
    const extend = <Factory>(name: string, wrap: (factory: Factory, running: () => typeof services) => Factory) =>
      strapi.get('middlewares').extend(name, (factory: Factory) => wrap(factory, () => services));
    extend('strapi::body', boundedBodies);
    extend('strapi::security', rememberedHeaders);
  },

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await registerAdminActions(strapi);
    watchPasswordChanges(strapi);
    workers = createWorkers({ ...workerProcesses, sandbox: configOf(strapi).sandbox, logger: strapi.log });
    // Not earlier: the host's start must not wait for the processes, and a command that only loads the host needs none.
    strapi.server.httpServer.once('listening', workers.warm);
    services = createServices(strapi, workers);
    const { config, logger } = services;
    // After the start, because the host may add locales during it.
    strapi.server.httpServer.once('listening', () =>
      warnOfLocales(strapi, config.sites, logger).catch(() => undefined),
    );
    strapi.server.httpServer.once('listening', () => warnOfSetup(strapi, running()).catch(() => undefined));
    // If it fails, the first use tries again.
    await services.store.prepare().catch(() => undefined);
    services.mailer.start();
    watchForeignWrites(strapi as unknown as WatchedStrapi, () => running().store);
    await clearSpools(services.config.temporaryDirectory).catch((error: Error) =>
      strapi.log.warn(`[apps] what an earlier process has left cannot be removed: ${error.message}`),
    );
    await services.files
      .clear()
      .catch((error: Error) =>
        strapi.log.warn(`[apps] files that an earlier process has left cannot be removed: ${error.message}`),
      );
    const ownTypes = Object.keys(contentTypes).map((name) => `plugin::apps.${name}`);
    strapi.server.use(createHiddenTypes(ownTypes, strapi.log));
    strapi.server.use(createMiddleware(services, browserFiles));
  },

  async destroy() {
    services?.live.destroy();
    services?.reloads?.destroy();
    await services?.files.settled();
    await services?.mailer.destroy();
    await services?.runs.destroy();
    await Promise.all([services?.logic.destroy(), services?.store.destroy(), workers?.destroy()]);
    services = undefined;
    workers = undefined;
  },
};
