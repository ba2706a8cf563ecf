import type { IndexSizes, IndexSummary, indexRoutes, Refresh } from '../../../../shared/admin-api';
import type { App } from '../../apps';
import { AppsError, errorText } from '../../common/errors';
import { readBody } from '../../common/request-schema';
import type { AppKey } from '../../records/types';
import { jsonObject } from '../request/body';
import { refreshBody } from '../request/body-schemas';
import type { HttpServices } from '../request/exchange';
import { appOf, type Handlers } from './handler';

/** What the admin routes of an app's indexes answer (shared/admin/indexes.ts). */
export const indexHandlers: Handlers<typeof indexRoutes> = {
  async refresh(ctx, services): Promise<Refresh> {
    const { app, key } = await appOf(ctx, services);
    ctx.status = 202;
    return startRefresh(services, app, key, readBody(refreshBody, jsonObject(ctx)).rebuild);
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
export async function refreshOf({ store }: HttpServices, key: AppKey): Promise<Refresh | null> {
  const progress = await store.progress(key);
  if (progress) return { state: 'running', ...progress, message: null };
  return refreshes.get(refreshName(key)) ?? null;
}

/** The app's indexes, `id` among them, each with its state. */
export async function indexesOf(
  { store }: HttpServices,
  key: AppKey,
  indexes: App['indexes'],
): Promise<IndexSummary[]> {
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
