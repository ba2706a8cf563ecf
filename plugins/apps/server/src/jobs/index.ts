/** Jobs: effects that are stored with a request's records and done after its commit (docs/decisions/jobs.md). */
export { JobFailure } from './failure';
export { createJobs } from './jobs';
export { detailOf, summaryOf, viewFilters } from './shown';
export type * from './types';
