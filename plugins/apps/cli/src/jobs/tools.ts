import type { JobTools } from '../../../server/src';
import type { JobFilter, JobKind } from '../../../server/src/jobs/types';
import type { Invocation } from '../command';
import { type Host, withStrapi } from '../host';

/** Runs `work` with the jobs in the host's database. No job runs in this process. */
export const withJobs = <T>(host: Host, work: (jobs: JobTools) => Promise<T>): Promise<T> =>
  withStrapi(host, (strapi) => work(strapi.plugin('apps').service('jobs') as JobTools));

/** The jobs that the options of a command mean. */
export function filterOf({ kind, site, app, name }: Invocation['options']): JobFilter {
  const given = { kind: kind as JobKind, site: site as string, app: app as string, name: name as string };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
