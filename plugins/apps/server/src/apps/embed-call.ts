import type { Json } from '../../../shared/json';
import { AppsError } from '../errors';
import { type AppServices, type Visit, withRun } from './run';
import { withSession } from './run-block';
import type { App } from './types';

/**
 * Runs any function of a block's logic, for code and for rules on events (contract, section 11), and commits what it has
 * written. `view_permission` does not guard it: whoever calls has chosen the block. NotFoundError for an unknown block or
 * function.
 */
export async function callFunction(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; name: string },
): Promise<Json> {
  const done = await withRun(services, visit, app, async (run) => {
    const block = app.blocks.get(target.block);
    if (!block) throw new AppsError('NotFoundError', `There is no block "${target.block}" in the app "${app.id}"`);
    const error = app.error ?? block.error;
    if (error) throw error;
    return withSession(run, block, null, async (session) => {
      if (!session.has(target.name)) {
        throw new AppsError('NotFoundError', `The block "${block.id}" has no function "${target.name}"`);
      }
      return (await session.run([target.name])).get(target.name) ?? null;
    });
  });
  return done.value;
}
