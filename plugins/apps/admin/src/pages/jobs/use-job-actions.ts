import type { JobSummary } from '../../../../shared/admin-api';
import { useAction } from '../../api/base';
import { useAppsDeleteJobMutation, useAppsRetryJobMutation } from '../../api/jobs';
import { useText } from '../../plugin';

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
