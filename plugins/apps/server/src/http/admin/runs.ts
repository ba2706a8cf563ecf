import type { Context } from 'koa';
import { z } from 'zod';
import {
  type JobDetail,
  type JobsPage,
  type JobsRetried,
  jobKinds,
  type jobRoutes,
  jobViews,
  type RunAgain,
  type RunDetail,
  type RunInput,
  type RunRule,
  type RunsPage,
  type runRoutes,
  runStates,
  type ScheduleSummary,
} from '../../../../shared/admin-api';
import { callFunction, callVisit, type DryRun, newDryRun } from '../../apps';
import type { Requester } from '../../auth/types';
import { AppsError, errorText, isAppsError, missing, notFound } from '../../common/errors';
import { bodyOf, must, readParameters, validateBody } from '../../common/validation';
import { detailOf, summaryOf, viewFilters } from '../../jobs';
import type { JobCount, ListedJob } from '../../jobs/types';
import type { ContentItem, Site } from '../../sites/types';
import { jsonObject } from '../request/body';
import type { HttpServices, Overlay } from '../request/exchange';
import { overlaid } from '../request/negotiate';
import { actorOf, audited, repeatedAs, requireSavedSettings, whoOf } from './acting';
import { editedApp, requireEditing, texts } from './code';
import { administratorOf, type Handlers, pathBelow } from './handler';

/** Characters of a filter, and of an answer. */
const MAX_TEXT = 300;
const MAX_ANSWER = 100_000;

const text = z.string().max(MAX_TEXT, must(`at most ${MAX_TEXT} characters`));
const filter = text.optional();

const runParameters = z.object({
  site: filter,
  app: filter,
  block: filter,
  state: z.enum(runStates, must(`one of ${runStates.join(', ')}`)).optional(),
  requester: filter,
  rule: filter,
  job: filter,
  after: filter,
  before: filter,
  limit: z
    .string()
    .regex(/^\d{1,4}$/, must('a whole number'))
    .transform(Number)
    .optional(),
});

const againBody = z.object({ files: texts });

/** What the admin routes of runs answer (shared/admin/runs.ts). */
export const runHandlers: Handlers<typeof runRoutes> = {
  runs: async (ctx, { runs }): Promise<RunsPage> => runs.list(readParameters(runParameters, ctx.query)),

  async run(ctx, services): Promise<RunDetail> {
    const run = await runOf(ctx, services);
    const { seesRecords } = await actorOf(ctx, services);
    // Both may hold items of records, and what visitors have entered.
    return seesRecords ? run : { ...run, logs: [], input: null, isHidden: true };
  },

  async runAgain(ctx, services): Promise<RunAgain> {
    const { files } = validateBody(againBody, jsonObject(ctx));
    if (Object.keys(files).length > 0) requireEditing(services);
    const run = await runOf(ctx, services);
    const overlay = await overlayOf(services, run, files);
    if (!run.input) throw new AppsError('ConflictError', 'Only failed runs of apps in debug mode can run again');
    const actor = await actorOf(ctx, services);
    const { site, app, block, input } = run;
    const who = actor.seesRecords ? whoOf(run.requester.identity, run.requester.name) : 'anonymous';
    return audited(
      ...([services, actor, { action: 'run-again', site, app, block, requester: who, files }] as const),
      async () => {
        requireSavedSettings(actor, files);
        const requester = await repeatedAs(services, actor, run);
        const again = input.call ? callAgain : requestAgain;
        const dry = newDryRun({ isGuarded: !actor.seesRecords });
        const named = { identity: requester.identity, name: requester.username };
        return { requester: named, ...(await again(services, run, { requester, overlay, dry })) };
      },
      ({ status }) => status,
    );
  },
};

async function runOf(ctx: Context, { runs }: HttpServices): Promise<RunDetail> {
  const run = await runs.find(String(ctx.params.run));
  if (!run) throw notFound('There is no such run; only the latest ones are kept');
  return run;
}

/** The unsaved texts with which a run is to run again: of the app that failed. */
async function overlayOf(services: HttpServices, run: RunDetail, files: Record<string, string>): Promise<Overlay> {
  if (Object.keys(files).length === 0) return {};
  const site = await services.sites.site(run.site);
  if (!site) throw notFound(missing.site(run.site));
  return (await editedApp(services, site, run.app, files)).overlay;
}

/** How a run runs again. */
interface Repetition {
  requester: Requester;
  overlay: Overlay;
  dry: DryRun;
}

type Repeated = Omit<RunAgain, 'requester'>;

const repeated = (status: number, answer: string, { writes, runs }: DryRun): Repeated => ({
  status,
  answer: answer.slice(0, MAX_ANSWER),
  writes,
  runs,
});

async function requestAgain(
  services: HttpServices,
  run: RunDetail,
  { requester, overlay, dry }: Repetition,
): Promise<Repeated> {
  const { method, url, form, body, headers } = run.input as RunInput;
  const given = body ?? (Object.keys(form).length > 0 || method === 'POST' ? form : undefined);
  const type: Record<string, string> =
    body === null && given !== undefined ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const base = new URL(services.baseUrl());
  const sent = { ...lowerCase(headers), host: base.host, ...type };
  const path = pathBelow(base, url);
  const answer = await services.inject({ method, path, headers: sent, body: given, requester, dry, overlay });
  return repeated(answer.status, answer.text, dry);
}

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The current state of the content item of a call. */
async function contentOf(
  { sites, rules }: HttpServices,
  site: Site,
  rule: RunRule | null,
  { contentPath }: RunInput,
  requester: Requester,
): Promise<ContentItem | null> {
  if (!rule) return sites.content.resolve(site, contentPath, requester);
  return rules.item(site, rule, requester);
}

/** The call of a function that makes the body of a webhook (docs/reference/webhooks.md#the-body). */
const bodyCall = { isForApp: true, writes: { records: false, content: false } };

const isOfWebhook = ({ job }: RunDetail): boolean => job?.kind === 'webhook';

async function callAgain(
  stored: HttpServices,
  run: RunDetail,
  { requester, overlay, dry }: Repetition,
): Promise<Repeated> {
  const services = overlaid(stored, overlay);
  const input = run.input as RunInput;
  const { block, name, params } = input.call as NonNullable<RunInput['call']>;
  const site = await services.sites.site(run.site);
  const app = site && (await services.loadApp(site, run.app));
  if (!site || !app) throw notFound(missing.app(run.app, run.site));
  const content = await contentOf(services, site, run.rule, input, requester);
  const root = content ?? (await services.sites.content.resolve(site, '', requester));
  if (!root || (!content && !run.rule)) throw new AppsError('ConflictError', 'Its content item is gone');
  const address = services.sites.urls.block(site, app.id, block);
  const visit = callVisit(services, {
    site,
    content: root,
    requester,
    address,
    params,
    dry,
    through: 'logic',
    isContentGone: !content,
    ...(isOfWebhook(run) && bodyCall),
  });
  try {
    const value = await callFunction(services, visit, app, { block, name });
    return repeated(0, JSON.stringify(value), dry);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    return repeated(error.status, errorText(error), dry);
  }
}

/** Jobs of one answer. */
const LIMIT = 50;

const kind = z.enum(jobKinds, must(`one of ${jobKinds.join(', ')}`));

const jobParameters = z.object({
  view: z.enum(jobViews, must(`one of ${jobViews.join(', ')}`)).optional(),
  kind: kind.optional(),
  site: filter,
  app: filter,
  name: filter,
  before: filter,
});

const target = bodyOf({ site: text, app: text, block: text, function: text });

const deadJobs = bodyOf({ kind, site: filter, app: filter });

/** What the admin routes of jobs answer (shared/admin/runs.ts). */
export const jobHandlers: Handlers<typeof jobRoutes> = {
  async jobs(ctx, { jobs }): Promise<JobsPage> {
    const { view, before, ...wanted } = readParameters(jobParameters, ctx.query);
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
    const dead = validateBody(deadJobs, jsonObject(ctx));
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
    const wanted = validateBody(target, jsonObject(ctx));
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
