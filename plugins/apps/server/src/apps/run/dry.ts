import type { Items } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import type { UnitObserver } from '../../records/types';
import type { DryWrites, RunDetail } from '../../runs';
import type { Run } from './types';

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
