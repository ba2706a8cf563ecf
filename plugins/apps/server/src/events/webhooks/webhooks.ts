import type { Core } from '@strapi/strapi';
import type { App } from '../../apps/types';
import type { Logger } from '../../common/log';
import { type Awaitable, whenAll } from '../../common/time/awaitable';
import type { HostDatabase } from '../../database';
import type { Jobs } from '../../jobs/types';
import type { Outbound } from '../../outbound/types';
import type { ChangeWatcher } from '../../records';
import type { AppKey, RecordStore } from '../../records/types';
import type { CallServices } from '../calls';
import { webhookJobs } from './deliver';
import { createIsAbout } from './deliveries';
import { createHostHub, watchRecords } from './watch-records';

export interface WebhookOptions {
  strapi: Core.Strapi;
  logger: Logger;
  database: Pick<HostDatabase, 'current'>;
  jobs: Jobs;
  outbound: Outbound;
  /** Of the same store; what is stored by it is not watched. */
  store: RecordStore;
  sites: CallServices['sites'];
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Awaitable<App | null>;
  /** Called later, because the services are created after the webhooks. */
  services(): CallServices;
}

/**
 * The webhooks of all apps (docs/decisions/webhooks.md): does their jobs.
 * @returns the watcher of records that stores these jobs
 */
export function createWebhooks(options: WebhookOptions): ChangeWatcher {
  const { strapi, logger, database, jobs, outbound, store, sites, loadApp, services } = options;
  const now = Date.now;
  const hub = createHostHub(strapi, sites, (error) => logger.error(`[apps] webhooks of Strapi: ${String(error)}`));
  const isAbout = createIsAbout((message) => logger.error(`[apps] ${message}`));
  const afterCommit = (effect: () => void): Awaitable<void> =>
    whenAll([database.current()], ([outer]) => {
      if (outer) outer.executionPromise.then(effect, () => undefined);
      else effect();
    });
  const shared = { jobs, hub, loadApp, isAbout, now };
  jobs.handle('webhook', webhookJobs({ ...shared, store, outbound, services }));
  return watchRecords({ ...shared, afterCommit });
}
