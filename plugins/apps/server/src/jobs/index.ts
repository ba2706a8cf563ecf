/** Jobs: effects that are stored with a request's records and done after its commit (docs/decisions/jobs.md). */

export { createJobs } from './jobs';
export { detailOf, JobFailure, summaryOf, viewFilters } from './rows';
export type * from './types';
