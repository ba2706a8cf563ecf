import type { Core } from '@strapi/strapi';
import { createTestTools } from './app-tests';
import { callVisit, declaredCells, importRecords, type PlaceTally } from './apps';
import { permissionControllers, registerAdminActions, watchPasswordChanges } from './auth';
import { missing, notFound } from './common/errors';
import { type FormattedLogger, logAsJson } from './common/log';
import { allocateYoung } from './common/request-objects';
import { setTracer } from './common/spans';
import { clearSpools } from './common/spool';
import { paceByRequest } from './common/time/pace';
import { strapiConfig } from './config';
import { contentTypes } from './content-types';
import { startAlone } from './database';
import { createCalls, watchContent } from './events';
import { createImageSwap, type ImageService } from './files';
import { ignoreChangesIn, privateFolder } from './host-files';
import { keepTables } from './host-schema';
import {
  adminInterface,
  appDocument,
  boundedBodies,
  createErrorForm,
  createHiddenTypes,
  createMiddleware,
  createObservedRequests,
  type HttpServices,
  logFieldsOf,
  type OpenRequests,
  rememberedHeaders,
  siteDocument,
  watchRequests,
} from './http';
import type { Jobs } from './jobs/types';
import { openTelemetry } from './metrics';
import { checksOf } from './operating';
import { createFileTools, createPersonTools } from './operator-tools';
import { lookForPersons } from './persons';
import { type WatchedStrapi, watchForeignWrites } from './records';
import type { NewRecord } from './records/types';
import type { Schedules } from './schedules/types';
import { configOf, createServices, hostProblems, workerProcesses } from './services';
import { warnOfLocales } from './sites';
import { createWorkers, type Workers } from './workers';

/** Made while the module is loaded: Strapi applies the host's extensions afterwards. */
const images = createImageSwap();

let services: HttpServices | undefined;
let workers: Workers | undefined;
let openRequests: OpenRequests | undefined;
let endStart = (): void => {};

const IMAGE_SERVICE = 'plugin::upload.image-manipulation';

function running(): HttpServices {
  if (!services) throw new Error('The plugin "apps" has not started');
  return services;
}

/** Logs what the machine or the host lacks before the first request needs it; `logic` logs its own. */
async function warnOfSetup(strapi: Core.Strapi, { config, sites, logic, logger }: HttpServices): Promise<void> {
  for (const { message, cure } of await hostProblems(strapi, sites)) logger.error(`[apps] ${message}: ${cure}`);
  for (const [name, { value }] of Object.entries(config.fetch.secrets))
    if (value === '') logger.warn(`[apps] "fetch.secrets.${name}.value" is empty: calls that use it are refused`);
  await logic.setup();
}

const admin = adminInterface(running);

/** `strapi.plugin('apps').service('apps')`. */
const calls = createCalls(running);

/** `strapi.plugin('apps').service('records')`, used by the command line (docs/operate/storage.md#records-from-code). */
const recordTools = {
  store: () => running().store,
  history: () => running().history,
  /** The key, declared indexes and names of declared items of an app; null when the site has no such app. */
  async app(siteId: string, appId: string) {
    const site = await running().sites.site(siteId);
    const app = site && (await running().loadApp(site, appId));
    if (!site || !app) return null;
    const declared = declaredCells(app);
    return { key: { site: site.id, app: app.id }, indexes: app.indexes, declared, strict: app.settings.strict };
  },
  /** Reads a workbook, in a process of its own. */
  sheet: (bytes: AsyncIterable<Uint8Array>, name: string | undefined) =>
    running().sheets.read('command line', bytes, name),
  /**
   * Creates records as the operator of the host, all or none, each by the rules of its block; in a strict app each names one.
   * Throws an AppsError whose details name the record, from 1.
   * @param isDropped whether they are only checked: nothing is stored
   * @param tally of a file that is checked in parts: what the parts before have taken of places
   */
  async create(
    siteId: string,
    appId: string,
    records: readonly NewRecord[],
    isDropped: boolean,
    tally?: PlaceTally,
  ): Promise<number> {
    const all = running();
    const site = await all.sites.site(siteId);
    const app = site && (await all.loadApp(site, appId));
    if (!site || !app) throw notFound(missing.app(appId, siteId));
    const requester = { ...(await all.requesters.anonymous()), isManager: true };
    const content = await all.sites.content.resolve(site, '', requester);
    if (!content) throw notFound(missing.site(siteId));
    const address = all.sites.urls.app(site, app.id);
    const visit = callVisit(all, { site, content, requester, address, params: {}, through: 'import' });
    return importRecords(all, visit, app, records, { isDropped, tally });
  },
};

/** `strapi.plugin('apps').service('files')`, used by the command line (docs/reference/files.md#moving-files). */
const fileTools = createFileTools(running);

/** `strapi.plugin('apps').service('jobs')`: what people do with stored jobs (docs/reference/jobs.md#from-code). */
const jobTools = {
  list: (...given: Parameters<Jobs['list']>) => running().jobs.list(...given),
  find: (id: string) => running().jobs.find(id),
  retry: (which: Parameters<Jobs['retry']>[0]) => running().jobs.retry(which),
  delete: (id: string) => running().jobs.delete(id),
};

/** `strapi.plugin('apps').service('persons')`: what is stored of a person (docs/operate/privacy.md#from-code). */
const personTools = createPersonTools(running);

/** `strapi.plugin('apps').service('schedules')` (docs/reference/definitions.md#schedules). */
const schedules: Pick<Schedules, 'list' | 'runNow'> = {
  list: () => running().schedules.list(),
  runNow: (target) => running().schedules.runNow(target),
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

export type FileTools = typeof fileTools;
export type RecordTools = typeof recordTools;
export type OpenApiTools = typeof openApiTools;
export type JobTools = typeof jobTools;
export type PersonTools = typeof personTools;

export default {
  config: strapiConfig,
  contentTypes,
  services: {
    apps: () => calls,
    records: () => recordTools,
    openapi: () => openApiTools,
    tests: () => testTools,
    files: () => fileTools,
    jobs: () => jobTools,
    schedules: () => schedules,
    persons: () => personTools,
  },
  controllers: { ...permissionControllers, admin: admin.controller },
  policies: admin.policies,
  routes: { admin: admin.routes },

  async register({ strapi }: { strapi: Core.Strapi }) {
    allocateYoung();
    const tables = Object.values(contentTypes).map(({ schema }) => schema.collectionName);
    keepTables(strapi.db.schema as unknown as Parameters<typeof keepTables>[0], new Set(tables));
    paceByRequest(
      () => strapi.requestContext.get(),
      () => strapi.db.inTransaction(),
    );
    if (strapi.plugin('upload'))
      strapi.get('services').extend(IMAGE_SERVICE, (service: ImageService) => images.wrap(service));
    for (const folder of [configOf(strapi).themesDirectory, privateFolder(strapi, configOf(strapi))])
      ignoreChangesIn(folder, strapi.config);
    strapi.customFields.register({ name: 'block', plugin: 'apps', type: 'string' });
    if (configOf(strapi).log.format === 'json')
      logAsJson(strapi.log as FormattedLogger, () => {
        const ctx = strapi.requestContext.get();
        return ctx && logFieldsOf(ctx);
      });
    strapi.server.use(createObservedRequests(() => services));
    strapi.server.use(createErrorForm(() => services));
    const extend = <Factory>(name: string, wrap: (factory: Factory, running: () => typeof services) => Factory) =>
      strapi.get('middlewares').extend(name, (factory: Factory) => wrap(factory, () => services));
    extend('strapi::body', boundedBodies);
    extend('strapi::security', rememberedHeaders);
    endStart = await startAlone(strapi);
  },

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await registerAdminActions(strapi);
    watchPasswordChanges(strapi);
    openRequests = watchRequests(strapi.server.httpServer);
    workers = createWorkers({ ...workerProcesses, sandbox: configOf(strapi).sandbox, logger: strapi.log });
    // Not earlier: the host's start must not wait for the processes, and a command that only loads the host needs none.
    strapi.server.httpServer.once('listening', workers.warm);
    services = createServices(strapi, workers, { running, now: testTools.now, answerer: testTools.answerer, images });
    const { config, logger } = services;
    // After the start, because the host may add locales during it.
    strapi.server.httpServer.once('listening', () =>
      warnOfLocales(strapi, config.sites, logger).catch(() => undefined),
    );
    strapi.server.httpServer.once('listening', () => warnOfSetup(strapi, running()).catch(() => undefined));
    // If it fails, the first use tries again.
    await services.store.prepare().catch(() => undefined);
    services.mailer.start();
    services.links.start();
    services.drafts.start();
    // A command that only loads the host does no jobs.
    strapi.server.httpServer.once('listening', () => {
      running().processes.signals.listen();
      // Where it fails addresses stay masked, and the look for schedules logs why.
      lookForPersons(running()).catch(() => undefined);
      running().jobs.start();
      running().schedules.start();
      running().waitingLists.start();
      running().unconfirmed.start();
    });
    if (config.exactCache) watchContent(strapi, (uids) => running().store.dependencies.noteContent(uids));
    watchForeignWrites(strapi as unknown as WatchedStrapi, () => running().store);
    await clearSpools(services.config.temporaryDirectory).catch((error: Error) =>
      strapi.log.warn(`[apps] what an earlier process has left cannot be removed: ${error.message}`),
    );
    await services.files.start();
    const ownTypes = Object.keys(contentTypes).map((name) => `plugin::apps.${name}`);
    strapi.server.use(createHiddenTypes(ownTypes, strapi.log));
    setTracer(openTelemetry(strapi.dirs.app.root));
    strapi.server.use(
      createMiddleware(
        services,
        checksOf(services, () => openRequests?.isEnding() === true),
      ),
    );
  },

  async destroy({ strapi }: { strapi: Core.Strapi }) {
    endStart();
    // Strapi ends the plugins before its server: open requests need what is ended below. `strapi develop` starts again at once.
    await openRequests?.drain(!strapi.config.get('autoReload'));
    await services?.live.destroy();
    services?.reloads?.destroy();
    await services?.files.destroy();
    await services?.schedules.destroy();
    await services?.waitingLists.destroy();
    await services?.unconfirmed.destroy();
    await services?.jobs.destroy();
    await services?.processes.destroy();
    services?.mailer.destroy();
    services?.links.destroy();
    services?.drafts.destroy();
    services?.metrics.destroy();
    setTracer(null);
    await services?.outbound.destroy();
    await services?.runs.destroy();
    await Promise.all([
      services?.logic.destroy(),
      services?.store.destroy(),
      workers?.destroy(),
      services?.sheets.destroy(),
      services?.files.destroy(),
    ]);
    services = undefined;
    workers = undefined;
    openRequests = undefined;
  },
};
