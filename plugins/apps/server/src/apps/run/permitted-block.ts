import { allows } from '../../auth';
import type { Requester } from '../../auth/types';
import { AppsError, missing, notFound } from '../../common/errors';
import type { Block } from '../types';
import type { Run } from './types';

/** The 401 or 403 for a requester who lacks a right. */
export function refusal(requester: Requester, what: string): AppsError {
  return requester.kind === 'anonymous'
    ? new AppsError('UnauthorizedError', `Please log in to ${what}`)
    : new AppsError('ForbiddenError', `You are not allowed to ${what}`);
}

/**
 * The block, valid and permitted. NotFoundError for an unknown one, its DefinitionError for a broken one, 401 or 403
 * where `view_permission` refuses the requester (docs/reference/rights.md#blocks-view_permission).
 */
export function permittedBlock(run: Pick<Run, 'app' | 'rights' | 'visit'>, blockId: string): Block {
  const block = run.app.blocks.get(blockId);
  if (!block) throw notFound(missing.block(blockId, run.app.id));
  if (run.app.error) throw run.app.error;
  return requireBlock(run, block);
}

/**
 * The block, if its logic may run for the requester; all code that runs a block's logic calls this. Throws the block's
 * DefinitionError if it is broken; 401 for anonymous and 403 for others whom `view_permission` does not name.
 */
export function requireBlock(run: Pick<Run, 'rights' | 'visit'>, block: Block): Block {
  if (block.error) throw block.error;
  const list = block.definition.viewPermission;
  if (list && !run.rights.manager && !allows(run.visit.requester, list)) {
    throw refusal(run.visit.requester, `see "${nameOf(block)}"`);
  }
  return block;
}

/** As visitors know the block: its title where that is the same for all, else its id. */
export function nameOf({ id, definition: { title } }: Block): string {
  return title === null || title.includes('{') ? id : title;
}
