import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import { loadApp, nested, readThemeInfo } from './apps';
import { readConfig, strapiConfig } from './config';
import { contentTypes } from './content-types';
import { adminInterface, createBaseUrl, createDoor, createErrorForm, type DoorServices } from './door';
import { announcing, createActing, createCalls, createLive, createRules } from './events';
import { createLayouts } from './layouts';
import { createLogicRuntime } from './logic';
import { createDocumentAccess } from './logic/documents';
import { createRecordStore, type StrapiDb, strapiDatabase } from './records';
import { createRequesters, permissionControllers, registerAdminActions } from './requester';
import { createSites } from './sites';
import { createWorkers, type Workers } from './workers';

/** Files that the build puts beside the server's. */
const workerPath = join(__dirname, 'worker.js');
const runnerPath = join(__dirname, '..', 'sandbox', 'runner.js');
const scriptFile = join(__dirname, '..', 'browser', 'apps.js');

/** Processes for what a theme author, editor or visitor wrote and whose cost is not bounded (docs/decisions/ended-work.md). */
const workerProcesses = { path: workerPath, count: 2, memory: 256 };

/** Processes that search a SQLite file at once: not all processors, for the server needs one. */
const searchProcesses = (searches: number) => Math.min(searches, Math.max(2, availableParallelism() - 1));

let services: DoorServices | undefined;
let workers: Workers | undefined;

function running(): DoorServices {
  if (!services) throw new Error('The plugin "apps" has not started');
  return services;
}

/** Wires the rooms: each gets what it needs, and nothing else. */
function createServices(strapi: Core.Strapi): DoorServices {
  const config = readConfig(strapi.config.get('plugin::apps'), { appRoot: strapi.dirs.app.root });
  const { log: logger } = strapi;
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
    workers:
      database.client === 'sqlite'
        ? createWorkers({ path: workerPath, count: searches, memory: 128, logger })
        : undefined,
    onError: (error) => logger.error(`[apps] an effect after a commit failed: ${String(error)}`),
  });
  const live = createLive(strapi);
  const requesters = createRequesters({ strapi, config });
  const acting = createActing(strapi, requesters);
  createRules({ strapi, logger, sites, acting, calls }).start();
  return {
    config,
    logger,
    production,
    baseUrl,
    sites,
    live,
    store: announcing(store, live.publish),
    logic: createLogicRuntime({ limits: config.limits, logger, runnerPath }),
    layouts: createLayouts(),
    nested,
    documents: acting.through(documents.call),
    requesters,
    async loadApp(site, appId) {
      const folder = await sites.app(site, appId);
      return folder && loadApp(folder);
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
  },

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await registerAdminActions(strapi);
    workers = createWorkers({ ...workerProcesses, logger: strapi.log });
    // Not before: the start of the host must not wait for it, and a command that only loads the host needs none.
    strapi.server.httpServer.once('listening', workers.warm);
    services = createServices(strapi);
    strapi.server.use(createDoor(services, scriptFile));
  },

  async destroy() {
    services?.live.destroy();
    await Promise.all([services?.logic.destroy(), services?.store.destroy(), workers?.destroy()]);
    services = undefined;
    workers = undefined;
  },
};
