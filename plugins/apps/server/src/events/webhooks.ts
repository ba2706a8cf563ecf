import type { Core } from '@strapi/strapi';
import type { Json } from '../../../shared/json';
import { folderOf } from '../apps';
import type { App, Webhook } from '../apps/types';
import { type AppsError, errorText, isAppsError, missing } from '../common/errors';
import type { Logger } from '../common/log';
import { type Awaitable, whenAll } from '../common/time/awaitable';
import type { HostDatabase } from '../database';
import { isUnconfirmed } from '../indexes';
import { JobFailure } from '../jobs';
import type { Job, JobAttempt, JobHandler, JobOutcome, Jobs, NewJob } from '../jobs/types';
import { secretOf } from '../outbound';
import type { Outbound, OutboundRequest } from '../outbound/types';
import { type ChangeWatcher, storedJson } from '../records';
import type { AppKey, RecordStore, SeqRange, StoredRecord } from '../records/types';
import { signed, standardKey } from '../webhooks';
import { type CallServices, callOfJob, siteOfJob } from './calls';
import {
  changeData,
  createHostHub,
  type DeliveredChange,
  type Delivery,
  eventName,
  type HostHub,
  isAboutOf,
  jobsOfRanges,
  type ManyDeliveries,
  recordJobs,
  type SingleDelivery,
  watchRecords,
} from './webhook-changes';

interface ExpandTools {
  store: Pick<RecordStore, 'transact' | 'stream'>;
  jobs: Pick<Jobs, 'writes' | 'wake'>;
  hub: HostHub;
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Awaitable<App | null>;
  services(): CallServices;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Records of a bulk creation that one job makes into jobs of their own, and characters of them after which it reads no more. */
const MAX_STEP = 200;
const MAX_TEXT = 1024 * 1024;

/** What a job about several records has found, and what is left of it. */
interface Step {
  changes: readonly DeliveredChange[];
  rest: readonly SeqRange[];
}

/**
 * Makes jobs of their own of what a job holds together, and ends it, in one transaction; for Strapi's webhooks it emits
 * their events. Of many records it does some, and leaves the rest to another job.
 */
async function expand(
  tools: ExpandTools,
  { job: { key }, settle }: JobAttempt,
  delivery: ManyDeliveries,
): Promise<JobOutcome> {
  const { store, jobs, hub } = tools;
  const { to } = delivery;
  const { changes, rest } = await stepOf(tools, key, delivery);
  const own = 'webhook' in to ? await ownJobs(tools, key, to, changes, delivery.at) : [];
  const next = [...own, ...jobsOfRanges(key, to, rest, delivery.at)];
  await store.transact(async (unit) => {
    unit.atCommit(settle);
    if (next.length > 0) unit.atCommit(jobs.writes(next));
  });
  if ('strapi' in to) hub.emit(key, changes);
  jobs.wake([key]);
  return { status: null, answer: null };
}

/**
 * The webhook that a job names, by the app's files of now. JobFailure `missing` without it, and while settings.yaml is broken: another
 * process may have the newer files, and nothing that is committed is lost.
 */
async function webhookOf(tools: ExpandTools, key: AppKey, name: string): Promise<{ app: App; webhook: Webhook }> {
  const app = await tools.loadApp(key);
  if (!app) throw new JobFailure(missing.app(key.app, key.site), { next: 'missing' });
  if (app.error) throw unknownNow(tools, key, app.error);
  const webhook = app.settings.webhooks.get(name);
  if (!webhook) throw new JobFailure(`settings.yaml has no webhook "${name}" any more`, { next: 'missing' });
  return { app, webhook };
}

/** The failure of a job that waits until a file is corrected. */
const unknownNow = ({ services }: ExpandTools, { app }: AppKey, error: AppsError): JobFailure =>
  new JobFailure(`${error.name}: ${errorText(error, folderOf(services(), app))}`, { next: 'missing' }, error);

/** The jobs of the changes that a webhook is about. JobFailure `missing` while that is not known. */
async function ownJobs(
  tools: ExpandTools,
  key: AppKey,
  to: { webhook: string },
  changes: readonly DeliveredChange[],
  at: number,
): Promise<NewJob[]> {
  const { app } = await webhookOf(tools, key, to.webhook);
  try {
    const about = changes.filter((change) => isAboutOf(app)(to.webhook, change));
    return recordJobs(key, to, about, at);
  } catch (error) {
    throw isAppsError(error) ? unknownNow(tools, key, error) : error;
  }
}

async function stepOf({ store }: ExpandTools, key: AppKey, delivery: ManyDeliveries): Promise<Step> {
  if (delivery.what === 'records') return { changes: delivery.changes, rest: [] };
  const changes: DeliveredChange[] = [];
  let rest: readonly SeqRange[] = delivery.ranges;
  let text = 0;
  // A range that is done, or a part of one, is a step: each is one read.
  while (rest.length > 0 && changes.length < MAX_STEP && text < MAX_TEXT) {
    const [[first, last], ...others] = rest as [SeqRange, ...SeqRange[]];
    const page = { after: first - 1, limit: Math.min(MAX_STEP, last - first + 1) };
    const found = await firstOf(store.stream(key, page));
    const inside = found.filter(({ seq }) => seq <= last);
    text += inside.reduce((sum, record) => sum + storedJson(record).length, 0);
    // Restored ones may wait for their confirmation, which tells of them.
    const announced = inside.filter(({ items }) => !isUnconfirmed(items));
    changes.push(
      ...announced.map(({ id, items, creator }): DeliveredChange => ({ event: 'create', id, items, creator })),
    );
    const seen = found.at(-1)?.seq ?? last;
    rest = seen < last ? [[seen + 1, last], ...others] : others;
  }
  return { changes, rest };
}

/** The first batch of a stream: records that fit into memory. */
async function firstOf(batches: AsyncIterable<StoredRecord[]>): Promise<StoredRecord[]> {
  for await (const batch of batches) return batch;
  return [];
}

interface DeliverTools extends ExpandTools {
  outbound: Pick<Outbound, 'call' | 'check' | 'secret'>;
}

/** The status of a receiver that is gone for good. */
const GONE = 410;

/** Does the jobs of webhooks (docs/reference/webhooks.md#webhooks-out). */
function webhookJobs(tools: DeliverTools): JobHandler {
  return async (attempt) => {
    const delivery = attempt.job.data as unknown as Delivery;
    return delivery.what === 'record' ? deliver(tools, attempt, delivery) : expand(tools, attempt, delivery);
  };
}

async function deliver(tools: DeliverTools, attempt: JobAttempt, delivery: SingleDelivery): Promise<JobOutcome> {
  const { job, signal } = attempt;
  const { app, webhook } = await webhookOf(tools, job.key, delivery.to.webhook);
  const body = await bodyOf(tools.services(), job, webhook, delivery);
  if (body === null) return { status: null, answer: null };
  const { text, type } = body;
  const headers = { 'content-type': type, ...signatureOf(tools, job, webhook, text) };
  const request = { url: webhook.url, method: 'POST', headers, body: text, timeout: null, isExact: true, signal };
  const { status, text: answer } = await call(tools.outbound, app.id, request);
  if (status >= 200 && status < 300) return { status, answer };
  const { host } = new URL(webhook.url);
  throw new JobFailure(`${host} has answered ${status}`, { next: status === GONE ? 'never' : 'again', status, answer });
}

/** Calls. What is wrong before there is a connection, or what the configuration forbids, needs a person: it is not tried again. */
async function call(outbound: DeliverTools['outbound'], appId: string, request: OutboundRequest) {
  const failed = (error: unknown, isFinal: boolean) => {
    if (!isAppsError(error)) throw error;
    const next = isFinal || isAppsError(error, 'ForbiddenError') ? 'never' : 'again';
    return new JobFailure(`${error.name}: ${error.message}`, { next }, error);
  };
  try {
    outbound.check(appId, request);
  } catch (error) {
    throw failed(error, true);
  }
  try {
    return await outbound.call(appId, request);
  } catch (error) {
    throw failed(error, false);
  }
}

/** The headers that name and sign a delivery: the same id for each try, another time. */
function signatureOf({ outbound, now }: DeliverTools, job: Job, { secret: name }: Webhook, text: string) {
  if (name === null) return { 'webhook-id': job.id, 'webhook-timestamp': String(Math.floor(now() / 1000)) };
  const secret = secretOf(outbound, name);
  const key = secret === null ? null : standardKey(secret);
  if (!key) {
    const lack = secret === null ? 'is missing or empty' : 'must be base64, with "whsec_" before it or without';
    throw new JobFailure(`fetch.secrets.${name}.value in the configuration ${lack}`, { next: 'missing' });
  }
  return { ...signed(key, job.id, Buffer.from(text), now()) };
}

/** The body of a delivery, and its media type; null where the function of the webhook returns nothing. */
async function bodyOf(
  all: CallServices,
  job: Job,
  { body }: Webhook,
  { to, event, id, items, at }: SingleDelivery,
): Promise<{ text: string; type: string } | null> {
  const { key } = job;
  const data = await changeData(all.sites, key, { id, items });
  if (!data) throw new JobFailure(missing.site(key.site), { next: 'missing' });
  const usual = { type: eventName(event), timestamp: new Date(at).toISOString(), data: { ...data } };
  if (!body) return asBody(usual);
  const site = await siteOfJob(all, key.site);
  const requester = await all.requesters.anonymous();
  const content = await all.sites.content.resolve(site, '', requester);
  if (!content) throw new JobFailure(missing.site(key.site), { next: 'missing' });
  const params = { ...to, event, ...usual };
  const target = { app: key.app, ...body };
  // The author of the app has named it: the one who made the change has nothing to do with it. It runs at each try.
  const made = await callOfJob(
    all,
    { job, settle: null },
    { site, target, subject: { content, requester, params, isForApp: true } },
  );
  return made === null ? null : asBody(made);
}

const asBody = (value: Json): { text: string; type: string } =>
  typeof value === 'string'
    ? { text: value, type: 'text/plain; charset=utf-8' }
    : { text: JSON.stringify(value), type: 'application/json' };

interface WebhookOptions {
  strapi: Core.Strapi;
  logger: Logger;
  database: Pick<HostDatabase, 'current'>;
  jobs: Jobs;
  outbound: Outbound;
  /** Of the same store; what is stored by it is not watched. */
  store: RecordStore;
  sites: CallServices['sites'];
  /** The app, by its files of now; null where there is none. */
  loadApp(key: AppKey): Awaitable<App | null>;
  /** Called later, because the services are created after the webhooks. */
  services(): CallServices;
}

/**
 * The webhooks of all apps (docs/decisions/webhooks.md): does their jobs.
 * @returns the watcher of records that stores these jobs
 */
export function createWebhooks(options: WebhookOptions): ChangeWatcher {
  const { strapi, logger, database, jobs, outbound, store, sites, loadApp, services } = options;
  const now = Date.now;
  const hub = createHostHub(strapi, sites, (error) => logger.error(`[apps] webhooks of Strapi: ${String(error)}`));
  const afterCommit = (effect: () => void): Awaitable<void> =>
    whenAll([database.current()], ([outer]) => {
      if (outer) outer.executionPromise.then(effect, () => undefined);
      else effect();
    });
  const shared = { jobs, hub, loadApp, now };
  jobs.handle('webhook', webhookJobs({ ...shared, store, outbound, services }));
  return watchRecords({ ...shared, afterCommit });
}
