import type { JobDetail, JobSummary, JobView } from '../../../shared/admin-api';
import type { Logger } from '../common/log';
import { withoutSecrets } from '../runs';
import type { FailedTry } from './queue';
import type { Job, JobFilter, ListedJob } from './types';

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
    id,
    site: key.site,
    app: key.app,
    kind,
    name,
    view: viewOf(job),
    attempts,
    requester,
    key: jobKey,
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

/** Notes a try that has ended. @param time milliseconds @param failed null: the job is done */
export type LogTry = (job: Job, time: number, failed: FailedTry | null) => void;

/**
 * Writes what has become of tries to the server's log: the first failure of a job and its end, because the tries between them
 * say the same again; with `isFull` each try, as developers want to see them.
 */
export function createTryLog(logger: Logger, isFull: boolean): LogTry {
  return ({ id, key, kind, name, attempts, wasMissing }, time, failed) => {
    const job = `[apps] job ${id} of ${key.site}/${key.app} (${kind} ${name})`;
    if (!failed) {
      if (isFull) logger.info(`${job} done in ${time} ms`);
      return;
    }
    const { isDead, reason } = failed;
    const next = isDead ? 'it is given up' : 'it will be tried again';
    const line = `${job} failed${isFull ? ` in ${time} ms, try ${attempts}` : ''}, ${next}: ${reason}`;
    if (isDead) logger.error(line);
    else if (isFull || (attempts === 1 && !wasMissing)) logger.warn(line);
  };
}
