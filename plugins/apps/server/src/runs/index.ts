import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import type { AppsConfig } from '../config.types';
import { RunRing } from './ring';
import { RunTable } from './table';
import type { RunLog } from './types';

export { addressOf, inputOf, safeText, withoutSecrets } from './secrets';
export type * from './types';

interface RunLogOptions {
  strapi: Core.Strapi;
  logger: Logger;
  config: AppsConfig['runs'];
}

/**
 * The latest runs: `keep` of this process in memory; with `store`, that number in the host's database, which then answers
 * every question, for all server processes.
 */
export function createRunLog({ strapi, logger, config: { keep, store } }: RunLogOptions): RunLog {
  const ring = new RunRing(keep);
  const table = store > 0 ? new RunTable(strapi, logger, store) : null;
  return {
    size: Math.max(keep, store),
    add(run) {
      const kept = ring.add(run);
      table?.add(kept);
    },
    list: async (query) => (table ?? ring).list(query),
    find: async (id) => (table ?? ring).find(id),
    failed: async (app) => (table ?? ring).failed(app),
    inMemory: () => (table ? [] : ring.all()),
    forget: (id) => ring.remove(id),
    destroy: async () => table?.flush(),
  };
}
