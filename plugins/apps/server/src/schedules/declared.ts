import { createHash } from 'node:crypto';
import type { Items } from '../../../shared/json';
import type { App } from '../apps';
import type { Definition } from '../apps/types';
import { missing } from '../common/errors';
import type { Awaitable } from '../common/time/awaitable';
import { serverTimeZone, ticksOf } from '../common/time/cron';
import { type CallServices, callOfJob, siteOfJob } from '../events';
import { JobFailure } from '../jobs';
import type { JobHandler } from '../jobs/types';
import type { Site, Sites } from '../sites/types';
import type { DeclaredSchedule } from './types';

/** The schedules of all sites. */
export interface Declared {
  schedules: readonly DeclaredSchedule[];
  /** Blocks (`placeOf`) whose definition is broken at the moment: their schedules are not known, but not gone. */
  unclear: ReadonlySet<string>;
}

/** Names a block in a site. */
export const placeOf = (site: string, app: string, block: string): string => JSON.stringify([site, app, block]);

interface OfApp {
  revision: string;
  schedules: readonly DeclaredSchedule[];
  unclear: readonly string[];
}

interface DeclaredTools {
  sites: Pick<Sites, 'watched' | 'revision'>;
  loadApp(site: Site, appId: string): Awaitable<App | null>;
}

/**
 * Finds the schedules of all blocks. Only apps whose definitions may have any are loaded, and again only when their files have changed;
 * the result is the same object while nothing has.
 */
export function createDeclared({ sites, loadApp }: DeclaredTools): () => Promise<Declared> {
  let known = new Map<string, OfApp>();
  let result: Declared | undefined;

  async function ofApp(site: Site, appId: string): Promise<[string, OfApp] | null> {
    const name = JSON.stringify([site.id, appId]);
    const revision = `${site.timeZone} ${await sites.revision(site, appId)}`;
    const before = known.get(name);
    if (before?.revision === revision) return [name, before];
    const app = await loadApp(site, appId);
    if (!app) return null;
    const broken = [...app.blocks.values()].filter(({ error }) => error !== null);
    const unclear = broken.map(({ id }) => placeOf(site.id, appId, id));
    return [name, { revision, schedules: schedulesOf(site, app), unclear }];
  }

  return async () => {
    const found = new Map<string, OfApp>();
    for (const { site, appId } of await sites.watched(['schedules', 'keep'])) {
      const entry = await ofApp(site, appId);
      if (entry) found.set(...entry);
    }
    const isSame = found.size === known.size && [...found].every(([name, one]) => known.get(name) === one);
    known = found;
    if (isSame && result) return result;
    const all = [...found.values()];
    const unclear = new Set(all.flatMap((one) => one.unclear));
    result = { schedules: all.flatMap(({ schedules }) => schedules), unclear };
    return result;
  };
}

/** When records of a block with `keep` are removed: the name is none that a function can have. */
const KEEP = { kind: 'keep', run: '(keep)', cron: '17 * * * *', missed: 'once', timeZone: 'UTC' } as const;

const schedulesOfBlock = ({ schedules, privacy }: Definition) => [
  ...schedules.map((schedule) => ({ ...schedule, kind: 'schedule' as const })),
  ...(privacy.keep ? [KEEP] : []),
];

/** The schedules of an app's blocks in a site. */
function schedulesOf(site: Site, { id: app, blocks }: App): DeclaredSchedule[] {
  return [...blocks.values()].flatMap(({ id: block, definition, error }) =>
    (error ? [] : schedulesOfBlock(definition)).map(({ kind, run, cron, missed, timeZone: given }) => {
      const timeZone = given ?? site.timeZone ?? serverTimeZone();
      const id = createHash('sha256')
        .update(JSON.stringify([site.id, app, block, run, cron, timeZone]))
        .digest('hex')
        .slice(0, 40);
      const ticks = ticksOf(cron, timeZone);
      return { id, kind, key: { site: site.id, app }, block, function: run, cron, timeZone, missed, ticks };
    }),
  );
}

/**
 * Does the jobs of ticks, and of schedules that are run by hand: calls the function with the site's portal, as anonymous in the
 * roles that the app names now.
 * @param services called at each use, because the services are created after the handler
 */
export function scheduleJobs(services: () => CallServices): JobHandler {
  return async (attempt) => {
    const all = services();
    const { key, data } = attempt.job;
    const site = await siteOfJob(all, key.site);
    const app = await all.loadApp(site, key.app);
    const requester = await all.requesters.anonymousIn(app?.settings.scheduleAs ?? []);
    const content = await all.sites.content.resolve(site, '', requester);
    if (!content) throw new JobFailure(missing.site(site.id), { next: 'missing' });
    const target = { app: key.app, block: String(data.block), name: String(data.function) };
    await callOfJob(all, attempt, { site, target, subject: { content, requester, params: data.params as Items } });
    return { status: null, answer: null };
  };
}
