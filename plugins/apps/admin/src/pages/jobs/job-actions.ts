import type { JobSummary } from '../../../../shared/admin-api';
import { useAction } from '../../api/base';
import { useAppsDeleteJobMutation, useAppsRetryJobMutation } from '../../api/jobs';
import { useText } from '../../plugin';

/** Whether a job may run again now, and be deleted. */
export const isIdle = ({ view }: JobSummary): boolean => view !== 'running';

/** What the button says that has a job run now, and its name for screen readers. */
export const runLabels = ({ view, kind }: JobSummary) =>
  view === 'waiting'
    ? (['schedule.run', 'schedule.run.of'] as const)
    : kind === 'webhook' || kind === 'mail'
      ? (['job.send', 'job.send.of'] as const)
      : (['job.retry', 'job.retry.of'] as const);

/** What an administrator does with a job that does not run. */
export function useJobActions({ id }: Pick<JobSummary, 'id'>) {
  const text = useText();
  const act = useAction();
  const [send, { isLoading }] = useAppsRetryJobMutation();
  const [deleteJob] = useAppsDeleteJobMutation();
  return {
    isLoading,
    retry: () => act(() => send(id).unwrap(), text('job.retried')),
    remove: () => act(() => deleteJob(id).unwrap(), text('job.deleted')),
  };
}
