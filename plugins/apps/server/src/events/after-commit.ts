import type { Core } from '@strapi/strapi';
import type { ContentEvent } from './host-events';

/** An event, with the function to run after the commit. */
export interface Due {
  contentEvent: ContentEvent;
  work(): void;
}

/**
 * Queues the functions of a transaction's events until it commits; without a transaction they run at once. Saving and
 * publishing a draft in one transaction is one publication: the Content Manager's button *Publish* saves the form first.
 */
export function createAfterCommit(strapi: Core.Strapi) {
  const lists = new WeakMap<object, Due[]>();

  return async (due: readonly Due[], happened: readonly ContentEvent[]): Promise<void> => {
    if (!strapi.db.inTransaction()) {
      for (const { work } of due) work();
      return;
    }
    await strapi.db.transaction(async ({ trx, onCommit }) => {
      const list = lists.get(trx) ?? [];
      if (!lists.has(trx)) {
        lists.set(trx, list);
        onCommit(() => {
          for (const { work } of list) work();
        });
      }
      const published = happened.filter(({ event }) => event === 'publish');
      const rest = list.filter(({ contentEvent }) => !published.some((one) => isSavedFor(contentEvent, one)));
      list.splice(0, list.length, ...rest, ...due);
    });
  };
}

/** Whether an update only saved the draft that is then published. */
function isSavedFor(before: ContentEvent, published: ContentEvent): boolean {
  const { event, uid, documentId, locale } = before;
  const same = uid === published.uid && documentId === published.documentId && locale === published.locale;
  return same && event === 'update' && !before.published;
}
