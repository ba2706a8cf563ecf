import type { App } from '../../apps/types';
import type { JobAttempt, JobOutcome, Jobs, NewJob } from '../../jobs/types';
import type { AppKey, RecordStore, SeqRange } from '../../records/types';
import type { RecordChange } from './changes';
import { type IsAbout, jobsOfRanges, type ManyDeliveries, recordJobs } from './deliveries';
import type { HostHub } from './host-hub';

export interface ExpandTools {
  store: Pick<RecordStore, 'transact' | 'page'>;
  jobs: Pick<Jobs, 'writes' | 'wake'>;
  hub: HostHub;
  loadApp(key: AppKey): Promise<App | null>;
  isAbout(app: App): IsAbout;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Records of a bulk creation that one job makes into jobs of their own. */
const MAX_STEP = 200;

/** What a job about several records has found, and what is left of it. */
interface Step {
  changes: readonly RecordChange[];
  rest: readonly SeqRange[];
}

/**
 * Makes jobs of their own of what a job holds together, and ends it, in one transaction; for Strapi's webhooks it emits
 * their events. Of many records it does some, and leaves the rest to another job.
 */
export async function expand(
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

async function ownJobs(
  { loadApp, isAbout }: ExpandTools,
  key: AppKey,
  to: { webhook: string },
  changes: readonly RecordChange[],
  at: number,
): Promise<NewJob[]> {
  const app = await loadApp(key);
  const about = app ? changes.filter((change) => isAbout(app)(to.webhook, change)) : [];
  return recordJobs(key, to, about, at);
}

async function stepOf({ store }: ExpandTools, key: AppKey, delivery: ManyDeliveries): Promise<Step> {
  if (delivery.what === 'records') return { changes: delivery.changes, rest: [] };
  const changes: RecordChange[] = [];
  let rest: readonly SeqRange[] = delivery.ranges;
  // A range that is done, or a part of one, is a step: each is one read.
  while (rest.length > 0 && changes.length < MAX_STEP) {
    const [[first, last], ...others] = rest as [SeqRange, ...SeqRange[]];
    const found = await store.page(key, { after: first - 1, limit: Math.min(MAX_STEP, last - first + 1) });
    const inside = found.filter(({ seq }) => seq <= last);
    changes.push(...inside.map(({ id, items, creator }): RecordChange => ({ event: 'create', id, items, creator })));
    const seen = found.at(-1)?.seq ?? last;
    rest = found.length > 0 && seen < last ? [[seen + 1, last], ...others] : others;
  }
  return { changes, rest };
}
