import type { Core } from '@strapi/strapi';
import type { Jobs, NewJob } from '../jobs/types';
import type { ContentEvent } from './host-events';

/** An event, with the job of a rule. */
export interface Due {
  contentEvent: ContentEvent;
  job: NewJob;
}

interface Stored {
  contentEvent: ContentEvent;
  id: string;
}

/**
 * Stores the jobs of a transaction's events. Saving and publishing a draft in one transaction is one publication: the Content
 * Manager's button *Publish* saves the form first.
 */
export function createPublications(strapi: Core.Strapi, jobs: Pick<Jobs, 'insert' | 'withdraw'>) {
  const lists = new WeakMap<object, Stored[]>();

  return {
    /** @param happened all events of the action, which must be in a transaction */
    async store(due: readonly Due[], happened: readonly ContentEvent[]): Promise<void> {
      const trx = (await strapi.db.transaction()).get() as object;
      const earlier = lists.get(trx) ?? [];
      const published = happened.filter(({ event }) => event === 'publish');
      const replaced = earlier.filter(({ contentEvent }) => published.some((one) => isSavedFor(contentEvent, one)));
      await jobs.withdraw(replaced.map(({ id }) => id));
      const ids = due.length > 0 ? await jobs.insert(due.map(({ job }) => job)) : [];
      const added = due.flatMap(({ contentEvent }, at) => ({ contentEvent, id: String(ids[at]) }));
      lists.set(trx, [...earlier.filter((one) => !replaced.includes(one)), ...added]);
    },
  };
}

/** Whether an update only saved the draft that is then published. */
function isSavedFor(before: ContentEvent, published: ContentEvent): boolean {
  const { event, uid, documentId, locale } = before;
  const same = uid === published.uid && documentId === published.documentId && locale === published.locale;
  return same && event === 'update' && !before.published;
}
