import type { JobTools } from '../../server/src';
import { detailOf, viewFilters } from '../../server/src/jobs';
import type { JobFilter, JobKind } from '../../server/src/jobs/types';
import type { JobDetail, JobView } from '../../shared/admin-api';
import { CannotRun, exitCodes, type Invocation, type RunCommand } from './command';
import { type Host, withStrapi } from './host';
import type { Output, Style } from './output';

/** Jobs that one command lists. */
const MAX_LIMIT = 10_000;

const styles: Record<JobView, Style> = {
  waiting: 'blue',
  running: 'cyan',
  failed: 'yellow',
  dead: 'red',
  done: 'green',
};

/** Lists jobs (docs/reference/command-line.md#jobs-list). */
export const run: RunCommand = async ({ options, output, host }) => {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new CannotRun(`--limit: ${options.limit} is not a number from 1 to ${MAX_LIMIT}`);
  const view = options.state as JobView | undefined;
  const filter = { ...filterOf(options), ...(view && viewFilters[view]) };
  const { jobs, older } = await withJobs(host(), (tools) => tools.list(filter, { limit }));
  const shown = jobs.map(detailOf);
  for (const job of shown) showJob(job, output);
  if (shown.length === 0) output.line('No jobs');
  if (older !== null) output.note(`There are more: the latest ${limit} are listed (--limit)`);
  output.data({ jobs: shown, more: older !== null });
  return exitCodes.fine;
};

/** A job in one line, and the reason of its last failure in others. */
function showJob(job: JobDetail, { line, paint }: Output): void {
  const { id, site, app, kind, name, view, attempts, error } = job;
  const at = view === 'waiting' || view === 'failed' ? job.dueAt : (job.endedAt ?? job.startedAt);
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`;
  line(`${id}  ${paint(styles[view], view.padEnd(7))}  ${at}  ${site}/${app}  ${kind} ${name}  ${tries}`);
  if (error !== null) for (const text of error.split('\n')) line(`  ${text}`);
}

/** Runs `work` with the jobs in the host's database. No job runs in this process. */
export const withJobs = <T>(host: Host, work: (jobs: JobTools) => Promise<T>): Promise<T> =>
  withStrapi(host, (strapi) => work(strapi.plugin('apps').service('jobs') as JobTools));

/** The jobs that the options of a command mean. */
export function filterOf({ kind, site, app, name }: Invocation['options']): JobFilter {
  const given = { kind: kind as JobKind, site: site as string, app: app as string, name: name as string };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Has jobs run again (docs/reference/command-line.md#jobs-retry-id). */
export const retry: RunCommand = async ({ args: { id }, options, output, host }) => {
  const dead = options.dead === true;
  const filter = filterOf(options);
  if (dead === (id !== undefined)) throw new CannotRun('Name the job by its id, or all dead ones with --dead');
  if (id !== undefined && Object.keys(filter).length > 0)
    throw new CannotRun('--kind, --site, --app and --name go with --dead');
  const retried = await withJobs(host(), async (jobs) => {
    const count = await jobs.retry(id === undefined ? { dead: filter } : { id });
    if (id === undefined || count > 0) return count;
    throw new CannotRun(
      (await jobs.find(id)) === null
        ? `There is no job "${id}"`
        : `The job "${id}" runs, or another job with its key waits or runs`,
    );
  });
  output.line(`${retried} ${retried === 1 ? 'job runs' : 'jobs run'} again`);
  output.data({ retried });
  return exitCodes.fine;
};

/** Deletes a job (docs/reference/command-line.md#jobs-delete-id). */
export const remove: RunCommand = async ({ args: { id = '' }, output, host }) => {
  await withJobs(host(), async (jobs) => {
    if (await jobs.delete(id)) return;
    throw new CannotRun((await jobs.find(id)) === null ? `There is no job "${id}"` : `The job "${id}" runs`);
  });
  output.line(`The job "${id}" is deleted`);
  output.data({ deleted: id });
  return exitCodes.fine;
};
