import type { Items } from '../../../shared/json';
import { missing } from '../common/errors';
import { type CallServices, callOfJob, siteOfJob } from '../events';
import { JobFailure } from '../jobs';
import type { JobHandler } from '../jobs/types';

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
