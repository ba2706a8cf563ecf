import type { Context } from 'koa';
import { z } from 'zod';
import {
  type JobDetail,
  type JobsPage,
  type JobsRetried,
  jobKinds,
  type jobRoutes,
  jobViews,
  type ScheduleSummary,
} from '../../../../shared/admin-api';
import { AppsError, notFound } from '../../common/errors';
import { bodyOf, must, readBody, readParameters } from '../../common/validation';
import { detailOf, summaryOf, viewFilters } from '../../jobs';
import type { JobCount, ListedJob } from '../../jobs/types';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { administratorOf, type Handlers } from './handler';

/** Characters of a filter, and jobs of one answer. */
const MAX_TEXT = 300;
const LIMIT = 50;

const text = z.string().max(MAX_TEXT, must(`at most ${MAX_TEXT} characters`));
const filter = text.optional();
const kind = z.enum(jobKinds, must(`one of ${jobKinds.join(', ')}`));

const parameters = z.object({
  view: z.enum(jobViews, must(`one of ${jobViews.join(', ')}`)).optional(),
  kind: kind.optional(),
  ...{ site: filter, app: filter, name: filter, before: filter },
});

const target = bodyOf({ site: text, app: text, block: text, function: text });

const deadJobs = bodyOf({ kind, site: filter, app: filter });

/** What the admin routes of jobs answer (shared/admin/runs.ts). */
export const jobHandlers: Handlers<typeof jobRoutes> = {
  async jobs(ctx, { jobs }): Promise<JobsPage> {
    const { view, before, ...wanted } = readParameters(parameters, ctx.query);
    const { site, app } = wanted;
    const states = view === undefined ? {} : viewFilters[view];
    const { jobs: found, older } = await jobs.list({ ...wanted, ...states }, { before, limit: LIMIT });
    const counted = (['waiting', 'failed', 'running', 'dead'] as const).map(async (one) => {
      const counts = await jobs.counts({ site, app, ...viewFilters[one] });
      return [one, sumOf(counts)] as const;
    });
    const counts = Object.fromEntries(await Promise.all(counted)) as JobsPage['counts'];
    return { jobs: found.map(summaryOf), older, counts };
  },

  async job(ctx, services): Promise<JobDetail> {
    return detailOf(await jobOf(ctx, services));
  },

  async retryJob(ctx, services): Promise<JobsRetried> {
    const job = await jobOf(ctx, services);
    const { id, key, name } = job;
    const retried = await services.jobs.retry({ id });
    if (retried === 0) throw new AppsError('ConflictError', 'It runs now, or another job with its key waits or runs');
    await note(ctx, services, `runs the job ${id} of ${key.site}/${key.app} (${job.kind} ${name}) again`);
    return { retried };
  },

  async retryDeadJobs(ctx, services): Promise<JobsRetried> {
    const dead = readBody(deadJobs, jsonObject(ctx));
    const retried = await services.jobs.retry({ dead });
    await note(ctx, services, `runs ${retried} dead jobs again: ${JSON.stringify(dead)}`);
    return { retried };
  },

  async deleteJob(ctx, services): Promise<{ success: 'deleted' }> {
    const { id, key, kind: of, name } = await jobOf(ctx, services);
    if (!(await services.jobs.delete(id))) throw new AppsError('ConflictError', 'It runs now');
    await note(ctx, services, `has deleted the job ${id} of ${key.site}/${key.app} (${of} ${name})`);
    return { success: 'deleted' };
  },

  schedules: (_ctx, { schedules }): Promise<ScheduleSummary[]> => schedules.list(),

  async runSchedule(ctx, services): Promise<{ job: string }> {
    const wanted = readBody(target, jsonObject(ctx));
    const job = await services.schedules.runNow(wanted);
    const { site, app, block, function: name } = wanted;
    await note(ctx, services, `runs ${block}/${name} of ${site}/${app} as its schedule does: job ${job}`);
    return { job };
  },
};

const sumOf = (counts: readonly JobCount[]): number => counts.reduce((sum, { jobs }) => sum + jobs, 0);

async function jobOf(ctx: Context, { jobs }: HttpServices): Promise<ListedJob> {
  const job = await jobs.find(String(ctx.params.job));
  if (!job) throw notFound('There is no such job; those that are done are kept for some days');
  return job;
}

/** Effects begin again, or never come: the log says who has decided it. */
async function note(ctx: Context, services: HttpServices, what: string): Promise<void> {
  const { identity } = await administratorOf(ctx, services);
  services.logger.info(`[apps] ${identity} ${what}`);
}
