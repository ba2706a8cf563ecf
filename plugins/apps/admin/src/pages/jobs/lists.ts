import { type JobKind, type JobSummary, type JobsQuery, jobKinds, jobViews } from '../../../../shared/admin-api';
import { pluginId } from '../../plugin';

/** The lists of the page, in the order of their tabs: jobs by their state, and webhooks in all states. */
export const jobLists = [...jobViews, 'deliveries'] as const;

export type JobList = (typeof jobLists)[number];

/** What is shown, as the address has it. */
export interface Shown {
  list: JobList;
  kind: JobKind | null;
  site: string | null;
  app: string | null;
  /** Id of the job that is opened. */
  job: string | null;
}

/** The address of the page. */
export function jobsPath(shown: Partial<Shown>): string {
  const given = Object.entries(shown).filter(([, value]) => value !== null);
  return `/plugins/${pluginId}/jobs?${new URLSearchParams(given as [string, string][])}`;
}

export function shownOf(search: URLSearchParams): Shown {
  return {
    list: jobLists.find((one) => one === search.get('list')) ?? 'waiting',
    kind: jobKinds.find((one) => one === search.get('kind')) ?? null,
    site: search.get('site'),
    app: search.get('app'),
    job: search.get('job'),
  };
}

/** What the server is asked for. */
export function queryOf({ list, kind, site, app }: Shown, before: string | undefined): JobsQuery {
  const wanted = list === 'deliveries' ? ({ kind: 'webhook' } as const) : { view: list, ...(kind && { kind }) };
  return { ...wanted, ...(site && { site }), ...(app && { app }), ...(before && { before }) };
}

/** Whether a job may run again now, and be deleted. */
export const isIdle = ({ view }: JobSummary): boolean => view !== 'running';

/** What the button says that has a job run now, and its name for screen readers. */
export const runLabels = ({ view, kind }: JobSummary) =>
  view === 'waiting'
    ? (['schedule.run', 'schedule.run.of'] as const)
    : kind === 'webhook' || kind === 'mail'
      ? (['job.send', 'job.send.of'] as const)
      : (['job.retry', 'job.retry.of'] as const);
