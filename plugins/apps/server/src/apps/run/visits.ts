import type { Items } from '../../../../shared/json';
import { allows } from '../../auth';
import type { Requester } from '../../auth/types';
import { AppsError, missing, notFound } from '../../common/errors';
import type { Provenance } from '../../records';
import type { UnitObserver } from '../../records/types';
import type { DryWrites, RunDetail } from '../../runs';
import type { Block } from '../types';
import type { Run, Visit } from './types';

/** Who changes records in a visit, and through what: the one place that says so for the history. */
export function provenanceOf({ requester, through, forgets }: Visit): Provenance {
  return { requester: () => requester.identity, through, forgets };
}

/** A request whose writes are switched off: what it would have written, and its runs. */
export interface DryRun {
  writes: DryWrites;
  runs: RunDetail[];
  /** Whether logic sees records of its own app, too, with the requester's rights only: it was written by who may not see them. */
  isGuarded: boolean;
}

/** Records, mails, changes of content and jobs that are listed, each. */
const MAX_LISTED = 200;

export const newDryRun = ({ isGuarded = false } = {}): DryRun => ({
  writes: { records: [], mails: [], content: [], jobs: [] },
  runs: [],
  isGuarded,
});

/** Lists the records that a work changes. Ids come with the write, items after it. */
export function observeWrites({ writes: { records } }: DryRun): UnitObserver {
  let written = '';
  return {
    onWrite(_key, id) {
      written = id;
    },
    onItems({ app }, before, after) {
      if (records.length < MAX_LISTED) records.push({ app, id: written, before: copy(before), after: copy(after) });
    },
  };
}

const copy = (items: Items | null): Items | null => items && (JSON.parse(JSON.stringify(items)) as Items);

/** Lists the mails of a run, which are not stored. */
export function listMails({ mails }: Run, { writes }: DryRun): void {
  for (const { key, mail } of mails.slice(0, MAX_LISTED - writes.mails.length))
    writes.mails.push({ app: key.app, to: mail.to, subject: mail.subject, text: mail.text });
}

/** Lists the jobs of a run, which are not stored. */
export function listJobs({ jobs }: Run, { writes }: DryRun): void {
  for (const { key, kind, name, data, jobKey, dueAt } of jobs.slice(0, MAX_LISTED - writes.jobs.length))
    writes.jobs.push({
      ...{ app: key.app, kind, name, data, key: jobKey },
      dueAt: dueAt === null ? null : new Date(dueAt).toISOString(),
    });
}

/** Lists a change of content and refuses it: the host's own code would otherwise act on it before the rollback. */
export function refuseContent({ writes: { content } }: DryRun, type: string, method: string, params: Items): never {
  if (content.length < MAX_LISTED) content.push({ type, method, params: copy(params) ?? {} });
  throw new AppsError('ForbiddenError', `Writes are switched off: ${method} of ${type} was not carried out`);
}

/** The 401 or 403 for a requester who lacks a right. */
export function refusal(requester: Requester, what: string): AppsError {
  return requester.kind === 'anonymous'
    ? new AppsError('UnauthorizedError', `Please log in to ${what}`)
    : new AppsError('ForbiddenError', `You are not allowed to ${what}`);
}

/** Who sees a block, and what they hold. */
interface Seer {
  visit: Pick<Visit, 'requester' | 'own'>;
}

/**
 * The block, valid and permitted. NotFoundError for an unknown one, its DefinitionError for a broken one, 401 or 403
 * where `view_permission` refuses the requester (docs/reference/rights.md#blocks-view_permission).
 */
export function permittedBlock(run: Pick<Run, 'app' | 'rights'> & Seer, blockId: string): Block {
  const block = run.app.blocks.get(blockId);
  if (!block) throw notFound(missing.block(blockId, run.app.id));
  if (run.app.error) throw run.app.error;
  return requireBlock(run, block);
}

/**
 * The block, if its logic may run for the requester; all code that runs a block's logic calls this. Throws the block's
 * DefinitionError if it is broken; 401 for anonymous and 403 for others whom `view_permission` does not name.
 */
export function requireBlock(run: Pick<Run, 'rights'> & Seer, block: Block): Block {
  if (block.error) throw block.error;
  // Who holds the link of a record may use its form.
  if (run.visit.own?.block === block.id) return block;
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
