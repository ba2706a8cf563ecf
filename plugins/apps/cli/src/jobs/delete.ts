import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import { withJobs } from './tools';

/** Deletes a job (docs/reference/command-line.md#jobs-delete-id). */
export const run: Run = async ({ args: { id = '' }, output, host }) => {
  await withJobs(host(), async (jobs) => {
    if (await jobs.delete(id)) return;
    throw new CannotRun((await jobs.find(id)) === null ? `There is no job "${id}"` : `The job "${id}" runs`);
  });
  output.line(`The job "${id}" is deleted`);
  output.data({ deleted: id });
  return exitCodes.fine;
};
