import type { Items } from '../../../shared/json';
import { type AppServices, functionJob } from '../apps';
import { AppsError, missing, notFound } from '../common/errors';

/** A call of a block's function, later. */
export interface EnqueueOptions {
  /** Id of the site; the default one without it. */
  site?: string;
  app: string;
  block: string;
  function: string;
  /** `context.params`; JSON. */
  params?: Items;
  /** Seconds from now, or a moment in ISO 8601; at once without both. */
  delay?: number;
  at?: string;
  /** A second job of the app with the key of one that waits or runs is that one. */
  key?: string;
  /** The user whose rights it has when it runs, by documentId; anonymous without it. */
  user?: string | null;
}

/** Stores a job that calls a function, in the transaction of the caller or at once. NotFoundError, BadRequestError. @returns its id */
export type Enqueue = (options: EnqueueOptions) => Promise<string>;

const textKeys = ['app', 'block', 'function'] as const;

export function createEnqueue(services: () => AppServices): Enqueue {
  return async (options) => {
    const all = services();
    for (const key of textKeys)
      if (typeof options[key] !== 'string')
        throw new AppsError('BadRequestError', `enqueue: "${key}" must be a text, not ${String(options[key])}`);
    const { app: appId, block, function: name, params = {}, delay, at, key, user } = options;
    const siteId = options.site ?? all.config.sites[0]?.id ?? '';
    const site = await all.sites.site(siteId);
    if (!site) throw notFound(missing.site(siteId));
    const app = await all.loadApp(site, appId);
    if (!app) throw notFound(missing.app(appId, site.id));
    const job = functionJob(app, {
      ...{ key: { site: site.id, app: app.id }, block, name, params: JSON.parse(JSON.stringify(params)) as Items },
      ...{ requester: user ? `user:${user}` : '', once: key ?? null, delay, at },
    });
    const [id = ''] = await all.jobs.insert([job]);
    return id;
  };
}
