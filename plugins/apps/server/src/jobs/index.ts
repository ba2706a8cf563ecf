/** Jobs: effects that are stored with a request's records and done after its commit (docs/decisions/jobs.md). */

export { createJobs } from './jobs';
export { JobFailure } from './rows';
export { detailOf, summaryOf, viewFilters } from './shown';
export type * from './types';
