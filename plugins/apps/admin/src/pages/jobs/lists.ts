import { type JobKind, type JobsQuery, jobKinds, jobViews } from '../../../../shared/admin-api';
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
