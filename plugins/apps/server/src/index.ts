import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import { loadApp, nested, readThemeInfo } from './apps';
import { readConfig, strapiConfig } from './config';
import { contentTypes } from './content-types';
import {
  adminInterface,
  boundedBodies,
  createBaseUrl,
  createDoor,
  createErrorForm,
  createHiddenTypes,
  type DoorServices,
} from './door';
import { announcing, createActing, createCalls, createLive, createRuleEntries, createRules } from './events';
import { createLayouts, createMarkup } from './layouts';
import { printableLog } from './log';
import { createLogicRuntime } from './logic';
import { createDocumentAccess } from './logic/documents';
import { createRecordStore, type StrapiDb, strapiDatabase, type WatchedStrapi, watchForeignWrites } from './records';
import {
  createRequesters,
  lookUpNames,
  permissionControllers,
  registerAdminActions,
  watchPasswordChanges,
} from './requester';
import { createSites, warnOfLocales } from './sites';
import { clearSpools } from './spool';
import { createWorkers, type Workers } from './workers';

/** Files that the build puts beside the server's. */
const workerPath = join(__dirname, 'worker.js');
const runnerPath = join(__dirname, '..', 'sandbox', 'runner.js');
const scriptFile = join(__dirname, '..', 'browser', 'apps.js');

/** Processes for what a theme author, editor or visitor wrote and whose cost is not bounded (docs/decisions/foreign-text.md). */
const workerProcesses = { path: workerPath, count: 2, memory: 256 };

/** Processes that search a SQLite file at once: not all processors, for the server needs one. */
const searchProcesses = (searches: number) => Math.min(searches, Math.max(2, availableParallelism() - 1));

let services: DoorServices | undefined;
let workers: Workers | undefined;

function running(): DoorServices {
  if (!services) throw new Error('The plugin "apps" has not started');
  return services;
}

/** Wires the modules: each gets what it needs, and nothing else. */
function createServices(strapi: Core.Strapi, workers: Workers): DoorServices {
  const config = readConfig(strapi.config.get('plugin::apps'), { appRoot: strapi.dirs.app.root });
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
  const live = createLive({ strapi, logger });
  const requesters = createRequesters({ strapi, config });
  const acting = createActing(strapi, requesters);
  createRules({ strapi, logger, sites, acting, calls }).start();
  return {
    config,
    logger,
    production,
    lookUpNames: (names) => lookUpNames(strapi, names),
    development: strapi.config.get('environment') === 'development',
    baseUrl,
    sites,
    live,
    rules: createRuleEntries(strapi, running),
    store: announcing(store, live.publish),
    logic: createLogicRuntime({ limits: config.limits, sandbox: config.sandbox, logger, runnerPath, workers }),
    layouts: createLayouts(),
    markup: () => createMarkup(workers),
    nested,
    documents: acting.through(documents.prepare),
    requesters,
    async loadApp(site, appId) {
      const folder = await sites.app(site, appId);
      return folder && loadApp(folder, (message) => logger.warn(`[apps] ${appId}: ${message}`));
    },
  };
}

const admin = adminInterface(running);

/** `strapi.plugin('apps').service('apps')`. */
const calls = createCalls(running);

/** `strapi.plugin('apps').service('records')`: what the command line works with (docs/operations.md). */
const recordTools = {
  store: () => running().store,
  /** The key and declared indexes of an app; null when the site has no such app. */
  async app(siteId: string, appId: string) {
    const site = await running().sites.site(siteId);
    const app = site && (await running().loadApp(site, appId));
    return site && app ? { key: { site: site.id, app: app.id }, indexes: app.indexes } : null;
  },
};

export default {
  config: strapiConfig,
  contentTypes,
  services: { apps: () => calls, records: () => recordTools },
  controllers: { ...permissionControllers, admin: admin.controller },
  routes: { admin: admin.routes },

  register({ strapi }: { strapi: Core.Strapi }) {
    strapi.customFields.register({ name: 'block', plugin: 'apps', type: 'string' });
    strapi.server.use(createErrorForm(() => services));
    strapi
      .get('middlewares')
      .extend('strapi::body', (parser: Parameters<typeof boundedBodies>[0]) => boundedBodies(parser, () => services));
  },

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await registerAdminActions(strapi);
    watchPasswordChanges(strapi);
    const { sandbox } = readConfig(strapi.config.get('plugin::apps'), { appRoot: strapi.dirs.app.root });
    workers = createWorkers({ ...workerProcesses, sandbox, logger: strapi.log });
    // Not before: the start of the host must not wait for it, and a command that only loads the host needs none.
    strapi.server.httpServer.once('listening', workers.warm);
    services = createServices(strapi, workers);
    const { config, logger } = services;
    // Also after the start: the host may add locales while it starts.
    strapi.server.httpServer.once('listening', () =>
      warnOfLocales(strapi, config.sites, logger).catch(() => undefined),
    );
    // Where it fails, the first use tries again.
    await services.store.prepare().catch(() => undefined);
    watchForeignWrites(strapi as unknown as WatchedStrapi, () => running().store);
    await clearSpools(services.config.temporaryDirectory).catch((error: Error) =>
      strapi.log.warn(`[apps] what an earlier process has left cannot be removed: ${error.message}`),
    );
    const ownTypes = Object.keys(contentTypes).map((name) => `plugin::apps.${name}`);
    strapi.server.use(createHiddenTypes(ownTypes, strapi.log));
    strapi.server.use(createDoor(services, scriptFile));
  },

  async destroy() {
    services?.live.destroy();
    await Promise.all([services?.logic.destroy(), services?.store.destroy(), workers?.destroy()]);
    services = undefined;
    workers = undefined;
  },
};
