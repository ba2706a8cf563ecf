import type { Json } from '../../../shared/json';
import { AppsError } from '../errors';
import { type AppServices, permittedBlock, type Visit, withRun } from './run';
import { withSession } from './run-block';
import type { App } from './types';

/**
 * Runs any function of a block's logic, for code and for rules on events (contract, section 11), and commits what it has
 * written. NotFoundError for an unknown block or function; 401 or 403 where the block's `view_permission` does not name
 * the visit's requester.
 */
export async function callFunction(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; name: string },
): Promise<Json> {
  const done = await withRun(services, visit, app, async (run) => {
    const block = permittedBlock(run, target.block);
    return withSession(run, block, null, async (session) => {
      if (!session.has(target.name)) {
        throw new AppsError('NotFoundError', `The block "${block.id}" has no function "${target.name}"`);
      }
      return (await session.run([target.name])).get(target.name) ?? null;
    });
  });
  return done.value;
}

/**
 * Names of the functions that `callFunction` can run in a block, sorted: the block's logic is loaded, none of them runs.
 * The same errors; LogicError when the file does not load.
 */
export async function functionNames(
  services: AppServices,
  visit: Visit,
  app: App,
  block: string,
): Promise<readonly string[]> {
  const done = await withRun(services, visit, app, (run) =>
    withSession(run, permittedBlock(run, block), null, async ({ functions }) => [...functions].sort()),
  );
  return done.value;
}
