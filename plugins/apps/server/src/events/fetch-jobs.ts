import { isAppsError } from '../common/errors';
import { JobFailure } from '../jobs';
import type { JobHandler } from '../jobs/types';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../outbound/types';

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
