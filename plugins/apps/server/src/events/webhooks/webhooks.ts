import type { Core } from '@strapi/strapi';
import type { Logger } from '../../common/log';
import type { HostDatabase } from '../../database';
import type { Jobs } from '../../jobs/types';
import type { Outbound } from '../../outbound/types';
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
  /** Called later, because the services are created after the webhooks. */
  services(): CallServices;
}

/**
 * The webhooks of all apps (docs/decisions/webhooks.md): does their jobs.
 * @returns a function that wraps a store, so that what is stored by it has such jobs
 */
export function createWebhooks(options: WebhookOptions): (store: RecordStore) => RecordStore {
  const { strapi, logger, database, jobs, outbound, store, sites, services } = options;
  const now = Date.now;
  const hub = createHostHub(strapi, sites, (error) => logger.error(`[apps] webhooks of Strapi: ${String(error)}`));
  const isAbout = createIsAbout((message) => logger.error(`[apps] ${message}`));
  const loadApp = async ({ site, app }: AppKey) => {
    const found = await sites.site(site);
    return found ? services().loadApp(found, app) : null;
  };
  const afterCommit = async (effect: () => void): Promise<void> => {
    const outer = await database.current();
    if (outer) outer.executionPromise.then(effect, () => undefined);
    else effect();
  };
  const shared = { jobs, hub, loadApp, isAbout, now };
  jobs.handle('webhook', webhookJobs({ ...shared, store, outbound, services }));
  return (watched) => watchRecords(watched, { ...shared, afterCommit });
}
