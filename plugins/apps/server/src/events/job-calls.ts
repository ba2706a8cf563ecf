import type { Items, Json } from '../../../shared/json';
import { folderOf, UnknownFunction } from '../apps';
import type { Requester } from '../auth/types';
import { errorText, fieldLines, isAppsError, missing } from '../common/errors';
import { JobFailure } from '../jobs';
import type { JobAttempt, JobHandler } from '../jobs/types';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../outbound/types';
import type { Site } from '../sites/types';
import { type CallServices, type CallSubject, callIn, type FunctionName } from './calls';

/** Names of errors after which no further try succeeds by itself. */
const isFinal = (error: unknown): boolean => isAppsError(error, 'UnauthorizedError');

/** Requesters as they were read after a claim of jobs, by identity. */
const requestersOfClaims = new WeakMap<object, Map<string, Promise<Requester | null>>>();

/**
 * The requester of a job with the rights that they have now: read after the job was claimed, and once for jobs that were claimed
 * together. JobFailure for one who may not act any more.
 */
export async function requesterOfJob(
  { requesters }: CallServices,
  { job: { requester: identity }, claim }: Pick<JobAttempt, 'job' | 'claim'>,
): Promise<Requester> {
  const known = requestersOfClaims.get(claim) ?? new Map<string, Promise<Requester | null>>();
  requestersOfClaims.set(claim, known);
  const read = known.get(identity) ?? requesters.withIdentity(identity);
  known.set(identity, read);
  const requester = await read;
  if (!requester)
    throw new JobFailure(`The requester "${identity}" is blocked or does not exist any more`, { next: 'never' });
  return requester;
}

/** The site of a job. JobFailure while there is none of its id: another process may know it. */
export async function siteOfJob({ sites }: CallServices, id: string): Promise<Site> {
  const site = await sites.site(id);
  if (!site) throw new JobFailure(missing.site(id), { next: 'missing' });
  return site;
}

/**
 * Calls the function of a job; its writes and the end of the job are stored together. JobFailure with the reason.
 * @param attempt `settle` is null where the call is not all of the job
 */
export async function callOfJob(
  all: CallServices,
  { job: { id, kind, attempts, jobKey }, settle }: Pick<JobAttempt, 'job'> & { settle: JobAttempt['settle'] | null },
  { site, target, subject }: { site: Site; target: FunctionName; subject: CallSubject },
): Promise<Json> {
  try {
    await requireBlock(all, site, target);
    const job = { id, kind, attempt: attempts };
    // A request that finds the key held relies on it that this job sees what it commits.
    const end = settle ? { write: settle, isAlways: jobKey !== null } : undefined;
    return await callIn(all, site, target, { ...subject, job }, end);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    const next = error instanceof UnknownFunction ? 'missing' : isFinal(error) ? 'never' : 'again';
    const lines = [`${error.name}: ${errorText(error, folderOf(all, target.app))}`, ...fieldLines(error)];
    throw new JobFailure(lines.join('\n'), { next }, error);
  }
}

/** UnknownFunction unless the app and its block exist: during a rolling start they soon may. */
async function requireBlock(all: CallServices, site: Site, { app: id, block }: FunctionName): Promise<void> {
  const app = await all.loadApp(site, id);
  if (!app) throw new UnknownFunction(missing.app(id, site.id));
  if (!app.error && !app.blocks.has(block)) throw new UnknownFunction(missing.block(block, id));
}

/** Does the jobs of `context.jobs.add` and `enqueue`. */
export function functionJobs(services: () => CallServices): JobHandler {
  return async (attempt) => {
    const all = services();
    const { key, data } = attempt.job;
    const [site, requester] = await Promise.all([siteOfJob(all, key.site), requesterOfJob(all, attempt)]);
    const content = await all.sites.content.resolve(site, '', requester);
    if (!content) throw new JobFailure(missing.site(site.id), { next: 'missing' });
    const target = { app: key.app, block: String(data.block), name: String(data.function) };
    await callOfJob(all, attempt, { site, target, subject: { content, requester, params: data.params as Items } });
    return { status: null, answer: null };
  };
}

/** Characters of an answer that are kept for the panel. */
const MAX_ANSWER = 1_000;

/** Errors that no further try changes: the call itself, or the configuration, has to. */
const final = ['BadRequestError', 'ForbiddenError', 'PayloadTooLargeError'] as const;

/** Does the jobs of `context.jobs.fetch`: a call that is tried again until its answer is 2xx. Its secrets are put in at each try. */
export function fetchJobs(outbound: Outbound): JobHandler {
  return async ({ job, signal }) => {
    const call = { ...(job.data as unknown as OutboundRequest), signal };
    const { status, text } = await outbound.call(job.key.app, call).catch(failed);
    const answer = text.slice(0, MAX_ANSWER);
    if (status >= 200 && status <= 299) return { status, answer };
    throw new JobFailure(`The answer has the status ${status}`, { status, answer });
  };
}

function failed(error: unknown): Promise<OutboundAnswer> {
  if (!isAppsError(error)) throw error;
  const next = final.some((name) => isAppsError(error, name)) ? 'never' : 'again';
  throw new JobFailure(`${error.name}: ${error.message}`, { next });
}
