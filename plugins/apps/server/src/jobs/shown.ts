import type { JobDetail, JobSummary, JobView } from '../../../shared/admin-api';
import { withoutSecrets } from '../runs';
import type { JobFilter, ListedJob } from './types';

/** The rows that people see as one state: a job that waits after a failed try has failed. */
export const viewFilters: Readonly<Record<JobView, JobFilter>> = {
  waiting: { state: 'waiting', hasFailed: false },
  failed: { state: 'waiting', hasFailed: true },
  running: { state: 'running' },
  dead: { state: 'dead' },
  done: { state: 'done' },
};

const viewOf = ({ state, error }: ListedJob): JobView => (state === 'waiting' && error !== null ? 'failed' : state);

const timeOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** A job as lists show it. */
export function summaryOf(job: ListedJob): JobSummary {
  const { id, key, kind, name, attempts, requester, jobKey, storedAt, dueAt, startedAt, endedAt } = job;
  return {
    ...{ id, site: key.site, app: key.app, kind, name, view: viewOf(job), attempts, requester, key: jobKey },
    storedAt: new Date(storedAt).toISOString(),
    dueAt: new Date(dueAt).toISOString(),
    startedAt: timeOf(startedAt),
    endedAt: timeOf(endedAt),
    time: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    status: job.status,
    error: job.error,
  };
}

/** A job with what it was given. */
export const detailOf = (job: ListedJob): JobDetail => ({
  ...summaryOf(job),
  data: withoutSecrets(job.data),
  answer: job.answer,
});
