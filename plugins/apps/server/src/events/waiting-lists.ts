import type { App } from '../apps';
import { callVisit, moveUpAll, withRun } from '../apps';
import type { Site, Sites } from '../sites/types';
import type { CallServices } from './calls';

/** Milliseconds between two looks at the files of apps. */
const LOOK = 5_000;

/** Gives places to those who wait when a definition has got more of them, and at the start. */
export interface WaitingLists {
  start(): void;
  /** Looks at once. */
  look(): Promise<void>;
  destroy(): Promise<void>;
}

/**
 * Watches the definitions of blocks with waiting lists: a request that frees a place gives it away itself, but a larger limit comes
 * without one. @param services called at each use
 */
export function createWaitingLists(services: () => CallServices & { sites: Sites }): WaitingLists {
  const seen = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isEnded = false;

  const lookAt = async (site: Site, appId: string): Promise<void> => {
    const all = services();
    const name = JSON.stringify([site.id, appId]);
    const revision = await all.sites.revision(site, appId);
    if (revision === null || seen.get(name) === revision) return;
    const app = await all.loadApp(site, appId);
    if (app && hasWaitingList(app)) await settleApp(all, site, app);
    seen.set(name, revision);
  };

  const look = async (): Promise<void> => {
    const { sites, logger } = services();
    for (const site of await sites.all())
      for (const appId of await sites.apps(site)) {
        if (isEnded) return;
        await lookAt(site, appId).catch((error: unknown) => {
          logger.error(`[apps] waiting lists of ${appId}: ${String(error)}`);
        });
      }
  };

  const keepLooking = async (): Promise<void> => {
    await look().catch((error: unknown) => services().logger.error(`[apps] waiting lists: ${String(error)}`));
    if (!isEnded) timer = setTimeout(() => void begin(), LOOK).unref();
  };
  const begin = (): Promise<void> => {
    running = keepLooking();
    return running;
  };

  return {
    start: () => void begin(),
    look,
    async destroy() {
      isEnded = true;
      clearTimeout(timer);
      await running;
    },
  };
}

const hasWaitingList = ({ blocks }: App): boolean =>
  [...blocks.values()].some(({ definition, error }) => error === null && definition.places?.waitingList);

/** Moves up those who wait in an app, without a requester. */
async function settleApp(all: CallServices & { sites: Sites }, site: Site, app: App): Promise<void> {
  const requester = await all.requesters.anonymous();
  const content = await all.sites.content.resolve(site, '', requester);
  if (!content) return;
  const address = all.sites.urls.app(site, app.id);
  const visit = callVisit(all, { site, content, requester, address, params: {}, through: 'logic' });
  await withRun(all, visit, app, moveUpAll);
}
