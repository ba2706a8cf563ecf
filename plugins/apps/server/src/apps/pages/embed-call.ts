import type { Json } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import { withSession } from '../blocks/block-session';
import { permittedBlock } from '../run/permitted-block';
import { type Settle, withRun } from '../run/run';
import type { AppServices, Run, Visit } from '../run/types';
import type { App } from '../types';

/** A call of a function that does not exist, or whose block or app does not. */
export class UnknownFunction extends AppsError {
  constructor(message: string) {
    super('NotFoundError', message);
  }
}

/**
 * Runs any function of a block's logic, for calls from code and rules on events (docs/reference/events.md#calls-from-code),
 * and commits its writes. NotFoundError for an unknown block or function; 401 or 403 where the block's
 * `view_permission` does not name the visit's requester.
 * @param settle is written in the transaction of its work, if it writes anything
 */
export async function callFunction(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; name: string },
  settle?: Settle,
): Promise<Json> {
  const work = async (run: Run) => {
    const block = permittedBlock(run, target.block);
    return withSession(run, block, null, async (session) => {
      if (!session.has(target.name)) {
        throw new UnknownFunction(`The block "${block.id}" has no function "${target.name}"`);
      }
      return (await session.run([target.name])).get(target.name) ?? null;
    });
  };
  const done = await withRun(services, visit, app, work, settle ? { settle } : {});
  return done.value;
}

/**
 * Sorted names of the functions that `callFunction` can run in a block. Loads the block's logic and runs none of them.
 * Errors as of `callFunction`, and LogicError when the file does not load.
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
