import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import { filterOf, withJobs } from './list';

/** Has jobs run again (docs/reference/command-line.md#jobs-retry-id). */
export const retry: Run = async ({ args: { id }, options, output, host }) => {
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
export const remove: Run = async ({ args: { id = '' }, output, host }) => {
  await withJobs(host(), async (jobs) => {
    if (await jobs.delete(id)) return;
    throw new CannotRun((await jobs.find(id)) === null ? `There is no job "${id}"` : `The job "${id}" runs`);
  });
  output.line(`The job "${id}" is deleted`);
  output.data({ deleted: id });
  return exitCodes.fine;
};
