import type { RunJob, RunRule } from '../../../shared/admin-api';
import type { Items, Json } from '../../../shared/json';
import {
  type AppServices,
  callFunction,
  callVisit,
  ForbiddenBlock,
  folderOf,
  functionJob,
  type Settle,
  UnknownFunction,
} from '../apps';
import type { Requesters } from '../auth';
import type { Requester, StrapiAuth } from '../auth/types';
import { AppsError, errorText, fieldLines, isAppsError, missing, notFound } from '../common/errors';
import { JobFailure } from '../jobs';
import type { JobAttempt, JobHandler } from '../jobs/types';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../outbound/types';
import type { ContentItem, Site } from '../sites/types';

/** A call of a block's function, later. */
interface EnqueueOptions {
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
type Enqueue = (options: EnqueueOptions) => Promise<string>;

const textKeys = ['app', 'block', 'function'] as const;

function createEnqueue(services: () => AppServices): Enqueue {
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
      key: { site: site.id, app: app.id },
      block,
      name,
      params: JSON.parse(JSON.stringify(params)) as Items,
      requester: user ? `user:${user}` : '',
      rules: [],
      once: key ?? null,
      delay,
      at,
    });
    const [id = ''] = await all.jobs.insert([job]);
    return id;
  };
}

export interface CallServices extends AppServices {
  requesters: Requesters;
}

/** A function of a block. */
interface FunctionName {
  app: string;
  block: string;
  name: string;
}

/** What a function is called with. */
interface CallSubject {
  /** Null: it is gone. */
  content: ContentItem | null;
  requester: Requester;
  params: Items;
  rule?: RunRule;
  /** The job that calls it. */
  job?: RunJob;
  /**
   * Whether it is called for its app, not for the requester: it has all rights in this app, and may write nothing; what it writes is
   * refused with a CsrfError.
   */
  isForApp?: boolean;
}

/**
 * Calls a function in a site, and returns its value. NotFoundError for an unknown app, block or function.
 * @param settle a write in the transaction of its work
 */
async function callIn(
  all: CallServices,
  site: Site,
  { app: appId, block, name }: FunctionName,
  { rule, job, content, isForApp = false, ...subject }: CallSubject,
  settle?: Settle,
): Promise<Json> {
  const app = await all.loadApp(site, appId);
  if (!app) throw notFound(missing.app(appId, site.id));
  const address = all.sites.urls.block(site, appId, block);
  const shown = content ?? (await all.sites.content.resolve(site, '', subject.requester));
  if (!shown) throw notFound(missing.site(site.id));
  const visit = callVisit(all, {
    site,
    address,
    content: shown,
    rule,
    job,
    ...subject,
    through: 'logic',
    isContentGone: content === null,
    ...(isForApp && { isForApp, writes: { records: false, content: false } }),
  });
  return callFunction(all, visit, app, { block, name }, settle);
}

/** A call of a block's function from code. */
export interface CallOptions {
  /**
   * `context.content`: a path below the site (`articles/news`), a document's `{ uid, documentId }` (with `locale`, else in
   * the site's), or a whole content item; the portal without it. NotFoundError for content that the requester may not read.
   */
  content?: string | { uid: string; documentId: string; locale?: string } | ContentItem;
  /** `context.params`; JSON. */
  params?: Items;
  /** The requester: a Requester, a Koa context or its state; anonymous without it. */
  requester?: Requester | { state: StrapiState } | StrapiState | null;
  /** Id of the site; the default one without it. */
  site?: string;
}

interface StrapiState {
  auth?: StrapiAuth;
  user?: unknown;
}

/** `strapi.plugin('apps').service('apps')` (docs/reference/events.md#calls-from-code). */
export interface Calls {
  /** Runs `<app>/<block>/<function>` and returns its value. Rejects with an AppsError; nothing is then written. */
  call(path: string, options?: CallOptions): Promise<Json>;
  /** Has a function called later (docs/reference/jobs.md#from-code). */
  enqueue: Enqueue;
}

const PATH = /^\/?([^/]+)\/(?:blocks\/)?([^/]+)\/([^/]+)$/;

export function createCalls(services: () => CallServices): Calls {
  return {
    enqueue: createEnqueue(services),
    async call(path, options = {}) {
      const [, appId, block, name] = PATH.exec(path) ?? [];
      if (!appId || !block || !name) {
        throw new AppsError('BadRequestError', `"${path}" is not a function's path, <app>/<block>/<function>`);
      }
      const all = services();
      const site = await siteOf(all, options.site);
      const requester = await requesterOf(all.requesters, options.requester ?? null);
      const content = await contentOf(all, site, options.content, requester);
      return callIn(all, site, { app: appId, block, name }, { content, requester, params: options.params ?? {} });
    },
  };
}

async function siteOf({ sites, config }: CallServices, id = config.sites[0]?.id ?? ''): Promise<Site> {
  const site = await sites.site(id);
  if (!site) throw notFound(missing.site(id));
  return site;
}

/** Keys of a database row that no state has. */
const rowKeys = ['documentId', 'id', 'username', 'email'];

async function requesterOf(
  requesters: Requesters,
  given: NonNullable<CallOptions['requester']> | null,
): Promise<Requester> {
  if (given === null) return requesters.anonymous();
  if ('identity' in given && 'credential' in given) return given;
  // A row taken for a state without `auth` would silently mean anonymous.
  const row = rowKeys.find((key) => key in given);
  if (row !== undefined) {
    throw new AppsError(
      'BadRequestError',
      `"requester" must be a Koa context or its state (ctx.state), not an object with "${row}", such as a user's row: it does not say how the user has logged in`,
    );
  }
  return requesters.fromStrapi('state' in given ? given.state : (given as StrapiState));
}

async function contentOf(
  { sites }: CallServices,
  site: Site,
  given: CallOptions['content'],
  requester: Requester,
): Promise<ContentItem> {
  if (typeof given === 'object' && 'fields' in given) return given;
  const found =
    typeof given === 'object'
      ? await sites.content.find(site, given, requester)
      : await sites.content.resolve(site, given ?? '', requester);
  if (!found) throw notFound('There is no such content');
  return found;
}

/** Names of errors after which no further try succeeds by itself. */
const isFinal = (error: unknown): boolean => isAppsError(error, 'UnauthorizedError') || error instanceof ForbiddenBlock;

/** Requesters as they were read after a claim of jobs, by authority. */
const requestersOfClaims = new WeakMap<object, Map<string, Promise<Requester | null>>>();

/**
 * The requester of a job with the rights that they have now: read after the job was claimed, and once for jobs that were claimed
 * together. JobFailure for one who may not act any more.
 */
export async function requesterOfJob(
  { requesters }: CallServices,
  { job: { requester: authority }, claim }: Pick<JobAttempt, 'job' | 'claim'>,
): Promise<Requester> {
  const known = requestersOfClaims.get(claim) ?? new Map<string, Promise<Requester | null>>();
  requestersOfClaims.set(claim, known);
  const read = known.get(authority) ?? requesters.withAuthority(authority);
  known.set(authority, read);
  const requester = await read;
  if (!requester)
    throw new JobFailure(`The requester "${authority}" is blocked or does not exist any more`, { next: 'never' });
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

/**
 * Does the jobs of `context.jobs.add` and `enqueue`.
 * @param withRules a requester whose changes trigger none of these rules
 */
export function functionJobs(
  services: () => CallServices,
  withRules: (requester: Requester, rules: readonly number[]) => Requester,
): JobHandler {
  return async (attempt) => {
    const all = services();
    const { key, data } = attempt.job;
    const [site, known] = await Promise.all([siteOfJob(all, key.site), requesterOfJob(all, attempt)]);
    // Jobs of an earlier release have none.
    const { rules = [] } = data as { rules?: readonly number[] };
    const requester = rules.length > 0 ? withRules(known, rules) : known;
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
